package config

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// configPoll is the interval at which the configuration file is read. It is polled, not watched: Kubernetes replaces the file
// of a ConfigMap by changing a symbolic link of a parent directory, and file systems differ in how they report this.
const configPoll = 2 * time.Second

// File is a configuration file that is reloaded when it changes.
type File struct {
	path   string
	config Config
	tried  string // digest of the last version that was loaded or rejected
}

// Open reads a configuration file. An empty path is the default configuration, which never changes.
func Open(path string) (*File, error) {
	f := &File{path: path}
	if path == "" {
		return f, nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("--config.file: %w", err)
	}
	f.tried = digest(data, nil)
	if f.config, err = Parse(data); err != nil {
		return nil, fmt.Errorf("--config.file %s: %w", path, err)
	}
	return f, nil
}

// Config returns the configuration that the file had when it was opened.
func (f *File) Config() Config { return f.config }

// digest identifies a version of a file, or the error of reading it.
func digest(data []byte, err error) string {
	if err != nil {
		return err.Error()
	}
	sum := sha256.Sum256(data)
	return string(sum[:])
}

// Reloader applies the configuration file when it has changed.
type Reloader struct {
	log      *slog.Logger
	use      func(Config)
	Interval time.Duration

	reading sync.Mutex // held while the file is read and applied
	path    string
	tried   string

	mu   sync.Mutex
	good bool
	at   time.Time // of the last success
}

// NewReloader returns a reloader that passes valid configurations to use. Without a file it does nothing.
func NewReloader(file *File, use func(Config), log *slog.Logger) *Reloader {
	r := &Reloader{log: log, use: use, Interval: configPoll, good: true, at: time.Now()}
	if file != nil {
		r.path, r.tried = file.path, file.tried
	}
	return r
}

// Status reports whether the last reload succeeded, and the time of the last success.
func (r *Reloader) Status() (good bool, at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.good, r.at
}

// Reload applies the file. If it is invalid, the last valid configuration stays in use.
func (r *Reloader) Reload() error {
	if r.path == "" {
		return nil
	}
	r.reading.Lock()
	defer r.reading.Unlock()
	data, err := os.ReadFile(r.path)
	r.tried = digest(data, err)
	var config Config
	if err == nil {
		config, err = Parse(data)
	}
	if err != nil {
		err = fmt.Errorf("--config.file %s: %w", r.path, err)
		// Logged first, so that the log has the cause when the metric changes.
		r.log.Error("invalid configuration file; the last valid one stays in use", "err", err)
	}
	r.mu.Lock()
	if r.good = err == nil; r.good {
		r.at = time.Now()
	}
	r.mu.Unlock()
	if err != nil {
		return err
	}
	r.use(config)
	r.log.Info("configuration reloaded", "path", r.path)
	return nil
}

// Run reloads the file when it has changed, until ctx ends.
func (r *Reloader) Run(ctx context.Context) {
	if r.path == "" {
		return
	}
	look := r.looks()
	wait.UntilWithContext(ctx, func(context.Context) { look() }, r.Interval)
}

// looks returns a function that reloads the file if it has changed since the last load but not since the last call: a file may
// be half written.
func (r *Reloader) looks() func() {
	var last string
	return func() {
		now := digest(os.ReadFile(r.path))
		stable := now == last
		last = now
		if stable && r.stale(now) {
			_ = r.Reload() // logged by Reload
		}
	}
}

func (r *Reloader) stale(now string) bool {
	r.reading.Lock()
	defer r.reading.Unlock()
	return now != r.tried
}
