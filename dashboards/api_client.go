package dashboards

// APIClientUID is the uid of the dashboard in Grafana. It never changes.
const APIClientUID = "informers-api-client"

// apiClient covers requests as the client sees them.
func apiClient(c Config) page {
	t := c.Targets
	return page{
		uid:         APIClientUID,
		title:       "Controllers / API client",
		description: "Rate, errors, duration, conflicts and throttling of API server requests, measured in the client.",
		variables:   clientVariables,
		alerts:      controllerAlerts,
		rows: []row{
			{id: 100, title: "Summary", lines: []line{
				{height: 4, panels: []panel{
					worstErrorRate(t), worstThrottling(t), rejectedNow(), conflictRate(), slowestRequests(), requestRate(),
				}},
				{height: 9, panels: []panel{resourceTable(t)}},
			}},
			{id: 200, title: "Requests", lines: []line{
				{height: 9, panels: []panel{requestsByVerb(), requestsByResource(), requestsByCode()}},
			}},
			{id: 300, title: "Errors", lines: []line{
				{height: 9, panels: []panel{requestErrorRate(t), failuresByCode()}},
				{height: 9, panels: []panel{conflicts(), statusConflicts(), rejectedRequests()}},
			}},
			{id: 400, title: "Duration and throttling", lines: []line{
				{height: 9, panels: []panel{clientThrottling(t), durationByVerb(), durationByResource()}},
			}},
		},
	}
}
