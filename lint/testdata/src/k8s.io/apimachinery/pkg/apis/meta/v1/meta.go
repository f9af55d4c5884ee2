package v1

type Time struct{ wall *int }

type UpdateOptions struct{}
type DeleteOptions struct{}
type GetOptions struct{}

type ObjectMeta struct {
	Name, Namespace string
	Labels          map[string]string
	Annotations     map[string]string
	Finalizers      []string
	ResourceVersion string
}

func (m *ObjectMeta) GetName() string                    { return m.Name }
func (m *ObjectMeta) GetNamespace() string               { return m.Namespace }
func (m *ObjectMeta) GetLabels() map[string]string       { return m.Labels }
func (m *ObjectMeta) SetLabels(labels map[string]string) { m.Labels = labels }
func (m *ObjectMeta) GetFinalizers() []string            { return m.Finalizers }
func (m *ObjectMeta) SetFinalizers(finalizers []string)  { m.Finalizers = finalizers }
func (m *ObjectMeta) GetResourceVersion() string         { return m.ResourceVersion }
func (m *ObjectMeta) SetResourceVersion(version string)  { m.ResourceVersion = version }
func (m *ObjectMeta) GetObjectMeta() Object              { return m }

type Object interface {
	GetName() string
	GetNamespace() string
	GetLabels() map[string]string
	SetLabels(labels map[string]string)
	GetFinalizers() []string
	SetFinalizers(finalizers []string)
	GetResourceVersion() string
	SetResourceVersion(version string)
}
