package aggregator

import (
	"context"
	"errors"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"k8s.io/kube-aggregator/pkg/apis/apiregistration/v1/helper"

	"github.com/kubecoord/kubecoord/httpapi/kube"
	"github.com/kubecoord/kubecoord/httpapi/kube/cluster/internal/initial"
	"github.com/kubecoord/kubecoord/httpapi/kube/cluster/internal/typed"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

// always is the value of initial.AutoManaged of the APIServices that a server keeps as they are.
const always = "true"

// register keeps an APIService of definitions.
func (g *aggregator) register(ctx context.Context, name string) {
	if !g.Register {
		return
	}
	if err := g.keep(ctx, name); err != nil {
		g.registering.Retry(name)
		return
	}
	g.registering.Succeeded(name)
}

// keep makes, mends or deletes the APIService of a group and version of definitions (upstream: kube-aggregator,
// controllers/autoregister, and controlplane/controller/crdregistration). APIServices without the label belong to others.
func (g *aggregator) keep(ctx context.Context, name string) error {
	in, err := kube.In[apiregistrationv1.APIService](typed.KindOf(g.api, apiServices()), g.api.Store())
	if err != nil {
		return err
	}
	stored, gv := g.service(name), helper.APIServiceNameToGroupVersion(name)
	spec, wanted := initial.Registration(gv.Group, gv.Version, false), g.isDefined(gv.Group, gv.Version)
	switch {
	case stored == nil && wanted:
		_, err = in.Create(ctx, &apiregistrationv1.APIService{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{initial.AutoManaged: always}}, Spec: spec,
		}, store.CreateOptions{FieldManager: fieldManager})
	case stored == nil || stored.Labels[initial.AutoManaged] != always:
	case !wanted:
		_, err = in.Delete(ctx, "", name, store.DeleteOptions{UID: meta.UID(stored.UID)})
	case !sameSpec(&stored.Spec, &spec):
		s := stored.DeepCopy()
		s.Spec = spec
		_, err = in.Update(ctx, s, store.UpdateOptions{FieldManager: fieldManager})
	}
	if errors.Is(err, store.ErrAlreadyExists) || errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrConflict) {
		return nil // the other change is a task of its own
	}
	return err
}

// isDefined reports whether a definition serves a version of a group.
func (g *aggregator) isDefined(group, version string) bool {
	for d := range g.definitions.All("") {
		if d.Spec.Group != group {
			continue
		}
		for _, v := range d.Spec.Versions {
			if v.Name == version && v.Served {
				return true
			}
		}
	}
	return false
}

func sameSpec(a, b *apiregistrationv1.APIServiceSpec) bool {
	return a.Service == nil && b.Service == nil && a.Group == b.Group && a.Version == b.Version && a.InsecureSkipTLSVerify == b.InsecureSkipTLSVerify &&
		string(a.CABundle) == string(b.CABundle) && a.GroupPriorityMinimum == b.GroupPriorityMinimum && a.VersionPriority == b.VersionPriority
}

// versionsOf returns the names of the APIServices of a definition.
func versionsOf(d *apiextensionsv1.CustomResourceDefinition) (names []string) {
	if d == nil {
		return nil
	}
	for _, v := range d.Spec.Versions {
		names = append(names, v.Name+"."+d.Spec.Group)
	}
	return names
}
