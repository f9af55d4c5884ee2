package causes

import (
	"reflect"
	"strings"
)

// objectOf returns the namespace and the name that an item refers to: a key of cache.MetaNamespaceKeyFunc, or a struct with
// fields Namespace and Name, such as types.NamespacedName and reconcile.Request. Both are empty for other items.
func objectOf(item any) (namespace, name string) {
	if key, ok := item.(string); ok {
		if namespace, name, ok := strings.Cut(key, "/"); ok {
			return namespace, name
		}
		return "", key
	}
	v := reflect.ValueOf(item)
	if v.Kind() != reflect.Struct {
		return "", ""
	}
	return stringField(v, "Namespace"), stringField(v, "Name")
}

// stringField returns "" if the struct has no such field.
func stringField(v reflect.Value, name string) string {
	f, ok := v.Type().FieldByName(name)
	if !ok || f.Type.Kind() != reflect.String {
		return ""
	}
	field, err := v.FieldByIndexErr(f.Index)
	if err != nil { // in an embedded nil pointer
		return ""
	}
	return field.String()
}
