package cluster

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kube/cluster/internal/namespaces"
	"github.com/kubecoord/kubecoord/store/kube/scheme"
)

// defaultPort is the default of kube-apiserver's flag --secure-port.
const defaultPort = 6443

// bootstrapTime bounds how long an API that starts waits for a store on etcd.
const bootstrapTime = 10 * time.Second

// addNamespaces adds the kinds that namespaces and the service need, unless the API has them.
func (o Options) addNamespaces(api *httpapi.Options) error {
	s := runtime.NewScheme()
	if o.Namespaces || o.Service || o.NamespaceDeletion {
		s.AddKnownTypes(corev1.SchemeGroupVersion, &corev1.Namespace{})
	}
	if o.Service {
		s.AddKnownTypes(corev1.SchemeGroupVersion, &corev1.Service{})
	}
	all, err := scheme.Kinds(s, scheme.Options{})
	if err != nil {
		return err
	}
	api.Kinds = slices.Clone(api.Kinds)
	for _, k := range all {
		if !slices.ContainsFunc(api.Kinds, func(have store.AnyKind) bool {
			return have.Registered().GroupResource() == k.Registered().GroupResource()
		}) {
			api.Kinds = append(api.Kinds, k)
		}
	}
	return nil
}

// extendNamespaces makes the namespaces and the service of one API, before its first request.
func (o Options) extendNamespaces(a *httpapi.API, opts *httpapi.Options) {
	b := namespaces.Bootstrap{Namespaces: o.Namespaces}
	if o.Service {
		b.ServicePort = cmp.Or(o.ServicePort, defaultPort)
	}
	if b == (namespaces.Bootstrap{}) {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), bootstrapTime)
	defer cancel()
	if err := b.Make(ctx, a); err != nil {
		opts.Checks = append(slices.Clip(opts.Checks), httpapi.HealthCheck{
			Name: "poststarthook/start-system-namespaces-controller",
			Healthy: func(ctx context.Context) error {
				if err := b.Make(ctx, a); err != nil {
					return fmt.Errorf("cluster: %w", err)
				}
				return nil
			},
		})
	}
	opts.Run = append(slices.Clip(opts.Run), b.Run)
}
