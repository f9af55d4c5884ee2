package bugs

import (
	"cmp"
	"flag"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/informer-exporter/informer-exporter/alerts"
	"github.com/informer-exporter/informer-exporter/internal/testenv/page"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// TestMain lets all cases wait at the same time, and turns streaming lists off: the clients of these bugs list from the watch cache.
func TestMain(m *testing.M) {
	must := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	must(os.Setenv("KUBE_FEATURE_WatchListClient", "false"))
	must(flag.Set("test.parallel", "256"))
	stacktest.Main(m)
}

// TestControl runs each workload without its fault: the effect is right, and no alert fires.
func TestControl(t *testing.T) {
	wrong, alerts := runCases(t, false, 20*time.Second)
	for id := range wrong {
		if wrong[id] {
			t.Errorf("%s goes wrong without the fault", id)
		}
	}
	if len(alerts) > 0 {
		t.Errorf("alerts without a fault: %v", alerts)
	}
}

// TestOriginal runs each case with a fault as short as those of the reports.
func TestOriginal(t *testing.T) { detect(t, Original, 20*time.Second) }

// TestMinutes runs each case with a fault of five minutes.
func TestMinutes(t *testing.T) {
	if os.Getenv("BUGS") == "" {
		t.Skip("set BUGS=all")
	}
	detect(t, Minutes, 5*time.Minute)
}

// window returns how long alerts are observed from the beginning of a fault. CI waits less.
func window() time.Duration {
	if os.Getenv("BUGS") == "" {
		return 2 * time.Minute
	}
	return 6*time.Minute + 45*time.Second
}

// detect runs all cases with their fault, and records or compares the alerts.
func detect(t *testing.T, timing string, hold time.Duration) {
	t.Helper()
	wrong, alerts := runCases(t, true, hold)
	recorded.Lock()
	defer recorded.Unlock()
	content, err := os.ReadFile(resultsPath)
	must(t, err)
	results, err := parseResults(content)
	must(t, err)
	cases, err := Cases()
	must(t, err)
	for _, c := range cases {
		happened, ran := wrong[c.ID]
		if !ran {
			continue
		}
		if !happened {
			t.Errorf("%s: the wrong effect did not happen", c.ID)
			continue
		}
		found := Detections{}
		for _, way := range Ways {
			all := maps.Clone(alerts[c.ID][way])
			if c.Server {
				if all == nil {
					all = map[string]time.Duration{}
				}
				maps.Copy(all, alerts[""][way])
			}
			if first, ok := earliest(all); ok {
				found[way] = first
			}
			known := results[c.ID].Last[timing][way]
			if known.Alert != "" && time.Duration(known.Seconds)*time.Second < window()-45*time.Second && len(all) == 0 {
				t.Errorf("%s: no alert for %s, and %v before", c.ID, way, known)
			}
		}
		t.Logf("%s: wrong %v, %v", c.ID, happened, found)
		result := results[c.ID]
		result.add(timing, found)
		results[c.ID] = result
	}
	if os.Getenv("UPDATE") != "" {
		content, err := yaml.Marshal(results)
		must(t, err)
		must(t, os.WriteFile(resultsPath, content, 0o644))
	}
}

const resultsPath = "testdata/results.yaml"

// recorded guards the file.
var recorded sync.Mutex

// earliest returns the first alert, and reports whether there is one.
func earliest(all map[string]time.Duration) (first Detection, ok bool) {
	names := slices.SortedFunc(maps.Keys(all), func(a, b string) int { return cmp.Or(cmp.Compare(all[a], all[b]), strings.Compare(a, b)) })
	if len(names) == 0 {
		return first, false
	}
	return Detection{names[0], int(all[names[0]].Seconds())}, true
}

// runCases runs the cases at the same time, and returns which went wrong, and the alerts by namespace.
func runCases(t *testing.T, faulty bool, hold time.Duration) (wrong map[string]bool, alerts map[string]fired) {
	t.Helper()
	if testing.Short() {
		t.Skip("needs real servers; not run with -short")
	}
	t.Parallel()
	cases, err := Cases()
	must(t, err)
	only := os.Getenv("BUGS")
	cases = slices.DeleteFunc(cases, func(c Case) bool {
		return only == "" && !c.Quick || only != "" && only != "all" && !strings.Contains(only, c.ID)
	})
	r := newRig(t, cases, faulty, hold)
	r.arrived.Add(len(cases))
	var judged sync.WaitGroup
	judged.Add(len(cases))
	var mu sync.Mutex
	wrong = map[string]bool{}
	done, observing := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(observing)
		early := r.begin()
		go func() { judged.Wait(); r.etcd.Thaw() }()
		alerts = r.observe(early, done)
	}()
	t.Run("cases", func(t *testing.T) {
		for _, c := range cases {
			t.Run(c.ID, func(t *testing.T) {
				t.Parallel()
				judge := sync.OnceFunc(judged.Done)
				defer judge()
				run := r.newRun(t, c.ID)
				defer run.arrive()
				bad := reproductions[c.ID](run)
				judge()
				mu.Lock()
				wrong[c.ID] = bad
				mu.Unlock()
				time.Sleep(time.Until(r.start.Add(window())))
			})
		}
	})
	close(done)
	<-observing
	return wrong, alerts
}

// TestCases verifies that the cases are complete, and that expectations name alerts or say why there is none.
func TestCases(t *testing.T) {
	cases, err := Cases()
	must(t, err)
	count := map[string]int{}
	for _, c := range cases {
		count[c.Class]++
		if reproductions[c.ID] == nil {
			t.Errorf("%s has no reproduction", c.ID)
		}
		for _, way := range Ways {
			if e := c.Expected[way]; !strings.HasPrefix(e, "none: ") {
				if _, ok := alerts.ByName(e); !ok {
					t.Errorf("%s: %s: there is no alert %q", c.ID, way, e)
				}
			}
		}
	}
	if len(cases) < 20 || len(cases) != len(reproductions) || min(count["stale state"], count["intermediate state"], count["unobserved state"]) < 4 {
		t.Errorf("%d cases, %d reproductions, %v", len(cases), len(reproductions), count)
	}
}

// TestPage verifies that docs/detection.md has the cases and their results.
func TestPage(t *testing.T) {
	content, err := os.ReadFile("../../docs/detection.md")
	must(t, err)
	text, err := Markdown()
	must(t, err)
	want, err := page.Replace(string(content), "detection", text)
	must(t, err)
	if want != string(content) {
		t.Error("docs/detection.md is stale: run make generate")
	}
}
