//go:build !clientgo_before_0_36

package audit

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// server lists its objects at one version, in pages.
type server struct {
	version  string
	objects  []*corev1.ConfigMap
	requests []metav1.ListOptions
	// failAt is the page that fails.
	failAt int
	err    error
}

func (s *server) list(_ context.Context, o metav1.ListOptions) (runtime.Object, error) {
	if len(s.requests) == s.failAt && s.err != nil {
		return nil, s.err
	}
	s.requests = append(s.requests, o)
	from, _ := strconv.Atoi(o.Continue)
	to := len(s.objects)
	if o.Limit > 0 { // without a limit, the page has all remaining objects
		to = min(to, from+int(o.Limit))
	}
	list := &corev1.ConfigMapList{ListMeta: metav1.ListMeta{ResourceVersion: s.version}}
	for _, object := range s.objects[from:to] {
		list.Items = append(list.Items, *object)
	}
	if to < len(s.objects) {
		list.Continue = strconv.Itoa(to)
	}
	return list, nil
}

func store(t testing.TB, key cache.KeyFunc, version string, objects ...*corev1.ConfigMap) cache.Indexer {
	t.Helper()
	i := cache.NewIndexer(key, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc, "value": byValue})
	items := make([]any, 0, len(objects))
	for _, object := range objects {
		items = append(items, object)
	}
	if err := i.Replace(items, version); err != nil {
		t.Fatal(err)
	}
	return i
}

func byValue(obj any) ([]string, error) {
	o := obj.(*corev1.ConfigMap)
	return []string{o.Labels["value"], "all", "all"}, nil
}

func labeled(name, value string) *corev1.ConfigMap {
	o := object(name, name, 1)
	o.Labels = map[string]string{"value": value}
	return o
}

func counts(d *Differences) map[string]int {
	all := map[string]int{}
	for _, typ := range catalog.InformerAuditDifferences.Values("difference") {
		if n := d.Count(typ); n > 0 {
			all[typ] = n
		}
	}
	return all
}

// Pages after the first are larger if they have only metadata.
func TestPagesOfMetadataAreLarger(t *testing.T) {
	var objects []*corev1.ConfigMap
	for n := range 9 {
		name := strconv.Itoa(n)
		objects = append(objects, object(name, name, 1))
	}
	s := &server{version: "9", objects: objects}
	metadataOnly := func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
		list, err := s.list(ctx, o)
		if err != nil {
			return nil, err
		}
		whole := list.(*corev1.ConfigMapList)
		pruned := &metav1.PartialObjectMetadataList{ListMeta: whole.ListMeta}
		for _, o := range whole.Items {
			pruned.Items = append(pruned.Items, metav1.PartialObjectMetadata{ObjectMeta: o.ObjectMeta})
		}
		return pruned, nil
	}
	for _, c := range []struct {
		list Lister
		want []int64
	}{{s.list, []int64{2, 2, 2, 2, 2}}, {metadataOnly, []int64{2, 4, 4}}} {
		s.requests = nil
		r, err := Compare(t.Context(), store(t, cache.MetaNamespaceKeyFunc, "9", objects...), c.list, 2, nil)
		if err != nil {
			t.Fatal(err)
		}
		var limits []int64
		for _, o := range s.requests {
			limits = append(limits, o.Limit)
		}
		if !slices.Equal(limits, c.want) || r.Requests != len(c.want) || r.Objects != len(objects) || r.Differences.Len() > 0 {
			t.Errorf("limits %v, want %v; %+v", limits, c.want, r)
		}
	}
}

// TestCompare covers S11, P3 and P9: each type of difference, and nothing else.
func TestCompare(t *testing.T) {
	in := func(namespace string, o *corev1.ConfigMap) *corev1.ConfigMap { o.Namespace = namespace; return o }
	byNameOnly := func(obj any) (string, error) { return obj.(*corev1.ConfigMap).Name, nil } //nolint:informerlint // the mistake that the test is about
	for name, c := range map[string]struct {
		key    cache.KeyFunc
		cached []*corev1.ConfigMap
		there  []*corev1.ConfigMap
		// renamed are the keys of objects that a Transform renamed.
		renamed map[types.UID]string
		want    map[string]int
	}{
		"both empty": {},
		"renamed to one key": {
			cached:  []*corev1.ConfigMap{object("same", "2", 2)},
			there:   []*corev1.ConfigMap{object("a", "1", 1), object("b", "2", 2)},
			renamed: map[types.UID]string{"1": "default/same", "2": "default/same"},
			want:    map[string]int{"missing": 2, "extra": 1, "key_collision": 1},
		},
		"equal":     {cached: []*corev1.ConfigMap{object("b", "2", 2), object("a", "1", 1)}, there: []*corev1.ConfigMap{object("a", "1", 1), object("b", "2", 2)}},
		"missing":   {there: []*corev1.ConfigMap{object("a", "1", 1), object("b", "2", 2)}, want: map[string]int{"missing": 2}},
		"extra":     {cached: []*corev1.ConfigMap{object("a", "1", 1)}, want: map[string]int{"extra": 1}},
		"stale":     {cached: []*corev1.ConfigMap{object("a", "1", 1)}, there: []*corev1.ConfigMap{object("a", "1", 2)}, want: map[string]int{"stale": 1}},
		"wrong UID": {cached: []*corev1.ConfigMap{object("a", "1", 1)}, there: []*corev1.ConfigMap{object("a", "2", 1)}, want: map[string]int{"wrong_uid": 1}},
		"stripped":  {cached: []*corev1.ConfigMap{{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}}}, there: []*corev1.ConfigMap{object("a", "2", 1)}},
		"renamed":   {cached: []*corev1.ConfigMap{object("z", "1", 1)}, there: []*corev1.ConfigMap{object("a", "1", 1)}, want: map[string]int{"missing": 1, "extra": 1}},
		"the key lacks the namespace": {
			key:    byNameOnly,
			cached: []*corev1.ConfigMap{in("one", object("a", "1", 1)), in("two", object("a", "2", 2))},
			there:  []*corev1.ConfigMap{in("one", object("a", "1", 1)), in("two", object("a", "2", 2))},
			want:   map[string]int{"missing": 1, "key_collision": 1},
		},
		"the same under two keys": {
			key:    func(obj any) (string, error) { return obj.(*corev1.ConfigMap).Labels["value"], nil },
			cached: []*corev1.ConfigMap{labeled("a", "x"), labeled("a", "y")},
			there:  []*corev1.ConfigMap{labeled("a", "y")},
			want:   map[string]int{"extra": 1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if c.key == nil {
				c.key = cache.MetaNamespaceKeyFunc
			}
			s := &server{version: "9", objects: c.there}
			r, err := Compare(t.Context(), store(t, c.key, "9", c.cached...), s.list, 1, func(uid types.UID) (string, bool) { key, ok := c.renamed[uid]; return key, ok })
			if err != nil {
				t.Fatal(err)
			}
			got := counts(r.Differences)
			if !maps.Equal(got, c.want) || r.Objects != len(c.there) || r.Requests != max(1, len(c.there)) || r.Version != "9" {
				t.Errorf("%+v: %v, want %v", r, got, c.want)
			}
			for n, o := range s.requests {
				if first := n == 0; (o.ResourceVersion == "9") != first || (o.ResourceVersionMatch == metav1.ResourceVersionMatchExact) != first || (o.Continue == "") != first || o.Limit != 1 {
					t.Errorf("request %d: %+v", n, o)
				}
			}
		})
	}
}

// A list that repeats a page, or that never has a last page, is an error.
func TestEndlessList(t *testing.T) {
	cached := store(t, cache.MetaNamespaceKeyFunc, "7", object("ns", "a", 1))
	for name, next := range map[string]func(int) string{
		"same page": func(int) string { return "again" },
		"new pages": strconv.Itoa,
	} {
		pages := 0
		_, err := Compare(t.Context(), cached, func(context.Context, metav1.ListOptions) (runtime.Object, error) {
			if pages++; pages > 2*maxPages {
				return nil, errors.New("listed forever")
			}
			return &metav1.PartialObjectMetadataList{ListMeta: metav1.ListMeta{ResourceVersion: "7", Continue: next(pages)}}, nil
		}, 500, nil)
		if !errors.Is(err, errEndless) || Skipped(err) {
			t.Errorf("%s: %v after %d pages", name, err, pages)
		}
		if name == "same page" && pages > 2 {
			t.Errorf("%d requests for the same page", pages)
		}
	}
}

func TestCompareThatIsNotPossible(t *testing.T) {
	objects := []*corev1.ConfigMap{object("a", "1", 1), object("b", "2", 2)}
	good := store(t, cache.MetaNamespaceKeyFunc, "9", objects...)
	for name, c := range map[string]struct {
		store   cache.Store
		server  server
		skipped bool
	}{
		"no version":                    {store(t, cache.MetaNamespaceKeyFunc, ""), server{}, true},
		"changing":                      {&restless{Indexer: good}, server{version: "9"}, true},
		"expired":                       {good, server{version: "9", objects: objects, err: apierrors.NewResourceExpired("gone")}, true},
		"expired on page 2":             {good, server{version: "9", objects: objects, failAt: 1, err: apierrors.NewResourceExpired("gone")}, true},
		"not exact":                     {good, server{version: "10", objects: objects}, true},
		"server error":                  {good, server{version: "9", err: apierrors.NewInternalError(errors.New("x"))}, false},
		"an item that is not an object": {cacheOf{"text"}, server{version: "9"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := Compare(t.Context(), c.store, c.server.list, 1, nil)
			if err == nil || r != nil || Skipped(err) != c.skipped {
				t.Errorf("%+v, %v, skipped %t, want %t", r, err, Skipped(err), c.skipped)
			}
		})
	}
}

// restless is a store with a version that changes with each read. Unless change is nil, an object changes after each list.
type restless struct {
	cache.Indexer
	version int
	change  func(version int)
}

func (r *restless) LastStoreSyncResourceVersion() string { r.version++; return strconv.Itoa(r.version) }

func (r *restless) List() []any {
	all := r.Indexer.List()
	if r.change != nil {
		r.version++
		r.change(r.version)
	}
	return all
}

// FuzzCompare damages a cache at random and computes the expected differences.
func FuzzCompare(f *testing.F) {
	f.Add(uint64(1), uint8(20))
	f.Fuzz(func(t *testing.T, seed uint64, n uint8) {
		random := rand.New(rand.NewPCG(seed, 0))
		s := &server{version: "999"}
		want := map[string]int{}
		var cached []*corev1.ConfigMap
		for i := range int(n) {
			o := object(fmt.Sprint(i), fmt.Sprint(i), i+1)
			o.Namespace = fmt.Sprint("ns-", random.IntN(3))
			damage := ""
			switch c := o.DeepCopy(); random.IntN(8) {
			case 0:
				damage = DifferenceMissing
				s.objects = append(s.objects, o)
			case 1:
				damage = DifferenceExtra
				cached = append(cached, c)
			case 2:
				damage = DifferenceStale
				c.ResourceVersion = "0"
				cached, s.objects = append(cached, c), append(s.objects, o)
			case 3:
				damage = DifferenceWrongUID
				c.UID = "other"
				cached, s.objects = append(cached, c), append(s.objects, o)
			default:
				cached, s.objects = append(cached, c), append(s.objects, o)
			}
			if damage != "" {
				want[damage]++
			}
		}
		random.Shuffle(len(s.objects), func(i, j int) { s.objects[i], s.objects[j] = s.objects[j], s.objects[i] })
		r, err := Compare(context.Background(), store(t, cache.MetaNamespaceKeyFunc, "999", cached...), s.list, 7, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := counts(r.Differences); !maps.Equal(got, want) {
			t.Errorf("found %v, want %v", got, want)
		}
	})
}

// indexesDiffer fails the test unless a number of differences is found, and all are of indexes.
func indexesDiffer(t *testing.T, store Indexer, want int) {
	t.Helper()
	d, err := Indexes(store)
	if err != nil || d.Count(DifferenceIndex) != want || d.Len() != want {
		t.Errorf("%d differences, %v, want %d", d.Len(), err, want)
	}
}

// TestIndexes covers P8.
func TestIndexes(t *testing.T) {
	a, b := object("a", "1", 1), object("b", "2", 2)
	a.Labels, b.Labels = map[string]string{"value": "x"}, map[string]string{"value": "y"}
	i := store(t, cache.MetaNamespaceKeyFunc, "9", a, b)
	check := func(want int) { t.Helper(); indexesDiffer(t, i, want) }
	check(0)
	a.Labels["value"] = "y" // what a consumer must not do: the index still has a under x, and not under y
	check(2)
	a.Labels["value"] = "new"
	check(2)
	a.Labels["value"], b.Labels["value"] = "y", "x" // as many under each value as before, and all of them wrong
	check(4)
	a.Labels["value"], b.Labels["value"] = "x", "y"
	check(0)
	if err := i.Delete(a); err != nil {
		t.Fatal(err)
	}
	check(0)
	if err := i.AddIndexers(cache.Indexers{"more": func(any) ([]string, error) { return nil, nil }}); err != nil {
		t.Fatal(err)
	}
	check(0)
}

// Differences of an index are found although the store changes all the time, and changes are none.
func TestIndexesOfABusyStore(t *testing.T) {
	wrong, busy := object("wrong", "1", 1), object("busy", "2", 2)
	wrong.Labels, busy.Labels = map[string]string{"value": "x"}, map[string]string{"value": "x"}
	i := store(t, cache.MetaNamespaceKeyFunc, "9", wrong, busy)
	changing := &restless{Indexer: i, change: func(version int) {
		next := object("busy", "2", version)
		next.Labels = map[string]string{"value": []string{"x", "y"}[version%2]}
		if err := i.Update(next); err != nil {
			t.Error(err)
		}
	}}
	check := func(want int) { t.Helper(); indexesDiffer(t, changing, want) }
	check(0)
	wrong.Labels["value"] = "z"
	check(2)
	wrong.Labels["value"] = "x"
	check(0)
}

// TestIndexFunctionFails covers P8: an object for which an index function fails is in no entry of the index, although client-go stores
// it. It is a difference, the same in each audit, until the object is deleted or the function succeeds.
func TestIndexFunctionFails(t *testing.T) {
	for name, fail := range map[string]func() ([]string, error){
		"error": func() ([]string, error) { return nil, errors.New("broken index function") },
		"panic": func() ([]string, error) { panic("broken index function") },
	} {
		t.Run(name, func(t *testing.T) {
			i := store(t, cache.MetaNamespaceKeyFunc, "9", object("fine", "1", 1))
			broken := object("broken", "2", 2)
			if err := i.AddIndexers(cache.Indexers{"x": func(obj any) ([]string, error) {
				if obj == any(broken) {
					return fail()
				}
				return []string{"y"}, nil
			}}); err != nil {
				t.Fatal(err)
			}
			found := func() *Differences {
				t.Helper()
				d, err := Indexes(i)
				if err != nil {
					t.Fatal(err)
				}
				return d
			}
			if n := found().Len(); n != 0 {
				t.Errorf("%d differences without the object", n)
			}
			func() {
				defer func() { _ = recover() }() // client-go panics once the object is stored
				_ = i.Add(broken)
			}()
			first, second := found(), found()
			want := Difference{Type: DifferenceIndex, Namespace: broken.Namespace, Name: broken.Name, Index: "x"}
			// client-go updates indexes in no particular order: it may panic before the object is in the others.
			if both := second.Both(first); both[DifferenceIndex] != second.Len() || !slices.Contains(second.Examples(second.Len(), first), want) {
				t.Errorf("%d differences, both %v, such as %v", second.Len(), both, second.Examples(second.Len(), first))
			}
		})
	}
}

func TestDifferences(t *testing.T) {
	gone := func(name string) Difference { return Difference{Type: DifferenceMissing, Name: name} }
	first, second := NewDifferences(), NewDifferences()
	first.Add(gone("a"))
	first.Add(gone("b"))
	second.Add(gone("b"))
	second.Add(gone("c"))
	second.AddN(Difference{Type: DifferenceIndex, Index: "i", Value: "v"}, 3)
	if both := second.Both(first); both[DifferenceMissing] != 1 || both[DifferenceIndex] != 0 {
		t.Errorf("both: %v", both)
	}
	if n := second.New(DifferenceMissing, first); n != 1 {
		t.Errorf("%d are new", n)
	}
	if examples := second.Examples(5, first); len(examples) != 1 || examples[0] != gone("b") {
		t.Errorf("examples: %v", examples)
	}
	first.Merge(second)
	if first.Count(DifferenceMissing) != 4 || first.Len() != 7 {
		t.Errorf("merged: %d, %d", first.Count(DifferenceMissing), first.Len())
	}
	// Differences beyond those remembered are compared by their number.
	many, more := NewDifferences(), NewDifferences()
	for n := range maxRemembered + 10 {
		many.Add(gone(fmt.Sprint(n)))
		if n > 0 {
			more.Add(gone(fmt.Sprint(n)))
		}
	}
	if both := many.Both(more); both[DifferenceMissing] != maxRemembered+8 && both[DifferenceMissing] != maxRemembered+9 {
		t.Errorf("both: %v", both)
	}
	if len(many.remembered[DifferenceMissing]) != maxRemembered {
		t.Errorf("%d are remembered", len(many.remembered[DifferenceMissing]))
	}
}

// BenchmarkAudit shows the CPU time and the memory of an audit of 100,000 objects without the list itself.
func BenchmarkAudit(b *testing.B) {
	const n = 100_000
	s := &server{version: "9"}
	for i := range n {
		s.objects = append(s.objects, object(fmt.Sprint("object-", i), fmt.Sprint(i), i+1))
	}
	i := store(b, cache.MetaNamespaceKeyFunc, "9", s.objects...)
	b.Run("snapshot", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := Take(i); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("compare", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			s.requests = nil
			if r, err := Compare(b.Context(), i, s.list, 500, nil); err != nil || r.Differences.Len() != 0 || r.Requests != n/500 {
				b.Fatal(r, err)
			}
		}
	})
	b.Run("indexes", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if d, err := Indexes(i); err != nil || d.Len() != 0 {
				b.Fatal(d, err)
			}
		}
	})
}
