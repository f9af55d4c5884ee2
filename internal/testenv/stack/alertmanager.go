package stack

import (
	"context"
	"log/slog"
	"path/filepath"

	"github.com/informer-exporter/informer-exporter/internal/testenv/port"
)

// AlertmanagerOptions configure StartAlertmanager.
type AlertmanagerOptions struct {
	// Dir is where data and log go; the caller's to remove.
	Dir string
	Log *slog.Logger
	// Port on the loopback interface; 0 takes a free one.
	Port int
	// ConfigFile is Alertmanager's configuration.
	ConfigFile string
}

// Alertmanager is an Alertmanager without peers.
type Alertmanager struct {
	*Server
	// Address is host:port, as Prometheus wants it; URL is the same with its scheme.
	Address, URL string
}

// StartAlertmanager starts Alertmanager and waits until it is ready.
func StartAlertmanager(ctx context.Context, o AlertmanagerOptions) (*Alertmanager, error) {
	program, err := Binary(ctx, AlertmanagerProgram, o.Log)
	if err != nil {
		return nil, err
	}
	number, err := portOr(o.Port)
	if err != nil {
		return nil, err
	}
	a := &Alertmanager{Address: port.Address(number), URL: "http://" + port.Address(number)}
	args := []string{
		"--config.file=" + o.ConfigFile,
		"--storage.path=" + filepath.Join(o.Dir, "alertmanager"),
		"--web.listen-address=" + a.Address,
		"--web.external-url=" + a.URL, // the default is a link with the name of this machine
		"--cluster.listen-address=",   // no peers, and no port for them on other interfaces
	}
	a.Server = newServer("alertmanager", program, o.Dir, args, answers(a.URL+"/-/ready", nil, ""), o.Log)
	return a, a.Start(ctx)
}
