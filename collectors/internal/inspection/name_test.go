package inspection

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

// Items are named by namespace and name, and never by the contents of an object.
func TestName(t *testing.T) {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "tls"}, StringData: map[string]string{"key": "hidden"}}
	type key struct {
		Cluster string
		types.NamespacedName
	}
	for want, item := range map[string]any{
		"shop/web":                  "shop/web",
		"shop/key":                  types.NamespacedName{Namespace: "shop", Name: "key"},
		"shop/explicit":             cache.ExplicitKey("shop/explicit"),
		"shop/name":                 cache.NewObjectName("shop", "name"),
		"shop/embedded":             key{"eu", types.NamespacedName{Namespace: "shop", Name: "embedded"}},
		"shop/tls":                  secret,
		"node":                      &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node"}},
		"7":                         7,
		"<nil>":                     nil,
		"*v1.Secret":                (*corev1.Secret)(nil),
		"struct { O interface {} }": struct{ O any }{secret},
		"struct { S *v1.Secret }":   struct{ S *corev1.Secret }{secret},
		"*string":                   new(string),
		"[a b]":                     [2]string{"a", "b"},
	} {
		if got := Name(item); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := Name(strings.Repeat("x", 511) + "é\xff"); got != strings.Repeat("x", 511) {
		t.Errorf("%d bytes: %q", len(got), got)
	}
}
