package chaos

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/port"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
)

// pause is the polling interval.
const pause = 300 * time.Millisecond

// patience is the timeout of steps that take seconds on an idle machine, and at most client-go's longest backoff. In the
// long form it also covers files that are read every five minutes.
func patience() time.Duration {
	if outage > 0 {
		return 10 * time.Minute
	}
	return 3 * time.Minute
}

// program is the exporter, one process from the start of a test to its end.
type program struct {
	t      *testing.T
	server *stack.Server
	pid    int
	url    string
	config *configMap   // its configuration file
	admin  *rest.Config // the source of truth

	marked look
	log    logMark
	alive  func() error
}

// start starts the exporter and waits until it is healthy.
func start(t *testing.T, kubeconfig string, admin *rest.Config, config string) *program {
	t.Helper()
	file, dir := programFile(t), t.TempDir() // compiled before a port is taken
	address := port.Address(port.Free())
	p := &program{t: t, admin: admin, url: "http://" + address, config: &configMap{dir: t.TempDir()}}
	p.write(config)
	var err error
	p.server, err = stack.StartCommand(t.Context(), stack.Command{
		Name: "exporter", Program: file, Dir: dir, Ready: stack.Answers(p.url + "/readyz"), StopTimeout: patience(),
		Args: []string{"--log.format=json", "--kubeconfig=" + kubeconfig, "--config.file=" + p.config.path(), "--web.listen-address=" + address},
	})
	if err != nil {
		t.Fatal(err)
	}
	p.pid = p.server.PID()
	p.alive = p.watchLiveness()
	t.Cleanup(p.end)
	p.mark()
	p.well()
	return p
}

// end verifies the last claim of the table: it is the same process, it was always alive, it has not panicked, and it
// shuts down cleanly.
func (p *program) end() {
	if pid := p.server.PID(); pid != p.pid {
		p.t.Errorf("the process was %d, now %d", p.pid, pid)
	}
	if err := p.alive(); err != nil {
		p.t.Errorf("/livez: %v", err)
	}
	_ = p.server.Stop(context.Background())
	lines := p.lines(logMark{})
	for _, l := range lines {
		if l.message == "" {
			p.t.Errorf("unexpected output in the log: %s", l.text)
		}
	}
	// This line waits for other resources, and may come after the shutdown.
	lines = slices.DeleteFunc(lines, func(l logLine) bool { return l.message == "API server is reachable again" })
	if len(lines) == 0 {
		p.t.Error("the log is empty")
	} else if last := lines[len(lines)-1]; last.message != "shutdown finished" {
		p.t.Errorf("the last line of the log is %s", last.text)
	}
	if p.t.Failed() {
		p.t.Log(p.server.LogTail())
	}
}

// watchLiveness polls the liveness probe. The returned function stops that, and returns the first failure.
func (p *program) watchLiveness() (end func() error) {
	ctx, cancel := context.WithCancel(context.Background())
	var asking sync.WaitGroup
	var failed error
	asking.Go(func() {
		tick := time.NewTicker(pause)
		defer tick.Stop()
		for asked := 1; failed == nil; asked++ {
			code, _, err := p.get(ctx, "/livez")
			switch {
			case ctx.Err() != nil:
				return
			case err != nil:
				failed = err
			case code != http.StatusOK:
				failed = fmt.Errorf("response %d has status %d", asked, code)
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
			}
		}
	})
	return func() error {
		cancel()
		asking.Wait()
		return failed
	}
}

var browser = &http.Client{Timeout: 30 * time.Second}

func (p *program) get(ctx context.Context, path string) (int, []byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url+path, http.NoBody)
	if err != nil {
		return 0, nil, err
	}
	response, err := browser.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return response.StatusCode, body, err
}

// look reads the current state.
func (p *program) look() look {
	p.t.Helper()
	ask := func(path string) (int, string) {
		code, body, err := p.get(p.t.Context(), path)
		if err != nil {
			p.t.Fatalf("%s: %v\n%s", path, err, p.server.LogTail())
		}
		return code, string(body)
	}
	now := look{}
	code, metrics := ask("/metrics")
	if code != http.StatusOK {
		p.t.Fatalf("/metrics returns %d:\n%s", code, metrics)
	}
	samples, err := metricstest.Parse(strings.NewReader(metrics))
	if err != nil {
		p.t.Fatal(err)
	}
	now.take(samples)
	code, _ = ask("/readyz")
	now.put(sample{name: "readyz", value: float64(code)})
	var status struct {
		Informers []struct{ InformerType, Namespace, Version, State string }
	}
	if _, body := ask("/api/v1/informers"); json.Unmarshal([]byte(body), &status) != nil {
		p.t.Fatalf("/api/v1/informers: %s", body)
	}
	for _, i := range status.Informers {
		now.put(sample{name: "state", labels: map[string]string{
			"informer_type": i.InformerType, "namespace": i.Namespace, "version": i.Version, "state": i.State,
		}, value: 1})
	}
	return now
}

// mark records the current series and the position in the log. Claims that something grows or stays refer to it.
func (p *program) mark() look {
	p.t.Helper()
	p.marked, p.log = p.look(), p.logEnd()
	return p.marked
}

// shows waits until all claims hold in two consecutive polls, because a poll is not atomic.
func (p *program) shows(claims ...string) {
	p.t.Helper()
	record.showed(p.t, claims)
	p.until(strings.Join(claims, ", "), func(now look) error { return p.hold(now, claims) })
}

// keeps polls until each synced informer has tried two more audits, and fails as soon as a claim does not hold.
func (p *program) keeps(claims ...string) {
	p.t.Helper()
	record.keptUp(p.t, claims)
	before := p.mark()
	p.until("more audits", func(now look) error {
		if err := p.hold(now, claims); err != nil {
			p.t.Fatalf("no longer holds: %v\n%s", err, p.server.LogTail())
		}
		return auditedTwice(now, before)
	})
}

func auditedTwice(now, before look) error {
	const audits = "k8s_informer_audits_total"
	made := map[string]float64{}
	for key, s := range now {
		if s.name == audits {
			made[s.labels["informer_type"]] += s.value - before[key].value
		}
	}
	for informer, n := range made {
		if n < 2 && before.value("k8s_informer_synced", "informer_type", informer) > 0 {
			return fmt.Errorf("%v audits of %s", n, informer)
		}
	}
	return nil
}

func (p *program) hold(now look, claims []string) error {
	p.t.Helper()
	var errs []error
	for _, c := range parsed(p.t, claims) {
		errs = append(errs, c.holds(now, p.marked))
	}
	return errors.Join(errs...)
}

// until polls until condition holds in two consecutive polls.
func (p *program) until(what string, condition func(look) error) {
	p.t.Helper()
	begin := time.Now()
	var err error
	for held := 0; held < 2; {
		if err = condition(p.look()); err == nil {
			held++
			continue
		}
		held = 0
		if time.Since(begin) > patience() {
			p.t.Fatalf("%s: not within %v:\n%v\n%s", what, patience(), err, p.server.LogTail())
		}
		time.Sleep(pause)
	}
	p.t.Logf("%6.1f s until %s", time.Since(begin).Seconds(), what)
}

// well waits until the exporter is healthy and has as many objects as the API server.
func (p *program) well() {
	p.t.Helper()
	p.until("healthy", func(now look) error { return errors.Join(p.hold(now, Healthy), p.equal(now)) })
}

// equal compares the number of objects of each informer with the API server's.
func (p *program) equal(now look) error {
	client, err := metadata.NewForConfig(p.admin)
	if err != nil {
		return err
	}
	for _, s := range now {
		if s.name != "state" {
			continue
		}
		gr := schema.ParseGroupResource(s.labels["informer_type"])
		namespace := s.labels["namespace"]
		held := now.value("k8s_informer_objects", "informer_type", s.labels["informer_type"], "watch_namespace", namespace)
		if namespace == "*" {
			namespace = metav1.NamespaceAll
		}
		list, err := client.Resource(gr.WithVersion(s.labels["version"])).Namespace(namespace).List(p.t.Context(), metav1.ListOptions{})
		if err != nil {
			return err
		}
		if len(list.Items) != int(held) {
			return fmt.Errorf("the API server has %d %s, the exporter %v", len(list.Items), gr, held)
		}
	}
	return nil
}

// write replaces the configuration.
func (p *program) write(config string) {
	p.t.Helper()
	if err := p.config.write(config); err != nil {
		p.t.Fatal(err)
	}
}

// hangUp makes the exporter reload its configuration and repeat its discovery.
func (p *program) hangUp() {
	p.t.Helper()
	process, err := os.FindProcess(p.pid)
	if err == nil {
		err = process.Signal(syscall.SIGHUP)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}
