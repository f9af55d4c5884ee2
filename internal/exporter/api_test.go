package exporter

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/informer-exporter/informer-exporter/internal/exporter/availability"
	"github.com/informer-exporter/informer-exporter/internal/exporter/buildinfo"
	"github.com/informer-exporter/informer-exporter/internal/exporter/config"
	"github.com/informer-exporter/informer-exporter/internal/exporter/status"
	"github.com/informer-exporter/informer-exporter/internal/exporter/web"
	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// readInformers requests the informers of e from its API and also returns them by namespace and type.
func readInformers(t *testing.T, e *Exporter) (web.InformersResponse, map[string]web.InformerResponse) {
	t.Helper()
	response := get(e, web.InformersPath)
	if got := response.Header().Get("Content-Type"); response.Code != 200 || got != "application/json" {
		t.Fatalf("%d, content type %q", response.Code, got)
	}
	decoder := json.NewDecoder(bytes.NewReader(response.Body.Bytes()))
	decoder.DisallowUnknownFields()
	var answer web.InformersResponse
	if err := decoder.Decode(&answer); err != nil {
		t.Fatalf("%v\n%s", err, response.Body)
	}
	byName := map[string]web.InformerResponse{}
	for _, informer := range answer.Informers {
		byName[informer.Namespace+"/"+informer.InformerType] = informer
	}
	return answer, byName
}

func TestInformersAPI(t *testing.T) {
	e := newFake(t, Options{})
	answer, byName := readInformers(t, e)
	if answer.Ready || answer.Name != buildinfo.Name || answer.Version != buildinfo.Version() || len(answer.Informers) != 3 {
		t.Errorf("before the start: %+v", answer)
	}
	if pods := byName["*/pods"]; pods.State != status.StateSyncing || pods.Synced || pods.WatchOpened != nil || pods.LastEvent != nil || pods.LastAudit != nil {
		t.Errorf("before the start: %+v", pods)
	}
	run(t, e)
	settle(t, e)
	answer, byName = readInformers(t, e)
	if !answer.Ready || time.Since(answer.Time) > time.Minute || answer.UptimeSeconds <= 0 {
		t.Errorf("%+v", answer)
	}
	if pods := byName["*/pods"]; pods.State != status.StateSynced || !pods.Synced || pods.Objects != 2 || pods.Version != "v1" || !pods.Namespaced || pods.Relists != 0 {
		t.Errorf("%+v", pods)
	}
	if secrets := byName["*/secrets"]; secrets.State != availability.Forbidden || secrets.Synced {
		t.Errorf("%+v", secrets)
	}
	if nodes := byName["*/nodes"]; nodes.Namespaced || nodes.State != status.StateSynced {
		t.Errorf("%+v", nodes)
	}
	if strings.Contains(get(e, web.InformersPath).Body.String(), "unmistakable") {
		t.Error("the response contains the name of an object")
	}
}

// The landing page and the API show the objects of a real API server.
func TestInformersAPIOnARealServer(t *testing.T) {
	t.Parallel()
	admin, namespace := stacktest.Config(t), stacktest.Namespace(t)
	account := newLimited(t, namespace)
	account.Grant(t, namespace, mayWatch("configmaps"))
	for n := range 3 {
		createConfigMap(t, admin, namespace, fmt.Sprint("object-", n))
	}
	second := every(time.Second)
	e := newReal(t, Options{REST: account.Config, Config: config.Config{
		Resources: []config.Resource{{Name: "configmaps"}, {Name: "secrets"}}, Namespaces: []string{namespace}, Checks: config.Checks{Audit: second},
	}})
	start(t, e)
	var maps, secrets web.InformerResponse
	await.True(t, "an audit", func() bool {
		_, byName := readInformers(t, e)
		maps, secrets = byName[namespace+"/configmaps"], byName[namespace+"/secrets"]
		return maps.LastAudit != nil && maps.LastAudit.Result == "consistent" && secrets.State == availability.Forbidden
	}, func() string { return get(e, web.InformersPath).Body.String() })
	if maps.Objects != 3 || !maps.WatchConnected || maps.State != status.StateSynced || maps.SyncLagSeconds > 5 || maps.LastSyncSeconds <= 0 {
		t.Errorf("%+v", maps)
	}
	for what, at := range map[string]*time.Time{"watchOpened": maps.WatchOpened, "lastEvent": maps.LastEvent, "lastAudit.time": maps.LastAudit.Time} {
		if at == nil || time.Since(*at) < 0 || time.Since(*at) > 10*time.Minute {
			t.Errorf("%s is %v", what, at)
		}
	}
	if secrets.WatchConnected || secrets.WatchOpened != nil || secrets.LastAudit != nil || secrets.Synced {
		t.Errorf("%+v", secrets)
	}
	body := get(e, "/").Body.String()
	for _, part := range []string{`<td class="n">3</td>`, ">consistent</span>", `title="since 20`} {
		if !strings.Contains(body, part) {
			t.Errorf("the page does not have %q:\n%s", part, body)
		}
	}
	createConfigMap(t, admin, namespace, "another")
	await.True(t, "a fourth object", func() bool {
		_, byName := readInformers(t, e)
		return byName[namespace+"/configmaps"].Objects == 4
	}, func() string { return get(e, web.InformersPath).Body.String() })
}
