package comparison

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

var kinds = row{"kinds", []point{
	{name: "coordination's and Endpoints", check: func(t *testing.T, s subject) finding {
		given(t, s, "a")
		name := metav1.ObjectMeta{Namespace: namespace, Name: "a"}
		return when(s.create(t.Context(), &corev1.Endpoints{ObjectMeta: name}) == nil &&
			s.create(t.Context(), &coordinationv1beta1.LeaseCandidate{ObjectMeta: name, Spec: coordinationv1beta1.LeaseCandidateSpec{
				LeaseName: "a", BinaryVersion: "1.37.2", EmulationVersion: "1.37.0", Strategy: "OldestEmulationVersion",
			}}) == nil)
	}},
	{name: "all of Kubernetes", check: func(t *testing.T, s subject) finding {
		return when(s.create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "a"}}) == nil)
	}},
	{name: "your own", check: func(t *testing.T, s subject) finding {
		w := s.widgets(t)
		err := w.create(t.Context(), newWidget("small", "new"))
		if err != nil {
			return no()
		}
		got, err := w.get(t.Context())
		return when(err == nil && part(got, "spec") == "small")
	}},
	{name: "a status subresource", check: func(t *testing.T, s subject) finding {
		w := s.widgets(t)
		require.NoError(t, w.create(t.Context(), newWidget("small", "")))
		for _, write := range []struct {
			size   string
			update func(context.Context, *unstructured.Unstructured) error
		}{{"medium", w.updateStatus}, {"large", w.update}} {
			o, err := w.get(t.Context())
			require.NoError(t, err)
			require.NoError(t, unstructured.SetNestedField(o.Object, write.size, "spec", "size"))
			require.NoError(t, unstructured.SetNestedField(o.Object, write.size, "status", "size"))
			require.NoError(t, write.update(t.Context(), o))
		}
		o, err := w.get(t.Context())
		require.NoError(t, err)
		return when(part(o, "spec") == "large" && part(o, "status") == "medium")
	}},
}, "yes"}

// Widget is the Go type of a custom kind of kubecoord.
type Widget struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata" protobuf:"1"`
	Spec            Size `json:"spec" protobuf:"2"`
	Status          Size `json:"status,omitzero" protobuf:"3"`
}

// Size is the wanted or the observed size of a Widget.
type Size struct {
	Size string `json:"size,omitempty" protobuf:"1"`
}

var (
	widgetVersion  = schema.GroupVersion{Group: "example.com", Version: "v1"}
	widgetKind     = widgetVersion.WithKind("Widget")
	widgetResource = widgetVersion.WithResource("widgets")
)

func servedWidgets() *store.Kind[Widget] {
	return store.MustKind(kind.Descriptor[*Widget]{
		Resource: kind.Resource{Group: widgetKind.Group, Kind: widgetKind.Kind, Plural: widgetResource.Resource, Status: true},
		Versions: []kind.Version[*Widget]{{Name: widgetKind.Version}},
	})
}

// newWidget returns an unstructured Widget.
func newWidget(spec, status string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"size": spec}}}
	if status != "" {
		o.Object["status"] = map[string]any{"size": status}
	}
	o.SetGroupVersionKind(widgetKind)
	o.SetNamespace(namespace)
	o.SetName("a")
	return o
}

// part returns the size in spec or in status.
func part(o *unstructured.Unstructured, of string) string {
	size, _, _ := unstructured.NestedString(o.Object, of, "size")
	return size
}

// widgets is a client for the Widget of a scenario.
type widgets interface {
	create(ctx context.Context, o *unstructured.Unstructured) error
	get(ctx context.Context) (*unstructured.Unstructured, error)
	update(ctx context.Context, o *unstructured.Unstructured) error
	updateStatus(ctx context.Context, o *unstructured.Unstructured) error
}

func (d clientGoDoor) widgets(t *testing.T) widgets {
	c, err := d.untyped()
	require.NoError(t, err)
	return clientGoWidgets{c.Resource(widgetResource).Namespace(namespace)}
}

type clientGoWidgets struct{ dynamic.ResourceInterface }

func (w clientGoWidgets) create(ctx context.Context, o *unstructured.Unstructured) error {
	_, err := w.Create(ctx, o, metav1.CreateOptions{})
	return err
}

func (w clientGoWidgets) get(ctx context.Context) (*unstructured.Unstructured, error) {
	return w.Get(ctx, "a", metav1.GetOptions{})
}

func (w clientGoWidgets) update(ctx context.Context, o *unstructured.Unstructured) error {
	_, err := w.Update(ctx, o, metav1.UpdateOptions{})
	return err
}

func (w clientGoWidgets) updateStatus(ctx context.Context, o *unstructured.Unstructured) error {
	_, err := w.UpdateStatus(ctx, o, metav1.UpdateOptions{})
	return err
}

func (d runtimeDoor) widgets(*testing.T) widgets { return runtimeWidgets{d.WithWatch} }

type runtimeWidgets struct{ client.Client }

func (w runtimeWidgets) create(ctx context.Context, o *unstructured.Unstructured) error {
	return w.Create(ctx, o)
}

func (w runtimeWidgets) get(ctx context.Context) (*unstructured.Unstructured, error) {
	o := newWidget("", "")
	return o, w.Get(ctx, client.ObjectKeyFromObject(o), o)
}

func (w runtimeWidgets) update(ctx context.Context, o *unstructured.Unstructured) error {
	return w.Update(ctx, o)
}

func (w runtimeWidgets) updateStatus(ctx context.Context, o *unstructured.Unstructured) error {
	return w.Status().Update(ctx, o)
}
