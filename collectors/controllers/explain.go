package controllers

import (
	"context"
	"errors"
	"reflect"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/informer-exporter/informer-exporter/collectors/internal/errclass"
	"github.com/informer-exporter/informer-exporter/collectors/internal/inspection"
	"github.com/informer-exporter/informer-exporter/collectors/internal/recent"
)

// Classes of errors beyond those of package errclass.
const (
	errorConflict = "conflict"
	errorExists   = "already_exists"
	errorInvalid  = "invalid"
	errorCanceled = "canceled"
)

// errorClass returns the class of an error, empty for nil. An error's text may have what a client must not see. A method of the error
// that panics, as of a nil pointer, is of the class other.
func errorClass(err error) (class string) {
	defer func() {
		if recover() != nil {
			class = errclass.ErrorOther
		}
	}()
	switch {
	case err == nil:
		return ""
	case apierrors.IsConflict(err):
		return errorConflict
	case apierrors.IsAlreadyExists(err):
		return errorExists
	case apierrors.IsInvalid(err):
		return errorInvalid
	case errors.Is(err, context.Canceled):
		return errorCanceled
	}
	return errclass.ErrorType(err)
}

// lastReconcile is the end of a reconcile. Its strings are constants.
type lastReconcile struct {
	result, class string
	at            int64
}

// keyOf returns a function that returns the key of a request in the table of last reconciles: of namespace and name, or 0 for types that
// do not name an object. It does not allocate.
func keyOf[Req any]() func(Req) uint64 {
	t := reflect.TypeFor[Req]()
	if t.Kind() == reflect.String {
		return func(request Req) uint64 {
			key := reflect.ValueOf(request).String()
			if namespace, name, ok := strings.Cut(key, "/"); ok {
				return recent.Key(namespace, name)
			}
			return recent.Key("", key)
		}
	}
	namespace, name := fieldOf[Req, string]("Namespace"), fieldOf[Req, string]("Name")
	if namespace == nil || name == nil || len(leaves(t)) != 2 { // a request with a cluster names another object
		return func(Req) uint64 { return 0 }
	}
	return func(request Req) uint64 {
		v := reflect.ValueOf(request)
		return recent.Key(v.FieldByIndex(namespace).String(), v.FieldByIndex(name).String())
	}
}

// leaves returns the fields of a struct that are not embedded structs.
func leaves(t reflect.Type) (fields []reflect.StructField) {
	for _, f := range reflect.VisibleFields(t) {
		if !f.Anonymous || f.Type.Kind() != reflect.Struct {
			fields = append(fields, f)
		}
	}
	return fields
}

var _ inspection.Explainer = &registry{}

// Explain implements inspection.Explainer. Requests do not name a resource, so it finds the object's key in all controllers.
func (r *registry) Explain(e *inspection.Explanation) {
	key := recent.Key(e.Namespace, e.Object)
	r.mu.Lock()
	defer r.mu.Unlock()
	for labels, s := range r.series {
		all, ok := s.series.(*reconciles)
		if !ok {
			continue
		}
		if last, known := all.last.Get(key); known {
			failed := last.result == reconcileError || last.result == reconcileTerminal || last.result == reconcilePanic
			e.Of(labels.labels[0]).LastReconcile = &inspection.Reconcile{Result: last.result, Failed: failed, Error: last.class, Time: r.Wall(last.at).UTC()}
		}
	}
}
