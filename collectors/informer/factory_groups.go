package informer

import (
	"reflect"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/informers/admissionregistration"
	"k8s.io/client-go/informers/apiserverinternal"
	"k8s.io/client-go/informers/apps"
	"k8s.io/client-go/informers/autoscaling"
	"k8s.io/client-go/informers/batch"
	"k8s.io/client-go/informers/certificates"
	"k8s.io/client-go/informers/coordination"
	"k8s.io/client-go/informers/core"
	"k8s.io/client-go/informers/discovery"
	"k8s.io/client-go/informers/events"
	"k8s.io/client-go/informers/extensions"
	"k8s.io/client-go/informers/flowcontrol"
	"k8s.io/client-go/informers/internalinterfaces"
	"k8s.io/client-go/informers/networking"
	"k8s.io/client-go/informers/node"
	"k8s.io/client-go/informers/policy"
	"k8s.io/client-go/informers/rbac"
	"k8s.io/client-go/informers/resource"
	"k8s.io/client-go/informers/scheduling"
	"k8s.io/client-go/informers/storage"
	"k8s.io/client-go/informers/storagemigration"
	"k8s.io/client-go/tools/cache"
)

// groupOf returns the generated informers of one API group, on top of decorated ones.
func groupOf[G any](f *factory, newGroup func(internalinterfaces.SharedInformerFactory, string, internalinterfaces.TweakListOptionsFunc) G) G {
	return newGroup(f.generated, f.options.Namespace, f.options.TweakListOptions)
}

// The API groups that informers.SharedInformerFactory has in every supported version of client-go; the others are below.

func (f *factory) Admissionregistration() admissionregistration.Interface {
	return groupOf(f, admissionregistration.New)
}
func (f *factory) Internal() apiserverinternal.Interface { return groupOf(f, apiserverinternal.New) }
func (f *factory) Apps() apps.Interface                  { return groupOf(f, apps.New) }
func (f *factory) Autoscaling() autoscaling.Interface    { return groupOf(f, autoscaling.New) }
func (f *factory) Batch() batch.Interface                { return groupOf(f, batch.New) }
func (f *factory) Certificates() certificates.Interface  { return groupOf(f, certificates.New) }
func (f *factory) Coordination() coordination.Interface  { return groupOf(f, coordination.New) }
func (f *factory) Core() core.Interface                  { return groupOf(f, core.New) }
func (f *factory) Discovery() discovery.Interface        { return groupOf(f, discovery.New) }
func (f *factory) Events() events.Interface              { return groupOf(f, events.New) }
func (f *factory) Extensions() extensions.Interface      { return groupOf(f, extensions.New) }
func (f *factory) Flowcontrol() flowcontrol.Interface    { return groupOf(f, flowcontrol.New) }
func (f *factory) Networking() networking.Interface      { return groupOf(f, networking.New) }
func (f *factory) Node() node.Interface                  { return groupOf(f, node.New) }
func (f *factory) Policy() policy.Interface              { return groupOf(f, policy.New) }
func (f *factory) Rbac() rbac.Interface                  { return groupOf(f, rbac.New) }
func (f *factory) Resource() resource.Interface          { return groupOf(f, resource.New) }
func (f *factory) Scheduling() scheduling.Interface      { return groupOf(f, scheduling.New) }
func (f *factory) Storage() storage.Interface            { return groupOf(f, storage.New) }
func (f *factory) Storagemigration() storagemigration.Interface {
	return groupOf(f, storagemigration.New)
}

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

// newerFactory returns a factory that also overrides methods that only newer versions of client-go have.
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

// factoryWithMethods overrides methods that only newer versions of client-go have. N and L are their result types, or
// placeholders if client-go lacks the methods.
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
// keeps its factory in an unexported field. Each call of client-go's factory returns another group.
func regenerated[G any](f *factory, group G) G {
	v := reflect.Indirect(reflect.ValueOf(group))
	var field reflect.Value
	if v.Kind() == reflect.Struct && v.CanAddr() {
		field = v.FieldByName("factory")
	}
	if !field.IsValid() || field.Type() != reflect.TypeFor[internalinterfaces.SharedInformerFactory]() {
		registryOf(f.obs).Logger.Warn("informers of an API group are not decorated: this version of client-go is not supported", "group", reflect.TypeFor[G]().PkgPath())
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
	n, _ := any(name).(N) // nil if there is no name: its methods accept nil
	if namer, ok := any(n).(interface {
		WithResource(schema.GroupVersionResource) ID
	}); ok {
		*identifier = namer.WithResource(resource)
	}
}
