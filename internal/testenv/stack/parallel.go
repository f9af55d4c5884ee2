package stack

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// Binaries returns the paths of programs, in the order of the names. Missing ones are built as by Binary, several at a time on
// machines with more than two cores. log reports how many are done; a nil log is silent. The first error ends the other builds.
func Binaries(ctx context.Context, log *slog.Logger, names ...string) ([]string, error) {
	log = orSilent(log)
	var modules [][]string
	index := map[string]int{} // by directory of the module
	for _, name := range names {
		p, err := programByName(name)
		if err != nil {
			return nil, err
		}
		if _, ok := index[p.dir]; !ok {
			index[p.dir] = len(modules)
			modules = append(modules, nil)
		}
		modules[index[p.dir]] = append(modules[index[p.dir]], name)
	}
	missing, _ := Missing(ctx, names...)
	var done atomic.Int64
	paths := make([]string, len(names))
	err := buildModules(ctx, modules, max(1, runtime.NumCPU()/2), func(ctx context.Context, name string) error {
		path, err := Binary(ctx, name, log)
		if err != nil {
			return err
		}
		paths[slices.Index(names, name)] = path
		if slices.Contains(missing, name) {
			log.Info("servers built", "done", fmt.Sprintf("%d of %d", done.Add(1), len(missing)))
		}
		return nil
	})
	return paths, err
}

// buildModules builds the programs of up to limit modules at a time, in their order. The programs of one module are built one
// after the other, because they share most packages, which concurrent builds would compile twice.
func buildModules(ctx context.Context, modules [][]string, limit int, build func(context.Context, string) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(limit)
	for _, programs := range modules {
		group.Go(func() error {
			for _, name := range programs {
				if err := build(ctx, name); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}
