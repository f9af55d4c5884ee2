package chaos

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// configMap is a directory with the configuration as the kubelet mounts a ConfigMap: the file is a link into a
// directory that is itself a link, which is replaced.
type configMap struct {
	dir      string
	versions int
}

func (c *configMap) path() string { return filepath.Join(c.dir, "config.yaml") }

func (c *configMap) write(content string) error {
	c.versions++
	folder := fmt.Sprintf("..v%d", c.versions)
	if err := os.Mkdir(filepath.Join(c.dir, folder), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(c.dir, folder, "config.yaml"), []byte(content), 0o600); err != nil {
		return err
	}
	if err := c.point(folder); err != nil || c.versions > 1 {
		return err
	}
	return os.Symlink("..data/config.yaml", c.path())
}

// point replaces the link.
func (c *configMap) point(folder string) error {
	next := filepath.Join(c.dir, "..next")
	if err := os.Symlink(folder, next); err != nil {
		return err
	}
	return os.Rename(next, filepath.Join(c.dir, "..data"))
}

// unreadable replaces the file with a directory, because root can read any file.
func (c *configMap) unreadable() error {
	c.versions++
	folder := fmt.Sprintf("..v%d", c.versions)
	if err := os.MkdirAll(filepath.Join(c.dir, folder, "config.yaml"), 0o700); err != nil {
		return err
	}
	return c.point(folder)
}

// The configuration file is broken in several ways, one after the other, and fixed twice. Watches continue.
func TestConfigurationBroken(t *testing.T) {
	row(t)
	plane := steady.use(t)
	namespace := plane.namespace(t)
	good := watching(namespace, "pods", "configmaps")
	p := start(t, stacktest.Kubeconfig(t, plane.Config()), plane.Config(), good)
	before := p.figures()
	p.mark()
	since := p.log
	for _, fault := range []struct {
		name   string
		damage func() error
		mended string // empty: the next fault follows
	}{
		{"syntax", func() error { return p.config.write("resources: [") }, good}, // loaded throughout
		{"a link to nothing", func() error { return p.config.point("..nowhere") }, ""},
		{"an unknown field", func() error { return p.config.write("resource: [pods]") }, ""},
		{"unreadable", p.config.unreadable, ""},
		{"removed", func() error { return os.Remove(filepath.Join(p.config.dir, "..data")) }, watching(namespace, "pods", "configmaps", "services")},
	} {
		t.Log(fault.name)
		p.mark()
		if err := fault.damage(); err != nil {
			t.Fatal(err)
		}
		p.until("a log line", func(look) error {
			if n := p.refusedConfigurations(); n == 0 {
				return errors.New("no log line")
			}
			return nil
		})
		p.shows("config_last_reload_successful 0", "config_last_reload_success_timestamp_seconds stays")
		if fault.mended == "" {
			continue
		}
		logged := p.log
		p.keeps("config_last_reload_successful 0", "config_last_reload_success_timestamp_seconds stays", "kind_up 1", "watch_connected 1", "readyz 200", `audits_total{result="different"} 0`)
		p.log = logged
		if n := p.refusedConfigurations(); n > 1 {
			t.Errorf("%d lines about one broken file", n)
		}
		p.mark()
		p.write(fault.mended)
		p.shows("config_last_reload_successful 1", "config_last_reload_success_timestamp_seconds grows")
	}
	p.shows(`state{informer_type="services",state="synced"} 1`)
	p.write(good)
	p.shows(`state{informer_type="services"} absent`)
	p.mark()
	p.well()
	p.quiet(since, 5)
	p.bounded(before)
}

// refusedConfigurations returns the number of log lines about rejected configurations since the mark.
func (p *program) refusedConfigurations() int {
	return countLines(p.lines(p.log))["ERROR invalid configuration file; the last valid one stays in use"]
}
