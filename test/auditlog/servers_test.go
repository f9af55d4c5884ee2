package auditlog

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"

	"github.com/informer-exporter/informer-exporter/internal/auditlog/report"
	"github.com/informer-exporter/informer-exporter/internal/reason"
	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// balancer moves a client between API servers, like a load balancer.
type balancer struct {
	sync.Mutex
	address string
	conns   []net.Conn
}

func (b *balancer) dial(ctx context.Context, network, _ string) (net.Conn, error) {
	b.Lock()
	defer b.Unlock()
	conn, err := (&net.Dialer{}).DialContext(ctx, network, b.address)
	if err == nil {
		b.conns = append(b.conns, conn)
	}
	return conn, err
}

// move closes all connections; the next ones are to another API server.
func (b *balancer) move(address string) {
	b.Lock()
	defer b.Unlock()
	b.address = address
	for _, conn := range b.conns {
		_ = conn.Close() // the client may have closed it
	}
	b.conns = nil
}

// A watch that moves between API servers, each of which has a log of its own, is one watch with gaps.
func TestTwoAPIServers(t *testing.T) {
	t.Parallel()
	policy, err := filepath.Abs("../../deploy/audit/policy.yaml")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	logs := []string{filepath.Join(dir, "a.log"), filepath.Join(dir, "b.log")}
	plane := stacktest.Private(t, stack.Options{APIServerArgs: []string{"--audit-policy-file=" + policy, "--audit-log-path=" + logs[0]}})
	second, err := plane.AddAPIServer(t.Context(), plane.Etcd.URL, nil, "--audit-policy-file="+policy, "--audit-log-path="+logs[1])
	if err != nil {
		t.Fatal(err)
	}
	admin := kubernetes.NewForConfigOrDie(plane.Config())
	if _, err := admin.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	config := program(t, plane, "moving")
	b := &balancer{address: plane.APIServer.Address}
	config.Dial = b.dial
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	factory := informers.NewSharedInformerFactoryWithOptions(kubernetes.NewForConfigOrDie(config), 0, informers.WithNamespace(namespace))
	informer := factory.Core().V1().ConfigMaps().Informer()
	factory.Start(ctx.Done())
	await.True(t, "synced", informer.HasSynced)
	addresses := []string{second.Address, plane.APIServer.Address, second.Address}
	for n, address := range addresses {
		object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("c-", n)}}
		if _, err := admin.CoreV1().ConfigMaps(namespace).Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		await.True(t, "the watch delivers", func() bool { return len(informer.GetStore().List()) == n+1 })
		opened := time.Now()
		await.True(t, "the watch is longer than very short", func() bool { return time.Since(opened) > 1100*time.Millisecond })
		b.move(address)
	}
	await.NoError(t, "the watch is followed through both logs", func() error {
		files, err := report.Open(logs, nil)
		if err != nil {
			return err
		}
		r, err := report.Of(t.Context(), files, report.Options{Client: "moving"})
		if err != nil {
			return err
		}
		if len(r.Clients) != 1 || len(r.Clients[0].Informers) != 1 {
			return fmt.Errorf("want one informer: %+v", r)
		}
		i, n := r.Clients[0].Informers[0], len(addresses)
		if i.Open != 1 || int(i.Opened) != n+1 || int(i.Gaps) != n || int(i.Ends[reason.ServerClose]) != n || i.Relists[reason.Initial] != 1 || len(i.Relists) != 1 || r.Lost() > 0 {
			return fmt.Errorf("%+v", i)
		}
		return nil
	})
}
