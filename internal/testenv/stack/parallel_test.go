package stack

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
)

// Programs of different modules are built at the same time, up to the limit; those of one module in order.
func TestModulesAreBuiltInParallel(t *testing.T) {
	modules := [][]string{{"kubernetes/1", "kubernetes/2"}, {"etcd/1"}, {"prometheus/1"}}
	for limit, want := range map[int]int{1: 1, 2: 2, 8: 3} {
		synctest.Test(t, func(t *testing.T) {
			var mu sync.Mutex
			var started []string
			release := make(chan struct{})
			result := make(chan error)
			go func() {
				result <- buildModules(t.Context(), modules, limit, func(_ context.Context, name string) error {
					mu.Lock()
					started = append(started, name)
					mu.Unlock()
					<-release
					return nil
				})
			}()
			synctest.Wait()
			mu.Lock()
			if len(started) != want || slices.Contains(started, "kubernetes/2") {
				t.Errorf("limit %d: %v at the same time, want %d", limit, started, want)
			}
			mu.Unlock()
			close(release)
			if err := <-result; err != nil {
				t.Fatal(err)
			}
			if len(started) != 4 || slices.Index(started, "kubernetes/1") > slices.Index(started, "kubernetes/2") {
				t.Errorf("limit %d: started %v", limit, started)
			}
		})
	}
}

// A failed build cancels the others, and its error is returned instead of theirs.
func TestFailedBuildEndsTheOthers(t *testing.T) {
	broken := errors.New("does not compile")
	synctest.Test(t, func(t *testing.T) {
		err := buildModules(t.Context(), [][]string{{"slow"}, {"broken"}}, 2, func(ctx context.Context, name string) error {
			if name == "broken" {
				synctest.Wait() // the other build waits
				return broken
			}
			<-ctx.Done()
			return context.Cause(ctx)
		})
		if !errors.Is(err, broken) {
			t.Errorf("%v, want %v", err, broken)
		}
	})
}

// Paths are in the order of the names, and an unknown name is an error before any build.
func TestBinaries(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(assetsVariable, dir)
	for _, name := range []string{EtcdProgram, APIServerProgram} {
		fake(t, dir, name, "", 0o755)
	}
	paths, err := Binaries(t.Context(), nil, APIServerProgram, EtcdProgram)
	if err != nil || !slices.Equal(paths, []string{filepath.Join(dir, APIServerProgram), filepath.Join(dir, EtcdProgram)}) {
		t.Errorf("%v, %v", paths, err)
	}
	if _, err := Binaries(t.Context(), nil, EtcdProgram, "kubelet"); err == nil {
		t.Error("the unknown program kubelet should be an error")
	}
}
