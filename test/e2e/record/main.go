// Command record makes the recordings that the replay test evaluates the rules on: for each row of docs/faults.md, what
// Prometheus would have scraped from a real exporter, or from a program with the library, under that fault with real
// servers. All rows are recorded at the same time, because they mostly wait. `make record` runs it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"sync"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"

	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
	"github.com/informer-exporter/informer-exporter/test/e2e/recording"
)

// phases are the durations of a recording. Several alerts wait for 15 minutes.
type phases struct {
	before, during, after, interval time.Duration
}

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "record:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	root, err := stack.Root()
	if err != nil {
		return err
	}
	var p phases
	flag.DurationVar(&p.before, "before", 2*time.Minute, "how long before the fault")
	flag.DurationVar(&p.during, "during", 22*time.Minute, "how long the fault lasts")
	flag.DurationVar(&p.after, "after", 5*time.Minute, "how long after the fault")
	flag.DurationVar(&p.interval, "interval", 15*time.Second, "how often everything is scraped")
	only := flag.String("only", ".*", "record only rows with a test that matches this regular expression")
	out := flag.String("out", filepath.Join(root, "test", "e2e", "testdata", "recordings"), "the directory of the recordings")
	healthy := flag.Duration("healthy", 0, "record the operations of a healthy cluster for this long instead, with every series, in the file -full")
	full := flag.String("full", filepath.Join(os.TempDir(), "healthy.yaml.gz"), "the file with everything that -healthy recorded")
	caches := flag.String("behind", "", "record kube-controller-manager and API servers with stale caches instead, compressed, into this directory; -only selects")
	thinned := flag.String("thin", "", "write the part of -full that rules read to this file")
	flag.Parse()
	wanted, err := regexp.Compile("^(?:" + *only + ")$")
	if err != nil {
		return err
	}
	reads, err := recording.ReadBy(filepath.Join(root, "deploy", "prometheus", "rules.yaml"))
	if err != nil {
		return err
	}
	if *healthy > 0 {
		if err := recordHealthy(ctx, slog.New(slog.NewTextHandler(os.Stderr, nil)), *healthy, p.interval, *full); err != nil {
			return err
		}
	}
	if *thinned != "" {
		return thin(*full, *thinned, reads)
	}
	if *healthy > 0 {
		return nil
	}
	if *caches != "" {
		*out = *caches
	}
	if err := os.MkdirAll(*out, 0o755); err != nil {
		return err
	}
	klog.SetSlogLogger(slog.New(slog.DiscardHandler)) // failures are intended
	utilruntime.ReallyCrash = false                   //nolint:reassign // one of the faults is a handler that panics

	l, err := newLab(ctx, slog.New(slog.NewTextHandler(os.Stderr, nil)))
	if err != nil {
		return errors.Join(err, l.close())
	}
	if *caches != "" {
		return errors.Join(l.recordBehind(ctx, wanted, p, reads, *out), l.close())
	}
	if err := l.startShared(ctx); err != nil {
		return errors.Join(err, l.close())
	}
	return errors.Join(l.recordAll(ctx, wanted, p, reads, *out), l.close())
}

// recordAll prepares all rows one after the other, and records them at the same time.
func (l *lab) recordAll(ctx context.Context, wanted *regexp.Regexp, p phases, reads recording.Reads, out string) error {
	subjects := map[string]*subject{}
	for _, r := range rows {
		if !wanted.MatchString(r.test) {
			continue
		}
		s, err := r.prepare(ctx, l)
		if err != nil {
			return fmt.Errorf("%s: %w", r.test, err)
		}
		subjects[r.test] = s
		l.log.Info("prepared", "row", r.test)
	}
	if len(subjects) == 0 {
		return fmt.Errorf("no row has a test that matches %s", wanted)
	}
	return l.recordSubjects(ctx, subjects, p, reads, func(r recording.Recording) error {
		return os.WriteFile(filepath.Join(out, r.Row+".yaml"), r.Marshal(), 0o644)
	})
}

// recordSubjects records subjects at the same time, by the names of their recordings, and writes each.
func (l *lab) recordSubjects(ctx context.Context, subjects map[string]*subject, p phases, reads recording.Reads, write func(recording.Recording) error) error {
	for test, s := range subjects {
		if err := s.awaitHealthy(ctx); err != nil {
			return fmt.Errorf("%s: %w", test, err)
		}
	}
	l.log.Info("recording", "rows", len(subjects), "until", time.Now().Add(p.before+p.during+p.after).Format(time.TimeOnly))
	var running sync.WaitGroup
	errs := make(chan error, len(subjects))
	i := 0
	for test, s := range subjects {
		delay := p.interval * time.Duration(i) / time.Duration(len(subjects)) // so that not all are scraped at the same moment
		i++
		running.Go(func() {
			r, err := s.record(ctx, test, time.Now().Add(delay), p, reads)
			if err == nil {
				err = write(r)
			}
			if err != nil {
				err = fmt.Errorf("%s: %w", test, err)
				l.log.Error("not recorded", "err", err)
			}
			errs <- err
		})
	}
	running.Wait()
	close(errs)
	var all []error
	for err := range errs {
		all = append(all, err)
	}
	return errors.Join(all...)
}
