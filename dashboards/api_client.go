package dashboards

// APIClientUID is the stable id of the dashboard of requests to the API server in Grafana's addresses.
const APIClientUID = "informers-api-client"

// apiClient answers, from top to bottom: do requests succeed, which resource do they fail for, and what makes them wait.
func apiClient(c Config) page {
	t := c.Targets
	return page{
		uid:       APIClientUID,
		title:     "Controllers / API client",
		about:     "What programs ask the API server for, what it refuses, and how long requests take or wait, as the client sees it.",
		variables: clientVariables,
		alerts:    controllerAlerts,
		rows: []row{
			{id: 100, title: "Is it fine?", lines: []line{
				{height: 4, panels: []panel{
					failedRequests(t), longestThrottle(t), turnedAway(), conflictRate(), slowestRequests(), requestRate(),
				}},
				{height: 9, panels: []panel{everyResource(t)}},
			}},
			{id: 200, title: "Requests: who asks for what?", lines: []line{
				{height: 9, panels: []panel{requestsByVerb(), requestsByResource(), requestsByCode()}},
			}},
			{id: 300, title: "Refusals: what does not work?", lines: []line{
				{height: 9, panels: []panel{failedShare(t), failuresByCode()}},
				{height: 9, panels: []panel{conflicts(), statusConflicts(), throttledByServer()}},
			}},
			{id: 400, title: "Time: what takes long, and what waits?", lines: []line{
				{height: 9, panels: []panel{throttleWait(t), durationByVerb(), durationByResource()}},
			}},
		},
	}
}
