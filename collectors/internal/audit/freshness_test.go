package audit

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

func object(name, uid string, version int) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default", Name: name, UID: types.UID(uid), ResourceVersion: strconv.Itoa(version),
	}}
}

func TestChanges(t *testing.T) {
	expired := &apierrors.NewResourceExpired("gone").ErrStatus
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		version string
		open    func(w *watch.FakeWatcher) error
		want    []uint64
		skipped bool
		fails   bool
	}{
		"nothing happens": {version: "5", open: func(w *watch.FakeWatcher) error {
			go func() { time.Sleep(time.Second); w.Stop() }()
			return nil
		}},
		"changes and a bookmark": {version: "5", want: []uint64{6, 8}, open: func(w *watch.FakeWatcher) error {
			go func() {
				w.Add(object("a", "a", 6))
				w.Action(watch.Bookmark, object("", "", 7))
				w.Delete(object("a", "a", 8))
				time.Sleep(time.Second)
				w.Stop()
			}()
			return nil
		}},
		"ends too early":    {version: "5", fails: true, open: func(w *watch.FakeWatcher) error { w.Stop(); return nil }},
		"cannot be opened":  {version: "5", fails: true, open: func(*watch.FakeWatcher) error { return broken }},
		"does not end":      {version: "5", fails: true, open: func(*watch.FakeWatcher) error { return nil }},
		"expired in stream": {version: "5", skipped: true, open: func(w *watch.FakeWatcher) error { go w.Error(expired); return nil }},
		"expired at once":   {version: "5", skipped: true, open: func(*watch.FakeWatcher) error { return apierrors.NewResourceExpired("gone") }},
		"no version":        {version: "", skipped: true},
		"any version":       {version: "0", skipped: true},
		"odd version":       {version: "abc", skipped: true},
		"odd version of an object": {version: "5", skipped: true, open: func(w *watch.FakeWatcher) error {
			go w.Add(object("a", "a", 0))
			return nil
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
				defer cancel()
				changes, err := Changes(ctx, func(_ context.Context, o metav1.ListOptions) (watch.Interface, error) {
					if o.ResourceVersion != c.version || !o.AllowWatchBookmarks || *o.TimeoutSeconds != 1 || o.SendInitialEvents != nil {
						t.Errorf("options %+v", o)
					}
					w := watch.NewFake()
					if err := c.open(w); err != nil {
						return nil, err
					}
					return w, nil
				}, c.version, time.Second)
				if (err != nil) != (c.fails || c.skipped) || Skipped(err) != c.skipped {
					t.Errorf("error %v, skipped %t", err, Skipped(err))
				}
				var got []uint64
				for _, change := range changes {
					got = append(got, change.Version)
				}
				if !slices.Equal(got, c.want) {
					t.Errorf("changes %v, want %v", got, c.want)
				}
			})
		})
	}
}

// A check reads no more changes than its limit, and then does not wait for the end of the watch.
func TestChangesAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := watch.NewFakeWithChanSize(2*MaxChanges, false)
		for n := range 2 * MaxChanges {
			w.Add(object("a", "a", n+6))
		}
		begin := time.Now()
		changes, err := Changes(t.Context(), func(context.Context, metav1.ListOptions) (watch.Interface, error) { return w, nil }, "5", time.Second)
		if err != nil || len(changes) != MaxChanges || time.Since(begin) != 0 || !w.IsStopped() {
			t.Errorf("%d changes after %v, error %v, stopped %t", len(changes), time.Since(begin), err, w.IsStopped())
		}
	})
}

func TestBacklog(t *testing.T) {
	at := func(s int) time.Time { return time.Unix(int64(s), 0) }
	var b Backlog
	oldest := func(want int) {
		t.Helper()
		got, ok := b.Oldest()
		if ok != (want != 0) || ok && !got.Equal(at(want)) {
			t.Errorf("oldest %v, %t, want %d", got, ok, want)
		}
	}
	oldest(0)
	b.Replace([]Change{{10, at(1)}, {12, at(2)}})
	oldest(1)
	b.Stored("9")
	oldest(1)
	b.Stored("not a number")
	oldest(1)
	b.Stored("10")
	oldest(2)
	b.Replace([]Change{{12, at(5)}, {13, at(6)}}) // the next check receives the first change again, which keeps its age
	oldest(2)
	b.Replace([]Change{{13, at(9)}})
	oldest(6)
	b.Stored("13")
	oldest(0)
}

// For any order of checks and stored versions, the backlog has the changes of the last check that are not stored, each with
// the time at which it was first seen without interruption.
func FuzzBacklog(f *testing.F) {
	f.Add([]byte{3, 1, 2, 3, 0, 2, 2, 3, 4})
	f.Fuzz(func(t *testing.T, input []byte) {
		var b Backlog
		model := map[uint64]int64{}
		clock := int64(0)
		for len(input) > 0 {
			clock++
			op := input[0]
			input = input[1:]
			if op%2 == 0 {
				b.Stored(strconv.Itoa(int(op)))
				for v := range model {
					if op != 0 && v <= uint64(op) { // "0" is not a version
						delete(model, v)
					}
				}
			} else {
				n := min(int(op)%8, len(input))
				seen := slices.Compact(slices.Sorted(slices.Values(input[:n])))
				input = input[n:]
				next, changes := map[uint64]int64{}, []Change{}
				for _, v := range seen {
					changes = append(changes, Change{uint64(v), time.Unix(clock, 0)})
					next[uint64(v)] = clock
					if since, ok := model[uint64(v)]; ok {
						next[uint64(v)] = since
					}
				}
				b.Replace(changes)
				model = next
			}
			want := int64(0)
			for _, since := range model {
				if want == 0 || since < want {
					want = since
				}
			}
			oldest, ok := b.Oldest()
			if ok != (want != 0) || ok && oldest.Unix() != want || b.Len() != len(model) {
				t.Fatalf("oldest %v, %t, %d left; want %d of %v", oldest, ok, b.Len(), want, model)
			}
		}
	})
}
