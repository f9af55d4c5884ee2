package footprint

import (
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
)

// maxDepth limits the depth of a value. Objects of the API are no deeper than 100.
const maxDepth = 200

// Types of values that are shared by all objects.
var (
	location = reflect.TypeFor[*time.Location]()
	format   = reflect.TypeFor[resource.Format]()
)

// walk adds up what values refer to. A pointer counts once.
type walk struct {
	seen map[uintptr]struct{}
}

// beyond returns the memory that a value refers to, without the value itself. It reads only sizes, maps and pointers.
func (w *walk) beyond(v reflect.Value, depth int) (n int) {
	if depth > maxDepth {
		return 0
	}
	switch v.Kind() {
	case reflect.String:
		if v.Len() > 1 && v.Type() != format { // Go has all strings of one byte
			n = allocated(v.Len(), false)
		}
	case reflect.Pointer:
		if !v.IsNil() && v.Type() != location && w.first(v.Pointer()) {
			n = allocated(int(v.Type().Elem().Size()), hasPointers(v.Type().Elem())) + w.beyond(v.Elem(), depth+1)
		}
	case reflect.Interface:
		if e := v.Elem(); e.IsValid() {
			n = boxed(e) + w.beyond(e, depth+1)
		}
	case reflect.Slice:
		elem := v.Type().Elem()
		if v.Cap() > 0 && w.first(v.Pointer()) {
			n = allocated(v.Cap()*int(elem.Size()), hasPointers(elem))
			n += w.elements(v, depth)
		}
	case reflect.Array:
		n = w.elements(v, depth)
	case reflect.Map:
		if !v.IsNil() && w.first(v.Pointer()) {
			n = mapped(v.Len(), int(v.Type().Key().Size()), int(v.Type().Elem().Size()))
			for entries := v.MapRange(); entries.Next(); {
				n += w.beyond(entries.Key(), depth+1) + w.beyond(entries.Value(), depth+1)
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			n += w.beyond(v.Field(i), depth+1)
		}
	default: // has no pointers, or is not part of an object of the API
	}
	return n
}

func (w *walk) elements(v reflect.Value, depth int) (n int) {
	if !hasPointers(v.Type().Elem()) {
		return 0
	}
	for i := range v.Len() {
		n += w.beyond(v.Index(i), depth+1)
	}
	return n
}

// first reports whether an address is seen for the first time.
func (w *walk) first(address uintptr) bool {
	if _, ok := w.seen[address]; ok {
		return false
	}
	if w.seen == nil {
		w.seen = map[uintptr]struct{}{}
	}
	w.seen[address] = struct{}{}
	return true
}

// boxed returns the memory of a value in an interface: Go stores pointers and maps in the interface, and has all small numbers.
func boxed(v reflect.Value) int {
	switch v.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Bool, reflect.Int8, reflect.Uint8:
		return 0
	case reflect.Int, reflect.Int16, reflect.Int32, reflect.Int64:
		if v.Int() >= 0 && v.Int() < 256 {
			return 0
		}
	case reflect.Float64:
		if v.Float() == 0 {
			return 0
		}
	default:
	}
	return allocated(int(v.Type().Size()), hasPointers(v.Type()))
}
