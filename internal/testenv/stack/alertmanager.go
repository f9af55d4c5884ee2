package stack

import (
	"cmp"
	"context"
	"log/slog"
	"path/filepath"

	"github.com/informer-exporter/informer-exporter/internal/testenv/port"
)

// AlertmanagerOptions configure StartAlertmanager.
type AlertmanagerOptions struct {
	// Dir is the directory for data and log. The caller removes it.
	Dir string
	Log *slog.Logger
	// Port on loopback; 0 uses a free one.
	Port int
	// ConfigFile is the path of Alertmanager's configuration.
	ConfigFile string
}

// Alertmanager is an Alertmanager server without peers.
type Alertmanager struct {
	*Server
	// Address is host:port, as Prometheus needs it; URL is the same with its scheme.
	Address, URL string
}

// StartAlertmanager starts Alertmanager and waits until it is ready.
func StartAlertmanager(ctx context.Context, o AlertmanagerOptions) (*Alertmanager, error) {
	number := cmp.Or(o.Port, port.Free())
	a := &Alertmanager{Address: port.Address(number), URL: "http://" + port.Address(number)}
	args := []string{
		"--config.file=" + o.ConfigFile,
		"--storage.path=" + filepath.Join(o.Dir, "alertmanager"),
		"--web.listen-address=" + a.Address,
		"--web.external-url=" + a.URL, // the default is derived from the host name
		"--cluster.listen-address=",   // no peers, and no port for them on other interfaces
	}
	var err error
	if a.Server, err = startProgram(ctx, AlertmanagerProgram, Command{Args: args, Dir: o.Dir, Ready: Answers(a.URL + "/-/ready"), Log: o.Log}); err != nil {
		return nil, err
	}
	return a, nil
}
