package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/chain"
)

// rarely causes events that are rare in a healthy cluster, so that Prometheus has the series that appear with the first one: a
// streaming list, a request that the API server rejects, and a watcher that it terminates.
func rarely(t *testing.T, c *chain.Chain) {
	t.Helper()
	client, err := kubernetes.NewForConfig(c.ControlPlane.Config())
	if err != nil {
		t.Fatal(err)
	}
	if err := streamList(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	rejectRequest(t, c, client)
	terminateWatcher(t, c, client)
}

// awaitSeries repeats do until a metric has a series.
func awaitSeries(t *testing.T, c *chain.Chain, selector string, do func(context.Context) error) {
	t.Helper()
	await.Within(t, patience, selector, func(ctx context.Context) error {
		samples, err := c.Prometheus.Query(ctx, selector)
		if err != nil || len(samples) > 0 {
			return err
		}
		return errors.Join(fmt.Errorf("no series yet"), do(ctx))
	})
}

// rejectRequest sends requests to a priority level without seats. The API server still executes one at a time.
func rejectRequest(t *testing.T, c *chain.Chain, client kubernetes.Interface) {
	t.Helper()
	const name, user = "no-seats", "impatient"
	meta := metav1.ObjectMeta{Name: name}
	level := &flowcontrolv1.PriorityLevelConfiguration{ObjectMeta: meta, Spec: flowcontrolv1.PriorityLevelConfigurationSpec{
		Type: flowcontrolv1.PriorityLevelEnablementLimited,
		Limited: &flowcontrolv1.LimitedPriorityLevelConfiguration{
			NominalConcurrencyShares: ptr.To[int32](0), BorrowingLimitPercent: ptr.To[int32](0),
			LimitResponse: flowcontrolv1.LimitResponse{Type: flowcontrolv1.LimitResponseTypeReject},
		},
	}}
	schema := &flowcontrolv1.FlowSchema{ObjectMeta: meta, Spec: flowcontrolv1.FlowSchemaSpec{
		PriorityLevelConfiguration: flowcontrolv1.PriorityLevelConfigurationReference{Name: name},
		MatchingPrecedence:         1000,
		Rules: []flowcontrolv1.PolicyRulesWithSubjects{{
			Subjects: []flowcontrolv1.Subject{{Kind: flowcontrolv1.SubjectKindUser, User: &flowcontrolv1.UserSubject{Name: user}}},
			ResourceRules: []flowcontrolv1.ResourcePolicyRule{{
				Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}, ClusterScope: true, Namespaces: []string{"*"},
			}},
		}},
	}}
	flows := client.FlowcontrolV1()
	if _, err := flows.PriorityLevelConfigurations().Create(t.Context(), level, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := flows.FlowSchemas().Create(t.Context(), schema, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx := context.Background()
		if err := errors.Join(flows.FlowSchemas().Delete(ctx, name, metav1.DeleteOptions{}), flows.PriorityLevelConfigurations().Delete(ctx, name, metav1.DeleteOptions{})); err != nil {
			t.Error(err)
		}
	})
	config := c.ControlPlane.Config()
	config.Impersonate = rest.ImpersonationConfig{UserName: user}
	rejected, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	awaitSeries(t, c, `apiserver_flowcontrol_rejected_requests_total`, func(ctx context.Context) error {
		var requests sync.WaitGroup
		for range 50 {
			requests.Go(func() { _ = rejected.CoreV1().RESTClient().Get().Resource("nodes").MaxRetries(0).Do(ctx).Error() })
		}
		requests.Wait()
		return nil
	})
}

// terminateWatcher opens a watch, never reads it, and writes until the API server terminates it.
func terminateWatcher(t *testing.T, c *chain.Chain, client kubernetes.Interface) {
	t.Helper()
	config := rest.CopyConfig(c.ControlPlane.Config())
	config.NextProtos = []string{"http/1.1"} // HTTP/2 reads on behalf of a slow reader
	config.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		if tcp, ok := conn.(*net.TCPConn); ok {
			err = errors.Join(err, tcp.SetReadBuffer(4096))
		}
		return conn, err
	}
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	// ClusterRoles are few, and only the exporter watches them, without their rules.
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, config.Host+"/apis/rbac.authorization.k8s.io/v1/clusterroles?watch=1", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := httpClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Fatal(resp.Status)
	}
	const name = "often-changed"
	roles := client.RbacV1().ClusterRoles()
	if _, err := roles.Create(t.Context(), &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := roles.Delete(context.Background(), name, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	writes := 0
	awaitSeries(t, c, `apiserver_terminated_watchers_total`, func(ctx context.Context) error {
		for range 50 {
			writes++
			patch := fmt.Sprintf(`{"metadata":{"annotations":{"text":"%d %s"}}}`, writes, strings.Repeat("x", 100_000))
			if _, err := roles.Patch(ctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
				return err
			}
		}
		return nil
	})
	t.Logf("the API server terminated a watcher within %d writes", writes)
}
