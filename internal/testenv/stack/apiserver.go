package stack

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/client-go/rest"

	"github.com/informer-exporter/informer-exporter/internal/testenv/port"
)

// APIServer is a kube-apiserver with RBAC. Its administrator uses a token of the group system:masters.
type APIServer struct {
	*Server
	// Address is host:port, for a proxy in front of it.
	Address string

	pki   *pki
	token string
}

func startAPIServer(ctx context.Context, dir string, etcd *Etcd, pki *pki, o Options) (*APIServer, error) {
	program, err := Binary(ctx, APIServerProgram, o.Log)
	if err != nil {
		return nil, err
	}
	number := port.Free()
	a := &APIServer{Address: port.Address(number), pki: pki, token: rand.Text()}
	tokens := filepath.Join(dir, "tokens.csv")
	if err := os.WriteFile(tokens, []byte(a.token+`,admin,admin,"system:masters"`+"\n"), 0o600); err != nil {
		return nil, err
	}
	args := []string{
		"--etcd-servers=" + etcd.URL,
		"--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", number),
		"--tls-cert-file=" + pki.servingCert, "--tls-private-key-file=" + pki.servingKey,
		"--client-ca-file=" + pki.caFile,
		"--token-auth-file=" + tokens,
		"--authorization-mode=RBAC",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + pki.serviceAccountKey,
		"--service-account-signing-key-file=" + pki.serviceAccountKey,
		"--service-cluster-ip-range=10.0.0.0/24",
		// No Pods use the endpoint, and a loopback address is not allowed in it.
		"--advertise-address=127.0.0.1", "--endpoint-reconciler-type=none",
		// Without a controller manager, namespaces lack the default service account that this plugin requires for Pods.
		"--disable-admission-plugins=ServiceAccount",
	}
	args = append(args, featureGates(o.FeatureGates)...)
	args = append(args, o.APIServerArgs...)
	ready := answers("https://"+a.Address+"/readyz", a.transport(), "Bearer "+a.token)
	a.Server = newServer(Command{Name: "kube-apiserver", Program: program, Args: args, Dir: dir, Ready: ready, Log: o.Log})
	return a, a.Start(ctx)
}

// Config returns the configuration of the server's administrator.
func (a *APIServer) Config() *rest.Config { return a.config(a.token) }

func (a *APIServer) transport() *http.Transport {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(a.pki.caPEM)
	return &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}
}

// config authenticates with a token. The client-side rate limit is far above the capacity of one machine, so that tests
// measure the server and not the limit.
func (a *APIServer) config(token string) *rest.Config {
	return &rest.Config{
		Host:            "https://" + a.Address,
		BearerToken:     token,
		TLSClientConfig: rest.TLSClientConfig{CAData: slices.Clone(a.pki.caPEM)},
		QPS:             2000,
		Burst:           4000,
	}
}

// featureGates returns the flag that sets the gates, in a stable order.
func featureGates(gates map[string]bool) []string {
	if len(gates) == 0 {
		return nil
	}
	var set []string
	for _, name := range slices.Sorted(maps.Keys(gates)) {
		set = append(set, fmt.Sprintf("%s=%t", name, gates[name]))
	}
	return []string{"--feature-gates=" + strings.Join(set, ",")}
}
