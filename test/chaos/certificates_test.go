package chaos

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	certutil "k8s.io/client-go/util/cert"

	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// Names of the API server of the control plane steady. Each has its own certificate, which a test replaces. The server
// reloads its certificates, and the authority of its clients, when they change.
const (
	renewedName = "renewed.chaos.test"
	movedName   = "moved.chaos.test"
)

// credentials are the certificate files of the control plane steady.
type credentials struct {
	authority      *authority // initially of all certificates
	renewed, moved files
	clientCA       string
}

var steadyCredentials credentials

func withCredentials(dir string) (stack.Options, error) {
	c := &steadyCredentials
	*c = credentials{
		renewed: filesIn(dir, "renewed"), moved: filesIn(dir, "moved"),
		clientCA: filepath.Join(dir, "client-ca.crt"),
	}
	var err error
	if c.authority, err = newAuthority("chaos"); err != nil {
		return stack.Options{}, err
	}
	for _, err := range []error{
		c.authority.serve(c.renewed, renewedName, time.Hour),
		c.authority.serve(c.moved, movedName, time.Hour),
		replace(c.clientCA, c.authority.pem()),
	} {
		if err != nil {
			return stack.Options{}, err
		}
	}
	return stack.Options{APIServerArgs: []string{
		fmt.Sprintf("--tls-sni-cert-key=%s,%s:%s", c.renewed.cert, c.renewed.key, renewedName),
		fmt.Sprintf("--tls-sni-cert-key=%s,%s:%s", c.moved.cert, c.moved.key, movedName),
		"--client-ca-file=" + c.clientCA,
	}}, nil
}

// known returns the configuration of an administrator that uses a name of the API server and trusts the authority in a
// file.
func (p *plane) known(name, ca string) *rest.Config {
	config := p.Config()
	config.TLSClientConfig = rest.TLSClientConfig{ServerName: name, CAFile: ca}
	return config
}

// serves waits until the API server presents, for a name, the certificate in a file.
func (p *plane) serves(t *testing.T, name string, f files) {
	t.Helper()
	wanted, err := certutil.CertsFromFile(f.cert)
	if err != nil {
		t.Fatal(err)
	}
	await.Within(t, patience(), "the API server presents its new certificate", func(context.Context) error {
		conn, err := tls.Dial("tcp", p.APIServer.Address, &tls.Config{ServerName: name, InsecureSkipVerify: true}) // inspected below
		if err != nil {
			return err
		}
		defer conn.Close()
		shown := conn.ConnectionState().PeerCertificates[0]
		if !shown.Equal(wanted[0]) {
			return fmt.Errorf("it presents %v", shown.SerialNumber)
		}
		return nil
	})
}

// The API server's certificate expires, and is renewed by the same authority.
func TestServingCertificateExpired(t *testing.T) {
	row(t)
	plane := steady.use(t)
	c := steadyCredentials
	namespace := plane.namespace(t)
	ca := filepath.Join(t.TempDir(), "ca.crt")
	if err := replace(ca, c.authority.pem()); err != nil {
		t.Fatal(err)
	}
	proxy := plane.proxy(t)
	p := start(t, stacktest.Kubeconfig(t, proxy.RESTConfig(plane.known(renewedName, ca))), plane.Config(), watching(namespace, "pods", "configmaps"))
	before := p.figures()
	p.mark()
	since := p.log
	if err := c.authority.serve(c.renewed, renewedName, -time.Hour); err != nil {
		t.Fatal(err)
	}
	plane.serves(t, renewedName, c.renewed)
	proxy.Reset()
	p.untrusted()
	if err := c.authority.serve(c.renewed, renewedName, time.Hour); err != nil {
		t.Fatal(err)
	}
	plane.serves(t, renewedName, c.renewed)
	plane.change(t, namespace)
	p.mark()
	p.well()
	p.quiet(since, 2)
	p.bounded(before)
}

// untrusted waits until the exporter reports that it does not trust the API server or cannot reach it, and verifies that it
// keeps reporting that.
func (p *program) untrusted() {
	p.t.Helper()
	p.shows("watch_connected 0", "sync_lag_seconds > 1", `sync_errors_total{error_type="other"} grows`, `state{state="unreachable"} 1`, `state{state="synced"} absent`, "kind_up 1", "readyz 200")
	p.keeps("watch_connected 0", "sync_lag_seconds > 1", `state{state="synced"} absent`, `audits_total{result="consistent"} stays`, `freshness_checks_total{result="fresh"} stays`)
}

// The API server's certificate is signed by another certificate authority, and then the file of trusted authorities is
// replaced. client-go reads the file every five minutes: only the long form waits for it.
func TestAuthorityReplaced(t *testing.T) {
	row(t)
	if !long(t) {
		t.Skip("client-go reads the file every five minutes: run make chaos")
	}
	plane := steady.use(t)
	c := steadyCredentials
	namespace := plane.namespace(t)
	ca := filepath.Join(t.TempDir(), "ca.crt")
	if err := replace(ca, c.authority.pem()); err != nil {
		t.Fatal(err)
	}
	if err := c.authority.serve(c.moved, movedName, time.Hour); err != nil {
		t.Fatal(err)
	}
	plane.serves(t, movedName, c.moved)
	proxy := plane.proxy(t)
	p := start(t, stacktest.Kubeconfig(t, proxy.RESTConfig(plane.known(movedName, ca))), plane.Config(), watching(namespace, "pods", "configmaps"))
	before := p.figures()
	p.mark()
	since := p.log
	successor, err := newAuthority("successor")
	if err != nil {
		t.Fatal(err)
	}
	if err := successor.serve(c.moved, movedName, time.Hour); err != nil {
		t.Fatal(err)
	}
	plane.serves(t, movedName, c.moved)
	proxy.Reset()
	p.untrusted()
	if err := replace(ca, successor.pem()); err != nil {
		t.Fatal(err)
	}
	plane.change(t, namespace)
	p.mark()
	p.well()
	p.quiet(since, 2)
	accepted := proxy.Accepted()
	p.keeps("watch_connected 1")
	t.Logf("%d connections, %d more for two audits and freshness checks of each informer", accepted, proxy.Accepted()-accepted)
	p.bounded(before)
}

// The API server rejects the exporter's client certificate, as if it had expired. Then the files of the certificate are
// replaced. client-go reads them when it connects, and the API server closes connections that it cannot authenticate.
func TestClientCertificateExpired(t *testing.T) {
	row(t)
	plane := steady.use(t)
	c := steadyCredentials
	namespace := plane.namespace(t)
	proxy := plane.proxy(t)
	mine := filesIn(t.TempDir(), "client")
	plane.admits(t, c.authority, mine)
	config := proxy.RESTConfig(plane.Config())
	config.BearerToken, config.CertFile, config.KeyFile = "", mine.cert, mine.key
	p := start(t, stacktest.Kubeconfig(t, config), plane.Config(), watching(namespace, "pods", "configmaps"))
	before := p.figures()
	p.mark()
	since := p.log
	successor, err := newAuthority("successor")
	if err != nil {
		t.Fatal(err)
	}
	if err := replace(c.clientCA, successor.pem()); err != nil {
		t.Fatal(err)
	}
	p.refused()
	proxy.Reset()
	p.shutOut()
	plane.admits(t, successor, mine)
	plane.change(t, namespace)
	p.mark()
	p.well()
	p.quiet(since, 3)
	p.bounded(before)
}

// admits writes a client certificate of an authority, and waits until the API server accepts it.
func (p *plane) admits(t *testing.T, a *authority, f files) {
	t.Helper()
	if err := errors.Join(replace(steadyCredentials.clientCA, a.pem()), a.admit(f)); err != nil {
		t.Fatal(err)
	}
	config := p.Config()
	config.BearerToken, config.CertFile, config.KeyFile = "", f.cert, f.key
	client := kubernetes.NewForConfigOrDie(config)
	await.Within(t, patience(), "the API server accepts the certificate", func(ctx context.Context) error {
		_, err := client.CoreV1().Namespaces().Get(ctx, metav1.NamespaceDefault, metav1.GetOptions{})
		return err
	})
}

// refused waits until the exporter reports that its credentials are rejected, and verifies that it keeps reporting that.
// Open watches continue.
func (p *program) refused() {
	p.t.Helper()
	p.shows("kind_up 0", `state{state="unauthorized"} 1`, `audits_total{result="error"} grows`, `freshness_checks_total{result="error"} grows`, "readyz 200")
	p.keeps("kind_up 0", `state{state="synced"} absent`, `audits_total{result="consistent"} stays`, `freshness_checks_total{result="fresh"} stays`)
}

// shutOut is like refused, once the watches have ended as well.
func (p *program) shutOut() {
	p.t.Helper()
	p.shows("watch_connected 0", "sync_lag_seconds > 1", `sync_errors_total{error_type="unauthorized"} grows`, "kind_up 0", "readyz 200")
	p.keeps("watch_connected 0", "sync_lag_seconds > 1", "kind_up 0", `state{state="synced"} absent`, `audits_total{result="consistent"} stays`, `freshness_checks_total{result="fresh"} stays`)
}
