package inspection

import (
	"fmt"
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// maxName is the most bytes of a name: a namespace and a name have at most 317.
const maxName = 512

// Name returns the name of an item of a work queue, for logs and for package inspect: namespace/name for an object and for the usual
// keys. It never returns the contents of an object, which may be a Secret: an item of a type that may refer to one is named by its type.
func Name(item any) string {
	name := ""
	switch i := item.(type) {
	case string:
		name = i
	case metav1.Object:
		name = fmt.Sprintf("%T", item)
		if v := reflect.ValueOf(item); v.Kind() != reflect.Pointer || !v.IsNil() {
			name = strings.TrimPrefix(i.GetNamespace()+"/"+i.GetName(), "/")
		}
	default:
		if t := reflect.TypeOf(item); t != nil && isPlain(t) {
			name = fmt.Sprint(item)
		} else {
			name = fmt.Sprintf("%T", item)
		}
	}
	return strings.ToValidUTF8(name[:min(len(name), maxName)], "")
}

// isPlain reports whether a value of the type has only numbers and texts.
func isPlain(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			if !isPlain(t.Field(i).Type) {
				return false
			}
		}
		return true
	case reflect.Array:
		return isPlain(t.Elem())
	default:
		return t.Kind() <= reflect.Complex128 && t.Kind() != reflect.Invalid || t.Kind() == reflect.String
	}
}
