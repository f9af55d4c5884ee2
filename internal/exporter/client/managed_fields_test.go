package client

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Lists ask for no managedFields in each format that they accept. Watches and single objects, of which the times are read, do not.
func TestManagedFieldsAreNotListed(t *testing.T) {
	var s server
	objects := connectTo(t, s.answer(`{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"9"}}`)).Metadata.Resource(pods).Namespace("shop")
	if _, err := objects.List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	w, err := objects.Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w.Stop()
	_, _ = objects.Get(t.Context(), "a", metav1.GetOptions{}) // the answer is a list
	requests := s.take()
	if len(requests) != 3 {
		t.Fatalf("%d requests, want 3", len(requests))
	}
	for i, r := range requests {
		for format := range strings.SplitSeq(r.Header.Get("Accept"), ",") {
			// The API server knows the parameters only next to the conversion: a plain format has no further ones.
			if drops := strings.Contains(format, "drop=metadata.managedFields"); drops != (i == 0 && strings.Contains(format, "as=")) {
				t.Errorf("request %d, %s: drops managedFields: %v", i, format, drops)
			}
		}
	}
	if !strings.Contains(requests[0].Header.Get("Accept"), "drop=") {
		t.Errorf("the list accepts %s", requests[0].Header.Get("Accept"))
	}
}
