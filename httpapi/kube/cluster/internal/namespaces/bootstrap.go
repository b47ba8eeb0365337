// Package namespaces makes what a kube-apiserver makes in namespaces when it starts, and deletes what is in deleted namespaces.
package namespaces

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
)

// serverManager is the field manager of a kube-apiserver's own writes.
const serverManager = "kube-apiserver"

// interval is how often a server looks whether its namespaces exist (upstream: pkg/controlplane/controller/systemnamespaces).
const interval = time.Minute

// Bootstrap is what a server makes when it starts.
type Bootstrap struct {
	// Namespaces makes the namespaces of the system.
	Namespaces bool
	// ServicePort, if not 0, makes the service kubernetes with this targetPort.
	ServicePort int
	// ServiceIP is its address.
	ServiceIP netip.Addr
}

// Make makes the objects that do not exist. On a store on etcd it takes at most as long as ctx.
func (b Bootstrap) Make(ctx context.Context, a *httpapi.API) error {
	if b.Namespaces {
		all, err := collection[corev1.Namespace](a, "", "Namespace")
		if err != nil {
			return err
		}
		for _, name := range systemNamespaces() {
			if err := create(ctx, all, "", name, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
				return err
			}
		}
	}
	if b.ServicePort == 0 {
		return nil
	}
	services, err := collection[corev1.Service](a, "", "Service")
	if err != nil {
		return err
	}
	return create(ctx, services, metav1.NamespaceDefault, serviceName, service(b.ServicePort, b.ServiceIP))
}

// Run makes the objects again within a minute after they are gone, as long as ctx lasts.
func (b Bootstrap) Run(ctx context.Context, a *httpapi.API) {
	for changes, err := range a.Store().Changes(ctx) {
		if err != nil {
			return
		}
		for gone := slices.ContainsFunc(changes, b.isOwn); gone; {
			if !pause(ctx, a) {
				return
			}
			gone = b.Make(ctx, a) != nil // on an error the next time
		}
	}
}

// isOwn reports whether a change removes an object that b makes.
func (b Bootstrap) isOwn(c store.ObjectChange) bool {
	if c.New != nil || c.Kind.Info().Group != "" {
		return false
	}
	switch c.Kind.Info().Kind {
	case "Namespace":
		return b.Namespaces && slices.Contains(systemNamespaces(), c.Old.GetObjectMeta().Name)
	case "Service":
		return b.ServicePort != 0 && c.Old.GetObjectMeta().Namespace == metav1.NamespaceDefault && c.Old.GetObjectMeta().Name == serviceName
	}
	return false
}

// pause waits for the interval in the time of the store. It reports whether ctx still lasts.
func pause(ctx context.Context, a *httpapi.API) bool {
	c := a.Store().Clock()
	wait, cancel := clock.WithDeadline(ctx, c, c.Now().Add(interval), context.DeadlineExceeded)
	defer cancel()
	<-wait.Done()
	return ctx.Err() == nil
}

// systemNamespaces are the namespaces that each server has.
func systemNamespaces() []string {
	return []string{metav1.NamespaceSystem, metav1.NamespacePublic, corev1.NamespaceNodeLease, metav1.NamespaceDefault}
}

// serviceName is the name of the service of the API server itself.
const serviceName = "kubernetes"

// service returns the service of the API server (upstream: pkg/controlplane/controller/kubernetesservice). Its Endpoints would
// have the address at which the server listens, but Endpoints on the loopback are refused by the server, so a kube-apiserver
// that envtest starts has none.
func service(port int, ip netip.Addr) *corev1.Service {
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{
			Name: serviceName, Namespace: metav1.NamespaceDefault, Labels: map[string]string{"component": "apiserver", "provider": "kubernetes"},
		},
		Spec: corev1.ServiceSpec{
			ClusterIP: ip.String(), IPFamilyPolicy: new(corev1.IPFamilyPolicySingleStack), SessionAffinity: corev1.ServiceAffinityNone,
			Type:  corev1.ServiceTypeClusterIP,
			Ports: []corev1.ServicePort{{Name: "https", Protocol: corev1.ProtocolTCP, Port: 443, TargetPort: intstr.FromInt32(int32(port))}},
		},
	}
}

// create makes an object unless there is one of its name.
func create[T any](ctx context.Context, in *store.Collection[T], namespace, name string, o *T) error {
	if _, err := in.Get(ctx, namespace, name); err == nil {
		return nil
	}
	_, err := in.Create(ctx, o, store.CreateOptions{FieldManager: serverManager})
	if errors.Is(err, store.ErrAlreadyExists) {
		return nil
	}
	return err
}
