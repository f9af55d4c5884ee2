package client

import (
	"bytes"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
)

// metaCodec reads and writes metadata in protobuf, as the API server does.
var metaCodec = func() runtime.Serializer {
	scheme := runtime.NewScheme()
	if err := metav1.AddMetaToScheme(scheme); err != nil {
		panic(err)
	}
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	return protobuf.NewSerializer(scheme, scheme)
}()

// fullMeta returns metadata with all fields, and the same metadata with only the fields that are read.
func fullMeta(annotation string) (full, reduced metav1.ObjectMeta) {
	when, grace := metav1.NewTime(time.Unix(1_700_000_000, 0)), int64(30)
	long := strings.Repeat("x", 300) // so long that pruning shortens two-byte lengths of the messages around it
	full = metav1.ObjectMeta{
		Name: "a", GenerateName: "a-", Namespace: "b", UID: "c", ResourceVersion: "7", Generation: 3,
		CreationTimestamp: when, DeletionTimestamp: &when, DeletionGracePeriodSeconds: &grace,
		Labels: map[string]string{"l": long}, Annotations: map[string]string{annotation: "true"},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: long, UID: "d"}},
		Finalizers:      []string{"e", "f"},
		ManagedFields: []metav1.ManagedFieldsEntry{
			{Manager: "m", Operation: "Update", APIVersion: "v1", Time: &when, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:a":"` + long + `"}`), Subresource: "status"},
			{Manager: long},
		},
	}
	reduced = full
	reduced.GenerateName, reduced.Labels, reduced.OwnerReferences = "", nil, nil
	reduced.ManagedFields = []metav1.ManagedFieldsEntry{{Time: &when, Subresource: "status"}, {}}
	if annotation != metav1.InitialEventsAnnotationKey {
		reduced.Annotations = nil
	}
	return full, reduced
}

func encoded(t testing.TB, object runtime.Object) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := metaCodec.Encode(object, &b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// prune returns what a filter keeps of a response, or of the events of a watch.
func prune(c *content, protobuf, watching bool, sent []byte) ([]byte, error) {
	return io.ReadAll(newFilteredBody(io.NopCloser(bytes.NewReader(sent)), c, protobuf, watching))
}

// Pruned objects decode to the same values without the unread fields.
func TestPruneMetadata(t *testing.T) {
	full, reduced := fullMeta("kubectl.kubernetes.io/last-applied-configuration")
	bookmark, reducedBookmark := fullMeta(metav1.InitialEventsAnnotationKey)
	object, list := metav1.SchemeGroupVersion.WithKind("PartialObjectMetadata"), metav1.SchemeGroupVersion.WithKind("PartialObjectMetadataList")
	remaining := int64(5)
	ends := metav1.ListMeta{ResourceVersion: "9", Continue: "next", RemainingItemCount: &remaining}
	for _, tc := range []struct {
		name       string
		sent, want runtime.Object
		kind       schema.GroupVersionKind
	}{
		{"an object", &metav1.PartialObjectMetadata{ObjectMeta: full}, &metav1.PartialObjectMetadata{ObjectMeta: reduced}, object},
		{"the end of a streaming list", &metav1.PartialObjectMetadata{ObjectMeta: bookmark}, &metav1.PartialObjectMetadata{ObjectMeta: reducedBookmark}, object},
		{
			"a page",
			&metav1.PartialObjectMetadataList{ListMeta: ends, Items: []metav1.PartialObjectMetadata{{ObjectMeta: full}, {}, {ObjectMeta: full}}},
			&metav1.PartialObjectMetadataList{ListMeta: ends, Items: []metav1.PartialObjectMetadata{{ObjectMeta: reduced}, {}, {ObjectMeta: reduced}}},
			list,
		},
		{
			"an error",
			&metav1.Status{Status: "Failure", Message: "gone", Reason: "Expired", Code: 410, Details: &metav1.StatusDetails{Name: "a", Kind: "b"}},
			&metav1.Status{Status: "Failure", Message: "gone", Reason: "Expired", Code: 410, Details: &metav1.StatusDetails{Name: "a", Kind: "b"}},
			schema.GroupVersionKind{Version: "v1", Kind: "Status"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.sent.GetObjectKind().SetGroupVersionKind(tc.kind)
			pruned, err := prune(metadataContent, true, false, encoded(t, tc.sent))
			if err != nil {
				t.Fatal(err)
			}
			got, _, err := metaCodec.Decode(pruned, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			want, _, err := metaCodec.Decode(encoded(t, withKind(tc.want, tc.kind)), nil, nil) // converts times to local time, too
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got\n%+v\nwant\n%+v", got, want)
			}
		})
	}
}

func withKind(object runtime.Object, kind schema.GroupVersionKind) runtime.Object {
	object.GetObjectKind().SetGroupVersionKind(kind)
	return object
}

// Invalid data is an error, not another object.
func TestPruneBroken(t *testing.T) {
	full, _ := fullMeta("a")
	object := withKind(&metav1.PartialObjectMetadata{ObjectMeta: full}, metav1.SchemeGroupVersion.WithKind("PartialObjectMetadata"))
	whole := encoded(t, object)
	refused := 0
	for cut := range whole {
		_, _, broken := metaCodec.Decode(whole[:cut], nil, nil)
		pruned, err := prune(metadataContent, true, false, whole[:cut])
		if err == nil {
			_, _, err = metaCodec.Decode(pruned, nil, nil)
		}
		if (err == nil) != (broken == nil) {
			t.Fatalf("%d bytes of %d become %x, %v; unpruned the error is %v", cut, len(whole), pruned, err, broken)
		}
		if err != nil {
			refused++
		}
	}
	if refused < len(whole)-10 {
		t.Errorf("only %d of %d cuts are broken", refused, len(whole))
	}
}

// FuzzPrune compares the metadata that is read before and after pruning. No bytes may cause a panic, even if an API server never
// sends them.
func FuzzPrune(f *testing.F) {
	full, _ := fullMeta("a")
	f.Add(encoded(f, withKind(&metav1.PartialObjectMetadataList{Items: []metav1.PartialObjectMetadata{{ObjectMeta: full}}}, metav1.SchemeGroupVersion.WithKind("PartialObjectMetadataList"))))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, _ = prune(metadataContent, true, true, data)
		_, _ = prune(leaseContent, true, false, data)
		got, err := prune(metadataContent, true, false, data)
		if err == nil && len(got) > len(data) {
			t.Errorf("%x became %x", data, got)
		}
		sent, _, broken := metaCodec.Decode(data, nil, nil)
		if broken != nil || err != nil {
			return
		}
		read, _, err := metaCodec.Decode(got, nil, nil)
		if err != nil {
			t.Fatalf("%x became %x: %v", data, got, err)
		}
		if want, have := kept(sent), kept(read); !reflect.DeepEqual(have, want) {
			t.Errorf("%x became %x: %+v, want %+v", data, got, have, want)
		}
	})
}

// kept returns the metadata that the exporter reads, of each object in object.
func kept(object runtime.Object) (all []metav1.ObjectMeta) {
	one := func(m *metav1.ObjectMeta) {
		all = append(all, metav1.ObjectMeta{
			Name: m.Name, Namespace: m.Namespace, UID: m.UID, ResourceVersion: m.ResourceVersion, Generation: m.Generation,
			CreationTimestamp: m.CreationTimestamp, DeletionTimestamp: m.DeletionTimestamp, Finalizers: m.Finalizers[:min(len(m.Finalizers), keptFinalizers)],
		})
	}
	switch o := object.(type) {
	case *metav1.PartialObjectMetadata:
		one(&o.ObjectMeta)
	case *metav1.PartialObjectMetadataList:
		for i := range o.Items {
			one(&o.Items[i].ObjectMeta)
		}
	}
	return all
}
