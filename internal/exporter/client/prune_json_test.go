package client

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
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
		{"another type of the field", `{"kind":"Thing","status":{"observedGeneration":"two"},"spec":-1.5e3}` + "\n", `{"kind":"Thing","status":{"observedGeneration":"two"}}` + "\n"},
		{"white space", "\n{ \"kind\" : \"Thing\" ,\t\"spec\" : [ 1 , 2 ] , \"status\" : { \"a\" : true } }", `{"kind" : "Thing","status" :{}}`},
		{"escaped backslashes at the end", `{"spec":"\\","status":{"observedGeneration":2},"a\\":"\\\"","kind":"Thing"}`, `{"status":{"observedGeneration":2},"kind":"Thing"}`},
		{"no object", `k8s`, `k8s`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := pruneWhole([]byte(tc.sent))
			if err != nil || string(got) != tc.want {
				t.Errorf("got\n%s, %v, want\n%s", got, err, tc.want)
			}
		})
	}
	for _, broken := range []string{`{`, `{"spec":{"a":1}`, `{"spec":"a`, `{"spec" 1}`, `{"a":1 "b":2}`, `{"items":[1 2]}`, `{"spec":"\"}`} {
		if got, err := pruneWhole([]byte(broken)); err == nil && json.Valid(got) {
			t.Errorf("%s became %s", broken, got)
		}
	}
}

// FuzzPruneWhole compares the fields that are read before and after pruning: a valid object stays valid, with the same
// values.
func FuzzPruneWhole(f *testing.F) {
	f.Add([]byte(`{"apiVersion":"v1","kind":"a","metadata":{"name":"b","generation":1,"labels":{}},"spec":{"x":["\\\"",{}]},"status":{"observedGeneration":1,"y":[1]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var before, after unstructured.Unstructured
		if err := json.Unmarshal(data, &before.Object); err != nil || strings.Contains(string(data), `\u`) || !json.Valid(data) {
			_, _ = pruneWhole(data) // which must not panic
			return
		}
		pruned, err := pruneWhole(data)
		if err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		if before.Object == nil {
			return
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
		if _, err := pruneWhole([]byte(before + deep)); err == nil {
			t.Errorf("%s[[[... is accepted", before)
		}
	}
}
