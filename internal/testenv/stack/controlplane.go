package stack

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Options for Start. The zero value is a control plane of etcd and an API server.
type Options struct {
	// Dir is the directory for data, keys and logs. Defaults to a temporary directory, which Stop removes.
	Dir string
	// Log reports builds and ready servers. A nil Log is silent.
	Log *slog.Logger
	// ControllerManager also starts kube-controller-manager, so that Deployments get Pods, and namespaces and owned
	// objects are deleted.
	ControllerManager bool
	// APIServerArgs follow the package's own flags of kube-apiserver; the last one wins.
	APIServerArgs []string
}

// ControlPlane is a Kubernetes control plane on loopback.
type ControlPlane struct {
	// Etcd, APIServer and ControllerManager are its servers. ControllerManager is nil unless requested by Options.
	Etcd              *Etcd
	APIServer         *APIServer
	ControllerManager *ControllerManager

	dir       string
	temporary bool
	others    []*APIServer
}

// Start starts a control plane and returns when every server is ready. The first start on a machine builds the servers,
// which takes minutes: see Binary. If it fails, nothing is left running.
func Start(ctx context.Context, o Options) (*ControlPlane, error) {
	c := &ControlPlane{dir: o.Dir}
	if c.dir == "" {
		dir, err := os.MkdirTemp("", "local-stack-")
		if err != nil {
			return nil, err
		}
		c.dir, c.temporary = dir, true
	} else if err := os.MkdirAll(c.dir, 0o755); err != nil {
		return nil, err
	}
	if err := c.start(ctx, o); err != nil {
		// A new context, because the caller's may be canceled.
		return nil, errors.Join(err, c.Stop(context.Background()))
	}
	return c, nil
}

func (c *ControlPlane) start(ctx context.Context, o Options) (err error) {
	pki, err := newPKI(c.dir)
	if err != nil {
		return err
	}
	if c.Etcd, err = startEtcd(ctx, c.dir, o.Log); err != nil {
		return err
	}
	if c.APIServer, err = startAPIServer(ctx, c.dir, c.Etcd, pki, o); err != nil {
		return err
	}
	if !o.ControllerManager {
		return nil
	}
	kubeconfig := filepath.Join(c.dir, "kubeconfig")
	if err := WriteKubeconfig(kubeconfig, c.Config()); err != nil {
		return err
	}
	c.ControllerManager, err = startControllerManager(ctx, c.dir, c.APIServer, kubeconfig, o.Log)
	return err
}

// AddAPIServer starts another API server with the same keys, on etcd at a URL, which may be that of a proxy. Stop stops it. A nil log is
// silent.
func (c *ControlPlane) AddAPIServer(ctx context.Context, etcdURL string, log *slog.Logger, args ...string) (*APIServer, error) {
	dir := filepath.Join(c.dir, fmt.Sprintf("api-server-%d", len(c.others)+2))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	a, err := startAPIServer(ctx, dir, &Etcd{URL: etcdURL}, c.APIServer.pki, Options{Log: log, APIServerArgs: args})
	if err == nil {
		c.others = append(c.others, a)
	}
	return a, err
}

// Stop stops all servers, clients first, and removes the temporary directory.
func (c *ControlPlane) Stop(ctx context.Context) error {
	var errs []error
	if c.ControllerManager != nil {
		errs = append(errs, c.ControllerManager.Stop(ctx))
	}
	for _, a := range append(c.others, c.APIServer) {
		if a != nil {
			errs = append(errs, a.Stop(ctx))
		}
	}
	if c.Etcd != nil {
		errs = append(errs, c.Etcd.Stop(ctx))
	}
	if c.temporary {
		errs = append(errs, os.RemoveAll(c.dir))
	}
	return errors.Join(errs...)
}

// Dir returns the directory of the servers' data and logs.
func (c *ControlPlane) Dir() string { return c.dir }

// CAFile returns the path of the certificate authority.
func (c *ControlPlane) CAFile() string { return c.APIServer.pki.caFile }

// Config returns a copy of the administrator's configuration.
func (c *ControlPlane) Config() *rest.Config { return c.APIServer.Config() }

// ServiceAccountConfig returns the configuration of an existing service account with a token for one hour, to verify
// the permissions that a manifest grants.
func (c *ControlPlane) ServiceAccountConfig(ctx context.Context, namespace, name string) (*rest.Config, error) {
	client, err := kubernetes.NewForConfig(c.Config())
	if err != nil {
		return nil, err
	}
	hour := int64(3600)
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &hour}}
	token, err := client.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, name, request, metav1.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("token for service account %s/%s: %w", namespace, name, err)
	}
	return c.APIServer.config(token.Status.Token), nil
}

// WriteKubeconfig writes a configuration to a kubeconfig file that only its owner can read.
func WriteKubeconfig(path string, cfg *rest.Config) error {
	const name = "local"
	file := clientcmdapi.NewConfig()
	file.Clusters[name] = &clientcmdapi.Cluster{
		Server:                   cfg.Host,
		CertificateAuthority:     cfg.CAFile,
		CertificateAuthorityData: cfg.CAData,
		TLSServerName:            cfg.ServerName,
	}
	file.AuthInfos[name] = &clientcmdapi.AuthInfo{
		Token:                 cfg.BearerToken,
		TokenFile:             cfg.BearerTokenFile,
		ClientCertificate:     cfg.CertFile,
		ClientCertificateData: cfg.CertData,
		ClientKey:             cfg.KeyFile,
		ClientKeyData:         cfg.KeyData,
	}
	file.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	file.CurrentContext = name
	if err := clientcmd.WriteToFile(*file, path); err != nil {
		return fmt.Errorf("write kubeconfig %s: %w", path, err)
	}
	return nil
}
