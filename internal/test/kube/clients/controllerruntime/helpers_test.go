package controllerruntime

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecoord/kubecoord/internal/test/kube/clients/internal/testapi"
	"github.com/kubecoord/kubecoord/store"
)

// form is one of the three types of objects that the client accepts.
type form string

const (
	typed        form = "typed"
	untyped      form = "unstructured"
	metadataOnly form = "metadata"
)

// fixture is a client, and the resource and form that a test uses with it.
type fixture struct {
	testapi.Resource
	client.WithWatch
	form form
	api  *testapi.API
}

// history is the number of changes that a server of eachForm keeps.
const history = 16

// eachForm runs a test inside a bubble for each resource in each of the forms.
func eachForm(t *testing.T, test func(t *testing.T, f *fixture)) {
	for _, r := range testapi.Resources {
		for _, form := range []form{typed, untyped, metadataOnly} {
			if form == typed && !scheme.Scheme.Recognizes(r.GroupVersion().WithKind(r.Kind)) {
				continue // v1alpha1 has no Go types any more
			}
			t.Run(r.Kind+" "+r.Version+" "+string(form), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					api := testapi.New(t, store.Options{History: history})
					test(t, &fixture{Resource: r, WithWatch: newClient(t, api), form: form, api: api})
				})
			})
		}
	}
}

// newClient returns controller-runtime's client with its defaults.
func newClient(t testing.TB, api *testapi.API) client.WithWatch {
	c, err := client.NewWithWatch(api.Config(), client.Options{})
	require.NoError(t, err)
	return c
}

func (f *fixture) gvk() schema.GroupVersionKind { return f.GroupVersion().WithKind(f.Kind) }

// empty returns an empty object for a read.
func (f *fixture) empty(t *testing.T) client.Object {
	switch f.form {
	case untyped:
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(f.gvk())
		return u
	case metadataOnly:
		m := &metav1.PartialObjectMetadata{}
		m.SetGroupVersionKind(f.gvk())
		return m
	default:
		o, err := scheme.Scheme.New(f.gvk())
		require.NoError(t, err)
		return o.(client.Object)
	}
}

// given stores an object after calling change on it, and returns it in the
// form of the fixture.
func (f *fixture) given(t *testing.T, name string, changes ...func(client.Object)) client.Object {
	t.Helper()
	o := f.New(t, name)
	for _, change := range changes {
		change(o)
	}
	require.NoError(t, f.Create(t.Context(), o))
	if f.form == untyped {
		return o
	}
	out := f.empty(t)
	require.NoError(t, f.Get(t.Context(), client.ObjectKeyFromObject(o), out))
	return out
}

func key(name string) client.ObjectKey {
	return client.ObjectKey{Namespace: testapi.Namespace, Name: name}
}

// copyOf returns a deep copy of an object.
func copyOf[T client.Object](o T) T { return o.DeepCopyObject().(T) }

func inNamespace(ns string) func(client.Object) {
	return func(o client.Object) { o.SetNamespace(ns) }
}
