package audit

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/cache"
)

func podWith(name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, ResourceVersion: "1", Labels: map[string]string{"a": "1", "b": "2"}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name:      "c",
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("0.1")}},
		}}},
	}
}

// TestSampler covers P7: in-place changes of any field are detected once each. Updates by client-go and reads are not
// mutations.
func TestSampler(t *testing.T) {
	i := cache.NewIndexer(cache.MetaNamespaceKeyFunc, nil)
	p := podWith("p")
	u := &unstructured.Unstructured{Object: map[string]any{
		"kind": "K", "apiVersion": "v1", "metadata": map[string]any{"name": "u", "resourceVersion": "1"}, "spec": map[string]any{"x": int64(1)},
	}}
	add := func(objects ...any) {
		t.Helper()
		for _, o := range objects {
			if err := i.Add(o); err != nil {
				t.Fatal(err)
			}
		}
	}
	add(p, u)
	s := &Sampler{PerRound: 20}
	round := func(want ...string) {
		t.Helper()
		var got []string
		for _, m := range s.Round(i) {
			got = append(got, m.Key)
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("changed: %v, want %v", got, want)
		}
	}
	for len(s.samples) < 2 { // chosen at random
		round()
	}
	round()
	p.Labels["a"] = "changed"
	round("default/p")
	round()
	p.Spec.Containers[0].Image = "x"
	round("default/p")
	u.Object["spec"].(map[string]any)["x"] = int64(2)
	round("/u")
	q := p.Spec.Containers[0].Resources.Requests["cpu"]
	_ = q.String()
	_ = p.DeepCopy()
	round()
	p.ResourceVersion = "2"
	round("default/p")

	// An update is another object. So is the result of a relist, even at the same version.
	n := p.DeepCopy()
	n.Labels["a"], n.ResourceVersion = "new", "3"
	add(n)
	round()
	again := n.DeepCopy()
	again.Labels["a"] = "by a Transform"
	add(again)
	round()
	if err := i.Delete(again); err != nil {
		t.Fatal(err)
	}
	round()
	again.Labels["a"] = "changed after its deletion"
	round()
}

func TestSamplerIsBounded(t *testing.T) {
	i := cache.NewIndexer(cache.MetaNamespaceKeyFunc, nil)
	for n := range 1000 {
		if err := i.Add(podWith(fmt.Sprint(n))); err != nil {
			t.Fatal(err)
		}
	}
	s := &Sampler{PerRound: 3}
	for range 50 {
		if mutated := s.Round(i); len(mutated) > 0 {
			t.Fatalf("changed: %v", mutated)
		}
		if len(s.samples) > 30 {
			t.Fatalf("%d samples", len(s.samples))
		}
	}
	if len(s.samples) < 25 {
		t.Errorf("only %d samples", len(s.samples))
	}
	if mutated := (&Sampler{PerRound: 3}).Round(cacheOf{"text", podWith}); len(mutated) > 0 {
		t.Errorf("an item that is not an object was sampled: %v", mutated)
	}
}

// cacheOf is a store of unusual objects.
type cacheOf []any

func (c cacheOf) List() []any                          { return c }
func (c cacheOf) LastStoreSyncResourceVersion() string { return "9" }
func (cacheOf) Add(any) error                          { return nil }
func (cacheOf) Update(any) error                       { return nil }
func (cacheOf) Delete(any) error                       { return nil }
func (cacheOf) ListKeys() []string                     { return nil }
func (cacheOf) Bookmark(string)                        {}
func (cacheOf) Get(any) (any, bool, error)             { return nil, false, nil }
func (cacheOf) GetByKey(string) (any, bool, error)     { return nil, false, nil }
func (cacheOf) Replace([]any, string) error            { return nil }
func (cacheOf) Resync() error                          { return nil }

func BenchmarkSampler(b *testing.B) {
	i := cache.NewIndexer(cache.MetaNamespaceKeyFunc, nil)
	for n := range 100_000 {
		if err := i.Add(podWith(fmt.Sprint(n))); err != nil {
			b.Fatal(err)
		}
	}
	s := &Sampler{PerRound: 10}
	b.ReportAllocs()
	for b.Loop() {
		s.Round(i)
	}
}

// Objects that cannot be sampled are skipped: those that are not pointers, have no metadata or cannot be encoded.
func TestSamplerSkips(t *testing.T) {
	type unencodable struct {
		metav1.PartialObjectMetadata
		Channel chan int
	}
	i := cache.NewIndexer(func(object any) (string, error) { return fmt.Sprintf("%T", object), nil }, nil)
	odd := &unencodable{Channel: make(chan int)}
	for _, object := range []any{odd, "text", new(int)} {
		if err := i.Add(object); err != nil {
			t.Fatal(err)
		}
	}
	s := &Sampler{PerRound: 20}
	for range 50 { // chosen at random
		if found := s.Round(i); len(found) > 0 || len(s.samples) > 0 {
			t.Fatalf("mutations %v and samples %v of objects that cannot be sampled", found, s.samples)
		}
		odd.Labels = map[string]string{"a": "changed"}
	}
}
