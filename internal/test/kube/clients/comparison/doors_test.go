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
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var (
	leaseVersion  = schema.GroupVersion{Group: "coordination.k8s.io", Version: "v1"}
	leaseKind     = leaseVersion.WithKind("Lease")
	leaseResource = leaseVersion.WithResource("leases")
)

// clientGoDoor is client-go's clients, real or fake. Clients that few tests need
// are made on demand.
type clientGoDoor struct {
	kubernetes.Interface
	untyped func() (dynamic.Interface, error)
	partial func() (metadata.Interface, error)
}

func realClientGoDoor(t testing.TB, config *rest.Config) clientGoDoor {
	typed, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	return clientGoDoor{
		typed,
		func() (dynamic.Interface, error) { return dynamic.NewForConfig(config) },
		func() (metadata.Interface, error) { return metadata.NewForConfig(config) },
	}
}

func (d clientGoDoor) Leases(namespace string) coordinationclient.LeaseInterface {
	return d.CoordinationV1().Leases(namespace)
}

func (d clientGoDoor) create(ctx context.Context, o client.Object) error {
	var err error
	switch o := o.(type) {
	case *corev1.Endpoints:
		created, e := d.CoreV1().Endpoints(namespace).Create(ctx, o, metav1.CreateOptions{})
		if err = e; err == nil {
			*o = *created
		}
	case *coordinationv1beta1.LeaseCandidate:
		_, err = d.CoordinationV1beta1().LeaseCandidates(namespace).Create(ctx, o, metav1.CreateOptions{})
	case *corev1.ConfigMap:
		_, err = d.CoreV1().ConfigMaps(namespace).Create(ctx, o, metav1.CreateOptions{})
	}
	return err
}

func (d clientGoDoor) getUntyped(ctx context.Context, name string) error {
	c, err := d.untyped()
	if err != nil {
		return err
	}
	_, err = c.Resource(leaseResource).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
	return err
}

func (d clientGoDoor) getMetadata(ctx context.Context, name string) error {
	c, err := d.partial()
	if err != nil {
		return err
	}
	_, err = c.Resource(leaseResource).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
	return err
}

func (d clientGoDoor) discovered() bool {
	_, err := d.Discovery().ServerResourcesForGroupVersion(leaseVersion.String())
	return err == nil
}

func (d clientGoDoor) semantics() any { return d.Interface }

// runtimeDoor is controller-runtime's client, real or fake.
type runtimeDoor struct{ client.WithWatch }

func realRuntimeDoor(t testing.TB, config *rest.Config) runtimeDoor {
	c, err := client.NewWithWatch(config, client.Options{Scheme: scheme.Scheme})
	require.NoError(t, err)
	return runtimeDoor{c}
}

func (d runtimeDoor) Leases(namespace string) coordinationclient.LeaseInterface {
	return adapter{d.WithWatch, namespace}
}

func (d runtimeDoor) create(ctx context.Context, o client.Object) error { return d.Create(ctx, o) }

func (d runtimeDoor) getUntyped(ctx context.Context, name string) error {
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(leaseKind)
	return d.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, o)
}

func (d runtimeDoor) getMetadata(ctx context.Context, name string) error {
	o := &metav1.PartialObjectMetadata{}
	o.SetGroupVersionKind(leaseKind)
	return d.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, o)
}

func (d runtimeDoor) discovered() bool {
	_, err := d.RESTMapper().RESTMapping(leaseKind.GroupKind(), leaseKind.Version)
	return err == nil
}

func (d runtimeDoor) semantics() any { return d.WithWatch }
