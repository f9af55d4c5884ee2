package alerts_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/informer-exporter/informer-exporter/alerts"
)

type amRoute struct {
	Receiver       string    `json:"receiver"`
	Matchers       []string  `json:"matchers"`
	GroupBy        []string  `json:"group_by"`
	GroupWait      string    `json:"group_wait"`
	GroupInterval  string    `json:"group_interval"`
	RepeatInterval string    `json:"repeat_interval"`
	Routes         []amRoute `json:"routes"`
}

type amFile struct {
	Global       map[string]string `json:"global"`
	Route        amRoute           `json:"route"`
	InhibitRules []struct {
		Source []string `json:"source_matchers"`
		Target []string `json:"target_matchers"`
		Equal  []string `json:"equal"`
	} `json:"inhibit_rules"`
	Receivers []amReceiver `json:"receivers"`
}

type amReceiver struct {
	Name     string `json:"name"`
	Webhooks []struct {
		URL          string `json:"url"`
		URLFile      string `json:"url_file"`
		SendResolved bool   `json:"send_resolved"`
	} `json:"webhook_configs"`
}

func alertmanager(t *testing.T, c alerts.Config) amFile {
	t.Helper()
	raw, err := alerts.AlertmanagerFile(c)
	if err != nil {
		t.Fatal(err)
	}
	var f amFile
	if err := yaml.UnmarshalStrict(raw, &f); err != nil {
		t.Fatal(err)
	}
	return f
}

func TestAlertmanagerDefaults(t *testing.T) {
	f := alertmanager(t, alerts.Config{})
	if last := len(f.Receivers) - 1; f.Receivers[last].Name != "null" || f.Receivers[last].Webhooks != nil || f.Route.Routes[0].Receiver != "null" {
		t.Errorf("what mutes other alerts is sent: %+v", f.Receivers[last])
	}
	for _, r := range f.Receivers[:len(f.Receivers)-1] {
		if len(r.Webhooks) != 1 || r.Webhooks[0].URL != "" || r.Webhooks[0].URLFile != alerts.SecretsDir+"/"+r.Name+"-url" || !r.Webhooks[0].SendResolved {
			t.Errorf("receiver %s: %+v", r.Name, r.Webhooks)
		}
	}
	if f.Route.GroupWait != "30s" || f.Route.GroupInterval != "5m" || f.Route.RepeatInterval != "4h" || f.Route.Routes[2].RepeatInterval != "1d" {
		t.Errorf("route: %+v", f.Route)
	}
	// Every severity of every rule has a receiver of its own.
	for _, r := range rules(alerts.Config{}) {
		if r.Alert == "" {
			continue
		}
		i := slices.IndexFunc(f.Route.Routes, func(sub amRoute) bool {
			return slices.Equal(sub.Matchers, []string{`severity="` + r.Labels["severity"] + `"`})
		})
		if i < 0 || f.Route.Routes[i].Receiver != r.Labels["severity"] {
			t.Errorf("%s goes nowhere", r.Alert)
		}
	}
}

func TestAlertmanagerSettings(t *testing.T) {
	f := alertmanager(t, alerts.Config{Alertmanager: alerts.Alertmanager{
		WebhookURLs: map[string]string{"page": "http://127.0.0.1:1/page"},
		GroupBy:     []string{"cluster"},
		GroupWait:   time.Second, GroupInterval: 2 * time.Second, RepeatInterval: 3 * time.Second,
	}})
	page := f.Receivers[0].Webhooks[0]
	if page.URL != "http://127.0.0.1:1/page" || page.URLFile != "" || f.Receivers[1].Webhooks[0].URLFile == "" {
		t.Errorf("receivers: %+v", f.Receivers)
	}
	if r := f.Route; !slices.Equal(r.GroupBy, []string{"cluster"}) || r.GroupWait != "1s" || r.GroupInterval != "2s" || r.RepeatInterval != "3s" || r.Routes[2].RepeatInterval != "3s" {
		t.Errorf("route: %+v", r)
	}
}

// Alerts with a receiver of their team go there first.
func TestAlertmanagerTeams(t *testing.T) {
	f := alertmanager(t, alerts.Config{Alertmanager: alerts.Alertmanager{Teams: map[string]map[string]string{
		"storage": {"ticket": "http://127.0.0.1:1/tickets", "page": "http://127.0.0.1:1/pages"},
	}}})
	for i, severity := range []string{"page", "ticket"} {
		r := f.Route.Routes[1+i]
		if r.Receiver != "storage-"+severity || !slices.Equal(r.Matchers, []string{`team="storage"`, `severity="` + severity + `"`}) {
			t.Errorf("route %d: %+v", i, r)
		}
		j := slices.IndexFunc(f.Receivers, func(r amReceiver) bool { return r.Name == "storage-"+severity })
		if j < 0 || f.Receivers[j].Webhooks[0].URL != "http://127.0.0.1:1/"+severity+"s" {
			t.Errorf("receivers: %+v", f.Receivers)
		}
	}
	if len(f.Route.Routes) != 6 || f.Route.Routes[2].RepeatInterval != "1d" || f.Route.Routes[3].Receiver != "page" {
		t.Errorf("routes: %+v", f.Route.Routes)
	}
}

// Inhibitions name alerts that exist, and hide what follows from a cause all the way down.
func TestInhibitionsFit(t *testing.T) {
	name := regexp.MustCompile(`^alertname=~?"(.+)"$`)
	matched := func(matchers []string) (found []string) {
		pattern := regexp.MustCompile("^(?:" + name.FindStringSubmatch(matchers[0])[1] + ")$")
		for _, a := range alerts.All() {
			if pattern.MatchString(a.Name) {
				found = append(found, a.Name)
			}
		}
		return found
	}
	follows := map[string][]string{}
	for _, rule := range alertmanager(t, alerts.Config{}).InhibitRules {
		if slices.Equal(rule.Source, []string{`alertname="KubeAPIDown"`}) { // of kubernetes-mixin
			continue
		}
		sources, targets := matched(rule.Source), matched(rule.Target)
		if len(sources) < 1+strings.Count(rule.Source[0], "|") || len(targets) < 1+strings.Count(rule.Target[0], "|") {
			t.Errorf("%v -> %v names alerts that do not exist", rule.Source, rule.Target)
		}
		for _, s := range sources {
			follows[s] = append(follows[s], targets...)
		}
	}
	for _, chain := range [][]string{
		{"InformerExporterAbsent", "InformerNotSynced", "InformerWatchDown", "InformerSyncLagHigh"},
		{"ControllerQueueBlocked", "ControllerQueueDeep"}, {"ControllerQueueBlocked", "ControllerWorkerBusy"},
		{"ControllerQueueSlow", "ControllerQueueDeep"},
		{"ControllerLeaderMissing", "ControllerLeaderChanges", "ControllerLeaderSlowRenewals"},
		{"KubernetesAPIUnreachable", "ControllerLeaderMissing", "ClusterLeaseExpired"},
	} {
		for i := range chain[:len(chain)-1] {
			for _, later := range chain[i+1:] {
				if !slices.Contains(follows[chain[i]], later) {
					t.Errorf("%s does not hide %s", chain[i], later)
				}
			}
		}
	}
}
