package objects

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/informer-exporter/informer-exporter/internal/bounded"
)

// largest returns metadata with every field that a tenant can write, each of a megabyte.
func largest(i int) metav1.ObjectMeta {
	now, text := metav1.Now(), func(s string) string { return strings.Repeat(s, 1<<20) }
	m := metav1.ObjectMeta{
		Namespace: text("n"), Name: fmt.Sprint(i) + text("a"), GenerateName: text("g"), UID: types.UID(text("u")), ResourceVersion: text("7"),
		DeletionTimestamp: &now, Labels: map[string]string{"a": text("b"), apiServerLabel: text("i")}, Annotations: map[string]string{"a": text("b")},
		OwnerReferences: []metav1.OwnerReference{{Name: text("o")}}, ManagedFields: []metav1.ManagedFieldsEntry{{Manager: text("m")}},
	}
	for f := range 5000 {
		m.Finalizers = append(m.Finalizers, fmt.Sprintf("example.com/%0200d", f))
	}
	m.Finalizers[0] = text("f")
	return m
}

// What is kept of an object has a limit regardless of what a tenant writes, even if a handler gets the object without the Transform.
func TestKeptMemory(t *testing.T) {
	const objects, most = 20, 20 * 32 << 10
	lease := func(i int) *coordinationv1.Lease {
		holder := strings.Repeat("h", 1<<20)
		return &coordinationv1.Lease{ObjectMeta: largest(i), Spec: coordinationv1.LeaseSpec{
			HolderIdentity: &holder, PreferredHolder: &holder, Strategy: (*coordinationv1.CoordinatedLeaseStrategy)(&holder),
		}}
	}
	transformed := map[string]func(int) any{
		"metadata": func(i int) any { return &metav1.PartialObjectMetadata{ObjectMeta: largest(i)} },
		"a whole object": func(i int) any {
			m := largest(i)
			content, err := k8sruntime.DefaultUnstructuredConverter.ToUnstructured(&m)
			if err != nil {
				t.Fatal(err)
			}
			return &unstructured.Unstructured{Object: map[string]any{"metadata": content}}
		},
		"a Lease": func(i int) any { return lease(i) },
	}
	for name, create := range transformed {
		kept := keptBy(func() any {
			var all []any
			for i := range objects {
				object, err := Transform(create(i))
				if err != nil {
					t.Fatal(err)
				}
				again, err := Transform(object)
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, again)
			}
			return all
		})
		if kept > most {
			t.Errorf("%s: %d KiB", name, kept>>10)
		}
	}
	c := newFixture(t, Options{})
	handler, leases := c.NewHandler("configmaps"), c.NewLeaseHandler(nil)
	defer handler.Close()
	defer leases.Close()
	kept := keptBy(func() any {
		for i := range objects {
			m := largest(i)
			m.Namespace, m.Name, m.UID = "a", fmt.Sprint(i), types.UID(fmt.Sprint(i)) // as the API server limits them
			handler.OnAdd(&metav1.PartialObjectMetadata{ObjectMeta: m}, false)
			l := lease(i)
			l.Namespace, l.Name, l.UID = m.Namespace, m.Name, m.UID
			leases.OnAdd(l, false)
		}
		return nil
	})
	if kept > 2*most {
		t.Errorf("handlers: %d KiB", kept>>10)
	}
}

// A takeover by another holder is a renewal, even if the identities differ only after the part that is reported.
func TestLongHoldersDiffer(t *testing.T) {
	holders := map[string]bool{}
	for _, end := range []string{"", "a", "b"} {
		holder := strings.Repeat("h", 1<<20) + end
		object, err := Transform(&coordinationv1.Lease{Spec: coordinationv1.LeaseSpec{HolderIdentity: &holder}})
		if err != nil {
			t.Fatal(err)
		}
		holders[recordOf(object.(*coordinationv1.Lease)).holder] = true
	}
	if len(holders) != 3 {
		t.Errorf("%d of 3 holders", len(holders))
	}
}

// measuring calls f when everything before it has been read.
type measuring func()

func (f measuring) Read([]byte) (int, error) {
	f()
	return 0, io.EOF
}

// A document of any content is read with limited memory. What does not matter is not kept.
func TestDocumentsAreBounded(t *testing.T) {
	const most = 2 << 20
	type document func(io.Reader) error
	described := func(r io.Reader) error {
		_, err := readDocument(r)
		return err
	}
	index := func(r io.Reader) error {
		_, err := readIndex(r, "")
		return err
	}
	for name, c := range map[string]struct {
		read              document
		before, part, end string
		fails             bool
	}{
		"schemas that do not matter": {described, `{"components":{"schemas":{"a":{}`, `,"a":{"properties":{"b":{"type":"string"}}}`, "}}}", false},
		"a large schema":             {described, `{"components":{"schemas":{"a":{"properties":{"a":{}`, `,"a":{}`, "}}}}}", true},
		"empty paths":                {described, `{"paths":{"":{}`, `,"":{}`, "}}", false},
		"a text":                     {described, `{"components":{"schemas":{"`, "x", `":{}}}}`, true},
		"white space":                {described, ``, " ", `{}`, true},
		"kinds":                      {described, `{"components":{"schemas":{"a":{"x-kubernetes-group-version-kind":[{}`, ",{}", `]}}}}`, true},
		"nesting":                    {described, `{"components":`, `{"schemas":`, `1`, true},
		"brackets":                   {described, `{"a":`, `[`, `1`, true},
		"an index of one document":   {index, `{"paths":{"a":{}`, `,"a":{}`, "}}", true},
		"references":                 {described, `{"components":{"schemas":{"a":{"properties":{"status":{"allOf":[{}`, `,{"$ref":"a"}`, `]}}}}}}`, true},
	} {
		size := 4 << 20
		if c.fails {
			size = bounded.MaxObject + 1<<20
		}
		part := strings.NewReader(strings.Repeat(c.part, size/len(c.part)))
		before, grown := heapBytes(), int64(0)
		err := c.read(io.MultiReader(strings.NewReader(c.before), part, measuring(func() { grown = heapBytes() - before }), strings.NewReader(c.end)))
		runtime.KeepAlive(part)
		if grown > most {
			t.Errorf("%s: %d MiB are kept", name, grown>>20)
		}
		if (err != nil) != c.fails {
			t.Errorf("%s: %v", name, err)
		}
	}
	many := func(format string) string {
		var parts []string
		for i := range maxSchemas + 1 {
			parts = append(parts, strings.ReplaceAll(format, "NUMBER", fmt.Sprint(i)))
		}
		return strings.Join(parts, ",")
	}
	for name, err := range map[string]error{
		"paths":   described(strings.NewReader(`{"paths":{` + many(`"/NUMBER":{"get":{"x-kubernetes-action":"list"}}`) + "}}")),
		"schemas": described(strings.NewReader(`{"components":{"schemas":{` + many(`"NUMBER":{"properties":{"observedGeneration":{"type":"integer"}}}`) + "}}}")),
		"status":  described(strings.NewReader(`{"components":{"schemas":{` + many(`"NUMBER":{"x-kubernetes-group-version-kind":[{"kind":"NUMBER"}],"properties":{"status":{}}}`) + "}}}")),
		"index":   index(strings.NewReader(`{"paths":{` + many(`"NUMBER":{"serverRelativeURL":"/NUMBER"}`) + "}}")),
	} {
		if err == nil {
			t.Errorf("%s: %d are accepted", name, maxSchemas+1)
		}
	}
}

// A document of the largest size is read. The error of a larger one says that it is too large.
func TestLargeDocument(t *testing.T) {
	for size, want := range map[int64]error{maxDocument: io.EOF, maxDocument + 1: bounded.ErrTooLarge, maxDocument + 100: bounded.ErrTooLarge} {
		d := newDocument(io.LimitReader(zeros{}, size))
		read := 0
		for part := d.Buffered(); len(part) > 0; part = d.Buffered() {
			read += len(part)
			d.Consume(len(part))
			d.Mark()
		}
		if !errors.Is(d.Err(), want) || read < maxDocument {
			t.Errorf("%d bytes: error %v after %d, want %v", size, d.Err(), read, want)
		}
	}
}

// zeros is a reader without an end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// heapBytes returns the size of the heap after garbage collections.
func heapBytes() int64 {
	runtime.GC()
	runtime.GC() // also empties pools
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// keptBy returns how much the heap grows by the values that f returns or keeps.
func keptBy(f func() any) int64 {
	before := heapBytes()
	kept := f()
	after := heapBytes()
	runtime.KeepAlive(kept)
	return after - before
}
