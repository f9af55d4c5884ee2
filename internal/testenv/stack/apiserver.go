package stack

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"path/filepath"
	"slices"

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
	var err error
	if a.Server, err = startProgram(ctx, APIServerProgram, Command{Args: append(args, o.APIServerArgs...), Dir: dir, Ready: a.answers(a.Address + "/readyz"), Log: o.Log}); err != nil {
		return nil, err
	}
	return a, nil
}

// Config returns the configuration of the server's administrator.
func (a *APIServer) Config() *rest.Config { return a.config(a.token) }

// answers returns a readiness check that expects status 200 for the administrator, from a server with the control plane's certificates.
func (a *APIServer) answers(address string) func(context.Context) error {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(a.pki.caPEM)
	return answers("https://"+address, &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, "Bearer "+a.token)
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
