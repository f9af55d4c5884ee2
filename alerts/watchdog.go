package alerts

import (
	"time"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/prom"
)

const (
	// watchdogName is the name that kube-prometheus gives to the same alert.
	watchdogName = "Watchdog"
	// watchdogReceiver is the receiver of the watchdog. Its URL is configured like the URLs of severities.
	watchdogReceiver = "watchdog"
	// watchdogInterval is the time between two notifications.
	watchdogInterval = time.Minute
)

// watchdog returns a group with an alert that always fires. A receiver outside of the cluster reports when it stops.
func (c Config) watchdog() Group {
	return Group{Name: "informer-exporter.watchdog", Rules: c.label([]Rule{{
		Alert:  watchdogName,
		Expr:   "vector(1)",
		Labels: map[string]string{c.series().SeverityLabel(): prom.NoSeverity},
		Annotations: map[string]string{
			SummaryAnnotation:     "Alerting works.",
			DescriptionAnnotation: "This alert always fires. If its notifications stop, Prometheus or Alertmanager is down, or notifications are lost.",
		},
	}})}
}

// watchdogRoute sends the watchdog once per interval and nowhere else.
func watchdogRoute() route {
	return route{
		Receiver: watchdogReceiver, Matchers: []string{`alertname="` + watchdogName + `"`},
		GroupWait: "0s", GroupInterval: catalog.FormatDuration(watchdogInterval),
		// Below the group interval, or every other notification would be skipped.
		RepeatInterval: catalog.FormatDuration(watchdogInterval - 10*time.Second),
	}
}
