package client

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/informer-exporter/informer-exporter/internal/bounded"
)

func TestPruneWhole(t *testing.T) {
	const bookmark = `{"kind":"Thing","apiVersion":"example.com/v1","metadata":{"annotations":{"k8s.io/initial-events-end":"true"},"resourceVersion":"7"}}`
	for _, tc := range []struct{ name, sent, want string }{
		{
			"an object",
			`{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"annotations":{"a":"b"},"finalizers":["f"],"generation":3,"labels":{"l":"1"},` +
				`"managedFields":[{"manager":"m","fieldsV1":{"f:spec":{}}}],"name":"a","ownerReferences":[{"name":"o"}],"uid":"u"},` +
				`"spec":{"text":"}\"]\\","list":[[1,2],{"a":null}]},"status":{"conditions":[{"observedGeneration":9}],"observedGeneration":2,"ready":true}}`,
			`{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"finalizers":["f"],"generation":3,"name":"a","uid":"u"},"status":{"observedGeneration":2}}`,
		},
		{"a list", `{"kind":"ThingList","apiVersion":"v1","metadata":{"continue":"c"},"items":[{"spec":1,"metadata":{"name":"a"}},{"metadata":{"name":"b"},"spec":{}}]}`,
			`{"kind":"ThingList","apiVersion":"v1","metadata":{"continue":"c"},"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]}`},
		{"an empty list", `{"kind":"ThingList","items":[ ]}`, `{"kind":"ThingList","items":[]}`},
		{"the end of a streaming list", bookmark, bookmark},
		{"an error", `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"gone","reason":"Expired","details":{"retryAfterSeconds":3},"code":410}`,
			`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"gone","reason":"Expired","details":{"retryAfterSeconds":3},"code":410}`},
		{"another type of the field", `{"kind":"Thing","status":{"observedGeneration":"two"},"spec":-1.5e3}` + "\n", `{"kind":"Thing","status":{"observedGeneration":"two"}}`},
		{"white space", "\n{ \"kind\" : \"Thing\" ,\t\"spec\" : [ 1 , 2 ] , \"status\" : { \"a\" : true } }", `{"kind":"Thing","status":{}}`},
		{"escaped backslashes at the end", `{"spec":"\\","status":{"observedGeneration":2},"a\\":"\\\"","kind":"Thing"}`, `{"status":{"observedGeneration":2},"kind":"Thing"}`},
		{"texts instead of objects", `{"metadata":"a","status":[{"observedGeneration":[1]}],"items":2}`, `{"metadata":"a","status":[{"observedGeneration":[]}],"items":2}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := prune(wholeContent, false, false, []byte(tc.sent))
			if err != nil || strings.TrimSuffix(string(got), "\n") != tc.want {
				t.Errorf("got\n%s, %v, want\n%s", got, err, tc.want)
			}
		})
	}
	for _, broken := range []string{`{`, `{"spec":{"a":1}`, `{"spec":"a`, `{"spec" 1}`, `{"a":1 "b":2}`, `{"items":[1 2]}`, `{"spec":"\"}`, `k8s`, `[]`, `{} {}`, "\x00", "{\x00", "{}\x00"} {
		if got, err := prune(wholeContent, false, false, []byte(broken)); err == nil {
			t.Errorf("%s became %s", broken, got)
		}
	}
}

// FuzzPruneWhole compares the fields that are read before and after pruning: a valid object stays valid, with the same
// values.
func FuzzPruneWhole(f *testing.F) {
	f.Add([]byte(`{"apiVersion":"v1","kind":"a","metadata":{"name":"b","generation":1,"labels":{}},"spec":{"x":["\\\"",{}]},"status":{"observedGeneration":1,"y":[1]}}`))
	f.Add([]byte("{\x00")) // not the end
	f.Fuzz(func(t *testing.T, data []byte) {
		var before, after unstructured.Unstructured
		if err := json.Unmarshal(data, &before.Object); err != nil || strings.Contains(string(data), `\u`) || !json.Valid(data) {
			_, _ = prune(wholeContent, false, true, data) // which must not panic
			return
		}
		if before.Object == nil {
			return
		}
		pruned, err := prune(wholeContent, false, false, data)
		if err != nil {
			if errors.Is(err, bounded.ErrTooLarge) || len(data) > 64 { // numbers of any length
				return
			}
			t.Fatalf("%s: %v", data, err)
		}
		if err := json.Unmarshal(pruned, &after.Object); err != nil {
			t.Fatalf("%s became %s: %v", data, pruned, err)
		}
		for _, path := range [][]string{
			{"kind"}, {"metadata", "name"}, {"metadata", "generation"}, {"metadata", "finalizers"}, {"status", "observedGeneration"},
		} {
			want, _, errBefore := unstructured.NestedFieldNoCopy(before.Object, path...)
			got, _, errAfter := unstructured.NestedFieldNoCopy(after.Object, path...)
			if !reflect.DeepEqual(got, want) && (errBefore == nil) == (errAfter == nil) {
				t.Errorf("%s became %s: %v is %v, was %v", data, pruned, path, got, want)
			}
		}
	})
}

// Values that are nested too deeply are rejected, wherever they are, instead of exhausting the stack.
func TestDeepNesting(t *testing.T) {
	deep := strings.Repeat("[", 20_000_000)
	for _, before := range []string{`{"items":`, `{"metadata":`, `{"status":`, `{"items":[{"metadata":`} {
		if _, err := prune(wholeContent, false, false, []byte(before+deep)); err == nil {
			t.Errorf("%s[[[... is accepted", before)
		}
	}
}
