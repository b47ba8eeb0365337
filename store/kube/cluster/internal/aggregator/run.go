package aggregator

import (
	"context"

	discoveryv1 "k8s.io/api/discovery/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/kube/cluster/internal/controller"
	"github.com/kubecoord/kubecoord/store/kube/cluster/internal/initial"
	"github.com/kubecoord/kubecoord/store/meta"
)

// run keeps APIServices until ctx ends.
func (g *aggregator) run(ctx context.Context, api *httpapi.API) {
	controller.Run(ctx, api, "", g.queue, g.follow, g.process)
}

// follow plans a look at the APIServices that changes may be about.
func (g *aggregator) follow(_ context.Context, changes []store.ObjectChange) {
	if changes == nil {
		for _, d := range g.definitions.Read(nil).All {
			g.addAll(versionsOf(d))
		}
		for _, s := range g.services.Read(nil).All {
			g.addService(s)
		}
	}
	for _, c := range changes {
		switch c.Kind.GroupResource() {
		case apiServices():
			g.addService(valueOf[apiregistrationv1.APIService](c.Old))
			g.addService(valueOf[apiregistrationv1.APIService](c.New))
		case definitions():
			g.addAll(versionsOf(valueOf[apiextensionsv1.CustomResourceDefinition](c.Old)))
			g.addAll(versionsOf(valueOf[apiextensionsv1.CustomResourceDefinition](c.New)))
		case meta.GroupResource{Resource: "services"}:
			g.addBehind(either(c).GetObjectMeta().Namespace, either(c).GetObjectMeta().Name)
		case meta.GroupResource{Group: discoveryv1.GroupName, Resource: "endpointslices"}:
			m := either(c).GetObjectMeta()
			g.addBehind(m.Namespace, m.Labels[discoveryv1.LabelServiceName])
		}
	}
}

// valueOf returns an object as a value, or nil for nil.
func valueOf[T any](o meta.Object) *T {
	if o == nil {
		return nil
	}
	return kind.ValueOf[T](o)
}

// either returns the new state of a change, or the old one.
func either(c store.ObjectChange) meta.Object {
	if c.New == nil {
		return c.Old
	}
	return c.New
}

func (g *aggregator) addAll(names []string) {
	for _, name := range names {
		g.queue.Add(name)
	}
}

// addService plans a look at an APIService, unless nobody keeps it.
func (g *aggregator) addService(s *apiregistrationv1.APIService) {
	if s != nil && (s.Spec.Service != nil || s.Labels[initial.AutoManaged] != "onstart") {
		g.queue.Add(s.Name)
	}
}

// addBehind plans a look at the APIServices of a service.
func (g *aggregator) addBehind(namespace, service string) {
	for _, s := range g.services.Read(nil).All {
		if to := s.Spec.Service; to != nil && to.Namespace == namespace && to.Name == service {
			g.queue.Add(s.Name)
		}
	}
}

func (g *aggregator) process(ctx context.Context, name string) {
	err := g.register(ctx, name)
	if err == nil {
		err = g.sync(ctx, name)
	}
	if err != nil {
		g.queue.Retry(name)
		return
	}
	g.queue.Succeeded(name)
}
