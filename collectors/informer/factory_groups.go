package informer

import (
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
)

// groupOf returns the generated informers of one API group, on top of decorated ones.
func groupOf[G any](f *factory, newGroup func(internalinterfaces.SharedInformerFactory, string, internalinterfaces.TweakListOptionsFunc) G) G {
	return newGroup(f.generated, f.options.Namespace, f.options.TweakListOptions)
}

// The API groups that informers.SharedInformerFactory has in every supported version of client-go. newer_factory.go has the others.

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
