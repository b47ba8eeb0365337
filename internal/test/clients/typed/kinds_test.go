package typed

import (
	"context"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	coordinationv1alpha2 "k8s.io/api/coordination/v1alpha2"
	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"

	"github.com/kubecoord/kubecoord/internal/test/clients/internal/testapi"
)

type object interface {
	metav1.Object
	runtime.Object
}

// client is the methods of all typed clients of client-go that the tests call.
type client[T object, L runtime.Object] interface {
	Create(ctx context.Context, obj T, opts metav1.CreateOptions) (T, error)
	Update(ctx context.Context, obj T, opts metav1.UpdateOptions) (T, error)
	Delete(ctx context.Context, name string, opts metav1.DeleteOptions) error
	Get(ctx context.Context, name string, opts metav1.GetOptions) (T, error)
	List(ctx context.Context, opts metav1.ListOptions) (L, error)
	Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error)
	Patch(ctx context.Context, name string, pt types.PatchType, data []byte, opts metav1.PatchOptions, subresources ...string) (T, error)
}

// kind is a typed client without its types, and the functions that tests need for
// its objects.
type kind struct {
	client[object, runtime.Object]
	resource string // with its group, as in error texts
	// new returns an object that can be created.
	new func(name string) object
	// change makes a change that is valid, each time another one.
	change func(object)
	// spoil makes an invalid change and returns the path of the field.
	spoil func(object) string
}

// eachKind runs a test for each kind, over each wire.
func eachKind(t *testing.T, test func(t *testing.T, api *testapi.API, k kind)) {
	for name, in := range map[string]func(kubernetes.Interface) kind{
		"Lease": leases, "LeaseCandidate v1beta1": candidates,
		"LeaseCandidate v1alpha2": candidatesV1alpha2, "Endpoints": endpoints,
	} {
		t.Run(name, func(t *testing.T) {
			testapi.EachWire(t, func(t *testing.T, api *testapi.API, cs kubernetes.Interface) {
				test(t, api, in(cs))
			})
		})
	}
}

func leases(cs kubernetes.Interface) kind {
	return kind{
		client:   adapter[*coordinationv1.Lease, *coordinationv1.LeaseList]{cs.CoordinationV1().Leases(testapi.Namespace)},
		resource: "leases.coordination.k8s.io",
		new:      func(name string) object { return testapi.Lease(name) },
		change:   func(o object) { *o.(*coordinationv1.Lease).Spec.LeaseTransitions++ },
		spoil: func(o object) string {
			o.(*coordinationv1.Lease).Spec.LeaseDurationSeconds = new(int32(0))
			return "spec.leaseDurationSeconds"
		},
	}
}

func candidates(cs kubernetes.Interface) kind {
	return kind{
		client: adapter[*coordinationv1beta1.LeaseCandidate, *coordinationv1beta1.LeaseCandidateList]{
			cs.CoordinationV1beta1().LeaseCandidates(testapi.Namespace)},
		resource: "leasecandidates.coordination.k8s.io",
		new:      func(name string) object { return testapi.Candidate(name) },
		change:   func(o object) { o.(*coordinationv1beta1.LeaseCandidate).Spec.BinaryVersion += "1" },
		spoil: func(o object) string {
			o.(*coordinationv1beta1.LeaseCandidate).Spec.BinaryVersion = ""
			return "spec.binaryVersion"
		},
	}
}

func candidatesV1alpha2(cs kubernetes.Interface) kind {
	return kind{
		client: adapter[*coordinationv1alpha2.LeaseCandidate, *coordinationv1alpha2.LeaseCandidateList]{
			cs.CoordinationV1alpha2().LeaseCandidates(testapi.Namespace)},
		resource: "leasecandidates.coordination.k8s.io",
		new:      func(name string) object { return testapi.CandidateV1alpha2(name) },
		change:   func(o object) { o.(*coordinationv1alpha2.LeaseCandidate).Spec.BinaryVersion += "1" },
		spoil: func(o object) string {
			o.(*coordinationv1alpha2.LeaseCandidate).Spec.Strategy = ""
			return "spec.strategy"
		},
	}
}

func endpoints(cs kubernetes.Interface) kind {
	return kind{
		client:   adapter[*corev1.Endpoints, *corev1.EndpointsList]{cs.CoreV1().Endpoints(testapi.Namespace)},
		resource: "endpoints",
		new:      func(name string) object { return testapi.Endpoints(name) },
		change:   func(o object) { o.(*corev1.Endpoints).Subsets[0].Ports[0].Port++ },
		spoil: func(o object) string {
			o.(*corev1.Endpoints).Subsets[0].Ports[0].Port = 0
			return "subsets[0].ports[0].port"
		},
	}
}

// adapter removes the types of a client.
type adapter[T object, L runtime.Object] struct{ c client[T, L] }

func (a adapter[T, L]) Create(ctx context.Context, obj object, opts metav1.CreateOptions) (object, error) {
	return a.c.Create(ctx, obj.(T), opts)
}

func (a adapter[T, L]) Update(ctx context.Context, obj object, opts metav1.UpdateOptions) (object, error) {
	return a.c.Update(ctx, obj.(T), opts)
}

func (a adapter[T, L]) Delete(ctx context.Context, name string, opts metav1.DeleteOptions) error {
	return a.c.Delete(ctx, name, opts)
}

func (a adapter[T, L]) Get(ctx context.Context, name string, opts metav1.GetOptions) (object, error) {
	return a.c.Get(ctx, name, opts)
}

func (a adapter[T, L]) List(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
	return a.c.List(ctx, opts)
}

func (a adapter[T, L]) Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
	return a.c.Watch(ctx, opts)
}

func (a adapter[T, L]) Patch(ctx context.Context, name string, pt types.PatchType, data []byte, opts metav1.PatchOptions, subresources ...string) (object, error) {
	return a.c.Patch(ctx, name, pt, data, opts, subresources...)
}
