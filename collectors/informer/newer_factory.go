package informer

import (
	"reflect"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/informers/internalinterfaces"
	"k8s.io/client-go/tools/cache"
)

// anyFactory has all methods of a factory of the newest client-go, with fallbacks for those that an older one lacks: see
// newer.go.
type anyFactory struct {
	informers.SharedInformerFactory
	olderFactory
}

type olderFactory struct{ absentMethods }

type absentMethods struct{}

func (absentMethods) InformerName() absentName { return absentName{} }
func (absentMethods) Lifecycle() absentGroup   { return absentGroup{} }

type (
	absentName  struct{}
	absentGroup struct{}
)

// newerFactory returns a factory that overrides also those methods that only newer versions of client-go have.
func newerFactory(f *factory) informers.SharedInformerFactory {
	raw := anyFactory{f.SharedInformerFactory, olderFactory{}}
	return withMethods(f, raw.InformerName, raw.Lifecycle)
}

// withMethods returns f with methods that return the types of the given ones.
func withMethods[N, L any](f *factory, _ func() N, lifecycle func() L) informers.SharedInformerFactory {
	name, _ := f.options.InformerName.(N)
	if newer, ok := any(&factoryWithMethods[N, L]{factory: f, name: name, lifecycle: lifecycle}).(informers.SharedInformerFactory); ok {
		return newer
	}
	return f
}

// factoryWithMethods overrides methods whose result types are those of client-go, or unused types if it has no such methods.
type factoryWithMethods[N, L any] struct {
	*factory
	name      N
	lifecycle func() L
}

// InformerName implements informers.SharedInformerFactory.
func (f *factoryWithMethods[N, L]) InformerName() N { return f.name }

// Lifecycle implements informers.SharedInformerFactory.
func (f *factoryWithMethods[N, L]) Lifecycle() L { return regenerated(f.factory, f.lifecycle()) }

// regenerated returns the generated informers of an API group of client-go's factory, on top of decorated ones. The group
// keeps its factory in a field that is not exported. Each call of client-go's factory returns another group.
func regenerated[G any](f *factory, group G) G {
	v := reflect.Indirect(reflect.ValueOf(group))
	var field reflect.Value
	if v.Kind() == reflect.Struct && v.CanAddr() {
		field = v.FieldByName("factory")
	}
	if !field.IsValid() || field.Type() != reflect.TypeFor[internalinterfaces.SharedInformerFactory]() {
		f.obs.Core().Logger.Warn("informers of an API group are not decorated: this version of client-go is not supported", "group", reflect.TypeFor[G]().PkgPath())
		return group
	}
	*(*internalinterfaces.SharedInformerFactory)(field.Addr().UnsafePointer()) = f.generated
	return group
}

// named is a factory with a name of client-go's type N.
type named[N any] interface{ InformerName() N }

// nameOf returns the name of a factory, nil if it has none.
func nameOf(factory any) InformerName { return nameLike(anyFactory{}, factory) }

func nameLike[F named[N], N any](_ F, factory any) InformerName {
	if f, ok := factory.(named[N]); ok {
		name, _ := any(f.InformerName()).(InformerName)
		return name
	}
	return nil
}

// identified returns options with which client-go names an informer in its own metrics and logs. The name may be nil.
func identified(options cache.SharedIndexInformerOptions, name InformerName, resource schema.GroupVersionResource) cache.SharedIndexInformerOptions {
	newer := sharedOptions{SharedIndexInformerOptions: options}
	setIdentifier(anyFactory{}, &newer.Identifier, name, resource)
	return newer.SharedIndexInformerOptions
}

func setIdentifier[F named[N], N, ID any](_ F, identifier *ID, name InformerName, resource schema.GroupVersionResource) {
	n, _ := any(name).(N) // else nil, which has methods too
	if namer, ok := any(n).(interface {
		WithResource(schema.GroupVersionResource) ID
	}); ok {
		*identifier = namer.WithResource(resource)
	}
}
