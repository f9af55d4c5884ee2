package dashboards

// ObjectsUID is the stable id of the dashboard of the cluster's objects in Grafana's addresses.
const ObjectsUID = "informers-objects"

// clusterAlerts are the alerts about objects and Leases of the cluster.
const clusterAlerts = "Cluster.+"

// clusterObjects answers, from top to bottom: is anything stuck, what holds it in deletion, and whose change does nobody deal
// with.
func clusterObjects(c Config) page {
	t := c.Targets
	return page{
		uid:       ObjectsUID,
		title:     "Cluster / Objects",
		about:     "Objects that are held in deletion, Namespaces that stay Terminating, and objects whose controller lags behind their spec, as informer-exporter sees them.",
		variables: objectVariables,
		alerts:    clusterAlerts,
		rows: []row{
			{id: 100, title: "Is it fine?", lines: []line{
				{height: 4, panels: []panel{
					terminatingNow(), oldestTerminating(t), namespacesTerminating(), oldestNamespace(t), behindNow(), oldestBehind(t),
				}},
				{height: 8, panels: []panel{everyDeletion(t)}},
				{height: 8, panels: []panel{everyLag(t)}},
			}},
			{id: 200, title: "Deletion: what is held, and by whom?", lines: []line{
				{height: 9, panels: []panel{terminatingByFinalizer(), terminatingOldest(t), terminatingNamespaces(t)}},
			}},
			{id: 300, title: "Generations: whose changes does nobody deal with?", lines: []line{
				{height: 9, panels: []panel{behindByResource(), behindOldest(t)}},
			}},
		},
	}
}
