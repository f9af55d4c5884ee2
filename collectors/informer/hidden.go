package informer

import (
	"reflect"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/cache"
)

// hidden returns a field that client-go's shared informer does not export. Generated code builds the ListerWatcher of an
// informer and stores it only there. The alternative, a ListerWatcher built from the clientset by reflection over methods,
// makes the linker keep every exported method of the program.
//
// It reports false for other informers, and if a later client-go has no such field.
func hidden[T any](inf cache.SharedIndexInformer, name string) (value T, ok bool) {
	for {
		v := reflect.Indirect(reflect.ValueOf(inf))
		if v.Kind() != reflect.Struct || !v.CanAddr() {
			return value, false
		}
		if field := v.FieldByName(name); field.IsValid() {
			value, ok = reflect.NewAt(field.Type(), field.Addr().UnsafePointer()).Elem().Interface().(T)
			return value, ok
		}
		embedded := v.FieldByName("SharedIndexInformer") // client-go's typed informers
		if !embedded.IsValid() {
			return value, false
		}
		if inf, ok = embedded.Interface().(cache.SharedIndexInformer); !ok {
			return value, false
		}
	}
}

// clusterScoped are the resources of client-go's factory that have no namespace: generated code does not expose that.
var clusterScoped = sets.New(
	"certificatesigningrequests.certificates.k8s.io",
	"clusterrolebindings.rbac.authorization.k8s.io",
	"clusterroles.rbac.authorization.k8s.io",
	"clustertrustbundles.certificates.k8s.io",
	"componentstatuses",
	"csidrivers.storage.k8s.io",
	"csinodes.storage.k8s.io",
	"deviceclasses.resource.k8s.io",
	"devicetaintrules.resource.k8s.io",
	"flowschemas.flowcontrol.apiserver.k8s.io",
	"ingressclasses.networking.k8s.io",
	"ipaddresses.networking.k8s.io",
	"mutatingadmissionpolicies.admissionregistration.k8s.io",
	"mutatingadmissionpolicybindings.admissionregistration.k8s.io",
	"mutatingwebhookconfigurations.admissionregistration.k8s.io",
	"namespaces",
	"nodes",
	"persistentvolumes",
	"priorityclasses.scheduling.k8s.io",
	"prioritylevelconfigurations.flowcontrol.apiserver.k8s.io",
	"resourcepoolstatusrequests.resource.k8s.io",
	"resourceslices.resource.k8s.io",
	"runtimeclasses.node.k8s.io",
	"servicecidrs.networking.k8s.io",
	"storageclasses.storage.k8s.io",
	"storageversionmigrations.storagemigration.k8s.io",
	"storageversions.internal.apiserver.k8s.io",
	"validatingadmissionpolicies.admissionregistration.k8s.io",
	"validatingadmissionpolicybindings.admissionregistration.k8s.io",
	"validatingwebhookconfigurations.admissionregistration.k8s.io",
	"volumeattachments.storage.k8s.io",
	"volumeattributesclasses.storage.k8s.io",
)
