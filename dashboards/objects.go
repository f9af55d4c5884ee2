package dashboards

// ObjectsUID is the uid of the dashboard in Grafana. It never changes.
const ObjectsUID = "informers-objects"

// clusterAlerts matches the alerts about objects and Leases of the cluster.
const clusterAlerts = "Cluster.+"

// clusterObjects covers the objects that the exporter watches.
func clusterObjects(c Config) page {
	t := c.Targets
	return page{
		uid:         ObjectsUID,
		title:       "Cluster / Objects",
		description: "Terminating objects and namespaces, and observed generation lag, from informer-exporter.",
		variables:   objectVariables,
		alerts:      clusterAlerts,
		rows: []row{
			{id: 100, title: "Summary", lines: []line{
				{height: 4, panels: []panel{
					terminatingNow(), oldestTerminating(t), terminatingNamespacesNow(), oldestNamespace(t), laggingNow(), oldestLag(t),
				}},
				{height: 8, panels: []panel{terminatingTable(t)}},
				{height: 8, panels: []panel{generationTable(t)}},
			}},
			{id: 200, title: "Terminating objects", lines: []line{
				{height: 9, panels: []panel{terminatingByFinalizer(), terminatingOldest(t), terminatingNamespaces(t)}},
			}},
			{id: 300, title: "Observed generation lag", lines: []line{
				{height: 9, panels: []panel{generationLag(), oldestGenerationLag(t)}},
			}},
		},
	}
}
