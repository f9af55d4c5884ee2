package stack

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/informer-exporter/informer-exporter/internal/testenv/port"
)

// Etcd is a one-member etcd without fsync, so that a control plane starts in seconds: its data survives a kill of the
// server but not of the machine. Its methods use etcd's JSON gateway, so that etcd's client is not a dependency.
type Etcd struct {
	*Server
	// URL is the client address.
	URL string

	data string
}

func startEtcd(ctx context.Context, dir string, log *slog.Logger) (*Etcd, error) {
	client, peer := "http://"+port.Address(port.Free()), "http://"+port.Address(port.Free())
	e := &Etcd{URL: client, data: filepath.Join(dir, "etcd")}
	args := []string{
		"--data-dir=" + e.data,
		"--listen-client-urls=" + client, "--advertise-client-urls=" + client,
		"--listen-peer-urls=" + peer, "--initial-advertise-peer-urls=" + peer, "--initial-cluster=default=" + peer,
		"--unsafe-no-fsync",
		"--log-level=warn",
	}
	var err error
	if e.Server, err = startProgram(ctx, EtcdProgram, Command{Args: args, Dir: dir, Ready: Answers(client + "/health"), Log: log}); err != nil {
		return nil, err
	}
	return e, nil
}

// Revision returns etcd's current revision, which is the newest resource version of the API server.
func (e *Etcd) Revision(ctx context.Context) (int64, error) {
	var status struct {
		Header struct {
			Revision int64 `json:"revision,string"`
		} `json:"header"`
	}
	if err := call(ctx, e.URL+"/v3/maintenance/status", struct{}{}, &status); err != nil {
		return 0, fmt.Errorf("read etcd's revision: %w", err)
	}
	return status.Header.Revision, nil
}

// Compact drops the history before the current revision, and returns that revision. Watches and lists at an older
// resource version then get "410 Gone", unless the API server's watch cache still has it (a restarted API server starts
// with an empty one).
func (e *Etcd) Compact(ctx context.Context) (int64, error) {
	revision, err := e.Revision(ctx)
	if err != nil {
		return 0, err
	}
	request := struct {
		Revision int64 `json:"revision,string"`
		Physical bool  `json:"physical"`
	}{revision, true}
	if err := call(ctx, e.URL+"/v3/kv/compaction", request, &struct{}{}); err != nil {
		return 0, fmt.Errorf("compact etcd at revision %d: %w", revision, err)
	}
	return revision, nil
}

// Backup stops etcd, copies its data to dir, which must not exist, and restarts it. It kills etcd, because a graceful stop waits
// seven seconds for the API server's watches. etcd recovers from its log either way.
func (e *Etcd) Backup(ctx context.Context, dir string) error {
	if err := e.Kill(); err != nil {
		return err
	}
	if err := os.CopyFS(dir, os.DirFS(e.data)); err != nil {
		return fmt.Errorf("copy etcd's data: %w", err)
	}
	return e.Start(ctx)
}

// Restore replaces the data with a Backup, as after a disaster: resource versions go backwards for every running
// informer. The API server keeps its own cache until it is restarted.
func (e *Etcd) Restore(ctx context.Context, dir string) error {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return fmt.Errorf("no backup of etcd in %s", dir)
	}
	if e.PID() != 0 {
		if err := e.Kill(); err != nil {
			return err
		}
	}
	if err := os.RemoveAll(e.data); err != nil {
		return err
	}
	if err := os.CopyFS(e.data, os.DirFS(dir)); err != nil {
		return fmt.Errorf("restore etcd's data: %w", err)
	}
	// etcd rejects a data directory that others can read.
	if err := os.Chmod(e.data, 0o700); err != nil {
		return err
	}
	return e.Start(ctx)
}
