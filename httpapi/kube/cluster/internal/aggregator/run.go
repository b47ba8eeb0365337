package aggregator

import (
	"context"

	discoveryv1 "k8s.io/api/discovery/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"k8s.io/kube-aggregator/pkg/apis/apiregistration/v1/helper"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/kube/cluster/internal/initial"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// run fills the queues until ctx ends.
func (g *aggregator) run(ctx context.Context, api *httpapi.API) {
	for changes, err := range api.Store().Changes(ctx) {
		if err != nil {
			return
		}
		g.follow(changes)
	}
}

// follow plans a look at the APIServices that changes may be about.
func (g *aggregator) follow(changes []store.ObjectChange) {
	if changes == nil {
		for d := range g.definitions.All("") {
			g.addAll(versionsOf(d))
		}
		for _, s := range g.services.Read(nil).All {
			g.addService(s)
		}
	}
	for _, c := range changes {
		switch c.Kind.GroupResource() {
		case apiServices():
			old, now := valueOf[apiregistrationv1.APIService](c.Old), valueOf[apiregistrationv1.APIService](c.New)
			if old != nil && now != nil && failed(now) && !equality.Semantic.DeepEqual(old.Status, now.Status) {
				continue // the probe that wrote it is repeated; each error may have another text, as that of a connection has its port
			}
			g.addService(old)
			g.addService(now)
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
		g.registering.Add(name)
	}
}

// addService plans a look at an APIService, unless nobody keeps it.
func (g *aggregator) addService(s *apiregistrationv1.APIService) {
	switch {
	case s == nil:
	case s.Spec.Service != nil:
		g.registering.Add(s.Name)
		g.probing.Add(s.Name)
	case s.Labels[initial.AutoManaged] != "onstart":
		g.registering.Add(s.Name)
	}
}

// failed reports whether the last probe of an APIService failed.
func failed(s *apiregistrationv1.APIService) bool {
	c := helper.GetAPIServiceConditionByType(s, apiregistrationv1.Available)
	return c != nil && c.Reason == failedCheck
}

// addBehind plans a look at the APIServices of a service.
func (g *aggregator) addBehind(namespace, service string) {
	for _, s := range g.services.Read(nil).All {
		if to := s.Spec.Service; to != nil && to.Namespace == namespace && to.Name == service {
			g.probing.Add(s.Name)
		}
	}
}
