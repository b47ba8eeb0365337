// Package policystatus checks the types of the expressions of ValidatingAdmissionPolicies, and writes what it finds into their status, as
// the controller validatingadmissionpolicy-status of kube-controller-manager does. The checker is upstream's.
package policystatus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/cel/openapi/resolver"
	"k8s.io/client-go/restmapper"
	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/kube"
	"github.com/kubecoord/kubecoord/httpapi/kube/cluster/internal/controller"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

const (
	fieldManager = "validatingadmissionpolicy-status"
	// lastRetry is upstream's (client-go, util/workqueue, DefaultTypedControllerRateLimiter).
	lastRetry = 1000 * time.Second
)

// Run writes the status of the policies of an API until ctx ends.
func Run(ctx context.Context, api *httpapi.API) {
	for _, k := range api.Kinds() {
		if !isPolicy(k) {
			continue
		}
		policies, err := kube.In[admissionv1.ValidatingAdmissionPolicy](k, api.Store())
		if err != nil {
			return // cannot be: the kind has this type
		}
		s := &statuses{api: api, policies: policies, queue: controller.NewQueue[string](api.Store().Clock(), lastRetry)}
		controller.Run(ctx, api, "validatingadmissionpolicy-status-controller", s.queue, s.follow, s.process)
		return
	}
}

func isPolicy(k kind.Kind) bool {
	info := k.Info()
	return info.Group == admissionv1.GroupName && info.Kind == "ValidatingAdmissionPolicy"
}

type statuses struct {
	api      *httpapi.API
	policies *store.Collection[admissionv1.ValidatingAdmissionPolicy]
	queue    *controller.Queue[string] // of names
}

// follow plans a look at each policy that has changed, and first at all.
func (s *statuses) follow(ctx context.Context, changes []store.ObjectChange) {
	if changes == nil {
		for p, err := range s.policies.All(ctx, "") {
			if err == nil {
				s.queue.Add(p.Name)
			}
		}
	}
	for _, c := range changes {
		if c.New != nil && isPolicy(c.Kind) {
			s.queue.Add(c.New.GetObjectMeta().Name)
		}
	}
}

func (s *statuses) process(ctx context.Context, name string) {
	if err := s.check(ctx, name); err != nil && !errors.Is(err, store.ErrNotFound) {
		s.queue.Retry(name)
		return
	}
	s.queue.Succeeded(name)
}

// check writes the status of a policy whose generation was not checked yet.
func (s *statuses) check(ctx context.Context, name string) error {
	p, err := s.policies.Get(ctx, "", name)
	if err != nil || p.Generation <= p.Status.ObservedGeneration {
		return err
	}
	kinds := s.api.Kinds()
	checker := validating.TypeChecker{SchemaResolver: schemas(kinds), RestMapper: restmapper.NewDiscoveryRESTMapper(resources(kinds))}
	_, err = s.policies.Status().Apply(ctx, &admissionv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Status: admissionv1.ValidatingAdmissionPolicyStatus{
			ObservedGeneration: p.Generation, TypeChecking: &admissionv1.TypeChecking{ExpressionWarnings: checker.Check(p)},
		},
	}, store.ApplyOptions{FieldManager: fieldManager, Force: true})
	return err
}

// resources returns what discovery says of kinds.
func resources(kinds []kind.Kind) (all []*restmapper.APIGroupResources) {
	groups := map[string]*restmapper.APIGroupResources{}
	for _, k := range kinds {
		info := k.Info()
		g := groups[info.Group]
		if g == nil {
			g = &restmapper.APIGroupResources{Group: metav1.APIGroup{Name: info.Group}, VersionedResources: map[string][]metav1.APIResource{}}
			groups[info.Group] = g
			all = append(all, g)
		}
		for _, v := range info.Versions {
			if v.Unserved {
				continue
			}
			if g.VersionedResources[v.Name] == nil {
				g.Group.Versions = append(g.Group.Versions, metav1.GroupVersionForDiscovery{GroupVersion: schema.GroupVersion{Group: info.Group, Version: v.Name}.String(), Version: v.Name})
			}
			g.VersionedResources[v.Name] = append(g.VersionedResources[v.Name], metav1.APIResource{
				Name: info.Plural, SingularName: info.Singular, Namespaced: !info.ClusterScoped, Kind: info.Kind,
			})
		}
	}
	return all
}

// schemas resolves kinds by the schemas that the API publishes.
type schemas []kind.Kind

var _ resolver.SchemaResolver = schemas(nil)

// ResolveSchema implements resolver.SchemaResolver.
func (s schemas) ResolveSchema(gvk schema.GroupVersionKind) (*spec.Schema, error) {
	for _, k := range s {
		info := k.Info()
		if info.Group != gvk.Group || info.Kind != gvk.Kind {
			continue
		}
		for version, v := range info.Versions {
			if v.Name == gvk.Version && !v.Unserved {
				return schemaOf(k, version)
			}
		}
	}
	return nil, fmt.Errorf("cannot resolve group version kind %q: %w", gvk, resolver.ErrSchemaNotFound)
}

// schemaOf returns the schema of a kind in a version, with all that it refers to.
func schemaOf(k kind.Kind, version int) (*spec.Schema, error) {
	var doc spec3.OpenAPI
	if err := json.Unmarshal(httpapi.OpenAPI(k, version), &doc); err != nil {
		return nil, err
	}
	own := k.TypeMeta(version)
	for name, s := range doc.Components.Schemas {
		if names(s, own) {
			return resolver.PopulateRefs(func(ref string) (*spec.Schema, bool) {
				s, ok := doc.Components.Schemas[strings.TrimPrefix(ref, "#/components/schemas/")]
				return s, ok
			}, name)
		}
	}
	return nil, fmt.Errorf("cannot resolve %v: %w", own, resolver.ErrSchemaNotFound)
}

// names reports whether a schema is the schema of a kind.
func names(s *spec.Schema, own meta.TypeMeta) bool {
	var all []metav1.GroupVersionKind
	if err := s.Extensions.GetObject("x-kubernetes-group-version-kind", &all); err != nil {
		return false
	}
	for _, gvk := range all {
		if gvk.Kind == own.Kind && (metav1.GroupVersion{Group: gvk.Group, Version: gvk.Version}).String() == own.APIVersion {
			return true
		}
	}
	return false
}
