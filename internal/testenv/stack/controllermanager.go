package stack

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/informer-exporter/informer-exporter/internal/testenv/port"
)

// ControllerManager is a kube-controller-manager with the administrator's permissions.
type ControllerManager struct {
	*Server
	// Address is host:port of its metrics, served over HTTPS with the control plane's certificate authority.
	Address string
}

func startControllerManager(ctx context.Context, dir string, a *APIServer, kubeconfig string, log *slog.Logger) (*ControllerManager, error) {
	number := port.Free()
	m := &ControllerManager{Address: port.Address(number)}
	args := []string{
		"--kubeconfig=" + kubeconfig,
		"--authentication-kubeconfig=" + kubeconfig, "--authorization-kubeconfig=" + kubeconfig,
		"--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", number),
		"--tls-cert-file=" + a.pki.servingCert, "--tls-private-key-file=" + a.pki.servingKey,
		"--root-ca-file=" + a.pki.caFile,
		"--service-account-private-key-file=" + a.pki.serviceAccountKey,
		// A single replica needs no leader election, which would delay a restart until the previous lease expires.
		"--leader-elect=false",
	}
	var err error
	if m.Server, err = startProgram(ctx, ControllerManagerProgram, Command{Args: args, Dir: dir, Ready: a.answers(m.Address + "/healthz"), Log: log}); err != nil {
		return nil, err
	}
	return m, nil
}
