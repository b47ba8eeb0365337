package testapi

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Resource is a resource for clients without Go types.
type Resource struct {
	schema.GroupVersionResource
	Kind string
}

// Resources are all served resources.
var Resources = []Resource{
	{schema.GroupVersionResource{Version: "v1", Resource: "endpoints"}, "Endpoints"},
	{schema.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}, "Lease"},
	{schema.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1beta1", Resource: "leasecandidates"}, "LeaseCandidate"},
	{schema.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1alpha2", Resource: "leasecandidates"}, "LeaseCandidate"},
	{schema.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1alpha1", Resource: "leasecandidates"}, "LeaseCandidate"},
}

// New returns an object of the resource that can be created.
func (r Resource) New(t testing.TB, name string) *unstructured.Unstructured {
	var typed runtime.Object = Candidate(name)
	switch r.Kind {
	case "Lease":
		typed = Lease(name)
	case "Endpoints":
		typed = Endpoints(name)
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
	require.NoError(t, err)
	o := &unstructured.Unstructured{Object: content}
	o.SetGroupVersionKind(r.GroupVersion().WithKind(r.Kind))
	unstructured.RemoveNestedField(o.Object, "metadata", "creationTimestamp")
	if r.Version == "v1alpha1" {
		unstructured.RemoveNestedField(o.Object, "spec", "strategy")
		require.NoError(t, unstructured.SetNestedStringSlice(o.Object, []string{"OldestEmulationVersion", "x.io/other"}, "spec", "preferredStrategies"))
	}
	return o
}
