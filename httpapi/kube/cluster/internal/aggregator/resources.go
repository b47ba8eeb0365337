package aggregator

import (
	"fmt"
	"strings"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// nested returns the resources of a version as the aggregated discovery has them: subresources stand below their resource, also
// if the list does not have it. Each has a ResponseKind, without which clients of 0.26 panic (upstream: endpoints/installer.go,
// ConvertGroupVersionIntoToDiscovery, whose package brings the handlers of a whole server).
func nested(list []metav1.APIResource) (all []apidiscoveryv2.APIResourceDiscovery, err error) {
	scopeOf := func(r *metav1.APIResource) apidiscoveryv2.ResourceScope {
		if r.Namespaced {
			return apidiscoveryv2.ScopeNamespace
		}
		return apidiscoveryv2.ScopeCluster
	}
	at := map[string]int{}
	add := func(r apidiscoveryv2.APIResourceDiscovery) {
		at[r.Resource] = len(all)
		all = append(all, r)
	}
	for i := range list {
		if r := &list[i]; !strings.Contains(r.Name, "/") {
			add(apidiscoveryv2.APIResourceDiscovery{
				Resource: r.Name, SingularResource: r.SingularName, Scope: scopeOf(r), Verbs: r.Verbs, ShortNames: r.ShortNames, Categories: r.Categories,
				ResponseKind: &metav1.GroupVersionKind{Group: r.Group, Version: r.Version, Kind: r.Kind},
			})
		}
	}
	for i := range list {
		r := &list[i]
		name, below, isBelow := strings.Cut(r.Name, "/")
		if !isBelow {
			continue
		}
		scope := scopeOf(r)
		if _, listed := at[name]; !listed {
			add(apidiscoveryv2.APIResourceDiscovery{Resource: name, Scope: scope, ResponseKind: &metav1.GroupVersionKind{}})
		}
		resource := &all[at[name]]
		if resource.Scope != scope {
			return nil, fmt.Errorf("Error: Parent %s (scope: %s) and subresource %s (scope: %s) scope do not match", name, resource.Scope, below, scope)
		}
		kind := &metav1.GroupVersionKind{}
		if r.Kind != "" {
			kind = &metav1.GroupVersionKind{Group: r.Group, Version: r.Version, Kind: r.Kind}
		}
		resource.Subresources = append(resource.Subresources, apidiscoveryv2.APISubresourceDiscovery{Subresource: below, Verbs: r.Verbs, ResponseKind: kind})
	}
	return all, nil
}
