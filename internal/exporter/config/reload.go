package config

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// configPoll is how often the configuration file is looked at. It is read rather than watched: Kubernetes exchanges the
// file of a ConfigMap by a symbolic link of a folder above it, and file systems differ in what they tell of that.
const configPoll = 2 * time.Second

// ConfigFile is a configuration file that is read again when it changes.
type File struct {
	path   string
	config Config
	tried  string // what the file was when it was last read to be used
}

// OpenConfig reads a configuration file. An empty path is the default configuration, which never changes.
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

// Config returns the configuration that was in the file when it was opened.
func (f *File) Config() Config { return f.config }

// digest tells one state of a file from another, that it cannot be read included.
func digest(data []byte, err error) string {
	if err != nil {
		return err.Error()
	}
	sum := sha256.Sum256(data)
	return string(sum[:])
}

// reloader puts the configuration file in force when it has changed.
type Reloader struct {
	log      *slog.Logger
	use      func(Config)
	Interval time.Duration

	reading sync.Mutex // held while the file is read and used
	path    string
	tried   string

	mu   sync.Mutex
	good bool
	at   time.Time // of the last success
}

func NewReloader(file *File, use func(Config), log *slog.Logger) *Reloader {
	r := &Reloader{log: log, use: use, Interval: configPoll, good: true, at: time.Now()}
	if file != nil {
		r.path, r.tried = file.path, file.tried
	}
	return r
}

// state tells whether the file as it is now is in force, and when it was last read successfully.
func (r *Reloader) Status() (good bool, at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.good, r.at
}

// reload puts the file in force. If it cannot be used, the configuration before it stays, and the log says why.
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
		// First, so that whoever sees the failure in the metrics finds its cause in the log.
		r.log.Error("The configuration cannot be used; the one before stays in force", "err", err)
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
	r.log.Info("The configuration has been read again", "path", r.path)
	return nil
}

// follow reloads the file whenever it has changed, until ctx ends.
func (r *Reloader) Run(ctx context.Context) {
	if r.path == "" {
		return
	}
	tick := time.NewTicker(r.Interval)
	defer tick.Stop()
	look := r.looks()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			look()
		}
	}
}

// looks returns a function that looks at the file, and reloads it if it has changed and is the same as at the look before:
// a file that is being written is not taken for a finished one.
func (r *Reloader) looks() func() {
	var last string
	return func() {
		now := digest(os.ReadFile(r.path))
		stable := now == last
		last = now
		if stable && r.stale(now) {
			_ = r.Reload() // which has logged what is wrong
		}
	}
}

func (r *Reloader) stale(now string) bool {
	r.reading.Lock()
	defer r.reading.Unlock()
	return now != r.tried
}
