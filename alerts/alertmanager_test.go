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
		t.Errorf("rules that only mute other alerts send notifications: %+v", f.Receivers[last])
	}
	for _, r := range f.Receivers[:len(f.Receivers)-1] {
		if len(r.Webhooks) != 1 || r.Webhooks[0].URL != "" || r.Webhooks[0].URLFile != alerts.SecretsDir+"/"+r.Name+"-url" || !r.Webhooks[0].SendResolved {
			t.Errorf("receiver %s: %+v", r.Name, r.Webhooks)
		}
	}
	for source, target := range map[string]string{`mutes="ticket"`: `severity!="page"`, `mutes="page"`: `severity="page"`} {
		found := false
		for _, r := range f.InhibitRules {
			found = found || slices.Contains(r.Source, source) && slices.Contains(r.Target, target)
		}
		if !found {
			t.Errorf("an outage with %s does not mute alerts with %s", source, target)
		}
	}
	if want := []string{"alertname", "cluster", "name"}; !slices.Equal(f.Route.GroupBy, want) {
		t.Errorf("grouped by %v, want %v", f.Route.GroupBy, want)
	}
	if f.Route.GroupWait != "30s" || f.Route.GroupInterval != "5m" || f.Route.RepeatInterval != "4h" || f.Route.Routes[1].GroupInterval != "1m" || f.Route.Routes[2].RepeatInterval != "1d" {
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
			t.Errorf("%s has no receiver", r.Alert)
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
	if r := f.Route; !slices.Equal(r.GroupBy, []string{"cluster"}) || r.GroupWait != "1s" || r.GroupInterval != "2s" || r.RepeatInterval != "3s" || r.Routes[1].GroupInterval != "" || r.Routes[2].RepeatInterval != "3s" {
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

// The watchdog always fires, has its own receiver only, and is off by default.
func TestWatchdog(t *testing.T) {
	c := alerts.Config{Watchdog: true, ExtraLabels: map[string]string{"team": "storage"}, Alertmanager: alerts.Alertmanager{
		WebhookURLs: map[string]string{"watchdog": "http://127.0.0.1:1/alive"}, Teams: map[string]map[string]string{"storage": {"info": "http://127.0.0.1:1/i"}},
	}}
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	all := rules(c)
	r := all[len(all)-1]
	if r.Alert != "Watchdog" || r.Expr != "vector(1)" || r.For != "" || r.Labels["severity"] != "none" || r.Labels["team"] != "storage" || r.Annotations["summary"] == "" {
		t.Errorf("the last rule is %+v", r)
	}
	f := alertmanager(t, c)
	first := f.Route.Routes[1] // the one before it mutes other alerts
	if first.Receiver != "watchdog" || !slices.Equal(first.Matchers, []string{`alertname="Watchdog"`}) || first.RepeatInterval != "50s" || first.GroupInterval != "1m" {
		t.Errorf("route: %+v", first)
	}
	i := slices.IndexFunc(f.Receivers, func(r amReceiver) bool { return r.Name == "watchdog" })
	if i < 0 || f.Receivers[i].Webhooks[0].URL != "http://127.0.0.1:1/alive" || f.Receivers[i].Webhooks[0].SendResolved {
		t.Errorf("receivers: %+v", f.Receivers)
	}

	c.Watchdog = false
	if err := c.Validate(); err == nil || !strings.Contains(err.Error(), `alertmanager.webhookURLs: "watchdog" is not`) {
		t.Errorf("a URL for a watchdog that is disabled: %v", err)
	}
	raw, err := alerts.AlertmanagerFile(alerts.Config{})
	if err != nil || strings.Contains(string(raw), "atchdog") {
		t.Errorf("the watchdog is on by default: %v", err)
	}
	if slices.ContainsFunc(rules(alerts.Config{}), func(r alerts.Rule) bool { return r.Alert == "Watchdog" }) {
		t.Error("the watchdog is on by default")
	}
}

// Inhibitions name existing alerts, and a cause mutes all of its effects, direct or not.
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
					t.Errorf("%s does not mute %s", chain[i], later)
				}
			}
		}
	}
}

// If configured, KubeAPIDown of kubernetes-mixin mutes KubernetesAPIUnreachable and the alerts that it mutes.
func TestKubeAPIDownIsASetting(t *testing.T) {
	targets := func(c alerts.Config, source string) (found []string) {
		for _, rule := range alertmanager(t, c).InhibitRules {
			if rule.Source[0] == `alertname="`+source+`"` {
				if !slices.Equal(rule.Equal, []string{"cluster"}) {
					t.Errorf("%v -> %v compares %v", rule.Source, rule.Target, rule.Equal)
				}
				found = append(found, strings.Split(strings.TrimSuffix(strings.TrimPrefix(rule.Target[0], `alertname=~"`), `"`), "|")...)
			}
		}
		slices.Sort(found)
		return slices.Compact(found)
	}
	if found := targets(alerts.Config{}, "KubeAPIDown"); found != nil {
		t.Errorf("by default, KubeAPIDown mutes %v", found)
	}
	c := alerts.Config{Alertmanager: alerts.Alertmanager{KubeAPIDown: true}}
	want := append(targets(c, "KubernetesAPIUnreachable"), "KubernetesAPIUnreachable")
	slices.Sort(want)
	if found := targets(c, "KubeAPIDown"); !slices.Equal(found, want) || len(found) < 20 {
		t.Errorf("KubeAPIDown mutes %v, want %v", found, want)
	}
}
