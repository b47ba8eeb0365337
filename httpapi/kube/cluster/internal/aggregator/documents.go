package aggregator

import (
	"crypto/sha512"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/endpoints/discovery/aggregated"
	"k8s.io/apiserver/pkg/endpoints/handlers/negotiation"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"k8s.io/kube-aggregator/pkg/apis/apiregistration/v1/helper"

	"github.com/kubecoord/kubecoord/httpapi/kube/cluster/internal/initial"
)

// A document of discovery is answered by the API itself, unless an APIService adds to it or orders it otherwise. Then the library of
// upstream writes it (upstream: kube-aggregator, apiserver/handler_apis.go and handler_discovery.go).

// registrations returns an APIService for each group and version below /apis: the stored ones, and those that a server makes for what it
// serves. ordinary reports whether all of them are in the second group.
func (g *aggregator) registrations() (all []*apiregistrationv1.APIService, ordinary bool) {
	stored := g.services.Read(nil)
	served, ordinary := map[string]int{}, true // indices in all, by name
	for _, k := range g.api.Kinds() {
		for _, of := range k.Groups() {
			info := of.Info()
			for _, v := range info.Versions {
				name := v.Name + "." + info.Group
				if _, known := served[name]; known || info.Group == "" || v.Unserved {
					continue
				}
				served[name] = len(all)
				s := &apiregistrationv1.APIService{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: initial.Registration(info.Group, v.Name, info.Native)}
				all = append(all, s)
			}
		}
	}
	for _, s := range stored.All {
		if s.Spec.Group == "" {
			continue
		}
		i, known := served[s.Name]
		if !known {
			all, ordinary = append(all, s), false
			continue
		}
		ordinary = ordinary && s.Spec.GroupPriorityMinimum == all[i].Spec.GroupPriorityMinimum && s.Spec.VersionPriority == all[i].Spec.VersionPriority
		all[i] = s
	}
	return all, ordinary
}

// groupList returns the handler of /apis, and of /apis/.
func (g *aggregator) groupList(r *http.Request, next http.Handler) http.Handler {
	all, ordinary := g.registrations()
	if ordinary {
		return next
	}
	list := g.api.Guard(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { write(w, r, groupListOf(all)) }))
	if r.URL.Path != "/apis" {
		return list
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		own := r.Clone(r.Context())
		own.Header.Del("If-None-Match")
		answer := httptest.NewRecorder()
		next.ServeHTTP(answer, own)
		var doc apidiscoveryv2.APIGroupDiscoveryList
		if decodeDiscovery(answer.Header().Get("Content-Type"), answer.Body.Bytes(), &doc) != nil {
			list.ServeHTTP(w, r) // or refuses the request
			return
		}
		for _, name := range []string{"Audit-Id", "Date"} {
			if values := answer.Header()[name]; values != nil {
				w.Header()[name] = values
			}
		}
		doc.Items = g.merge(all, doc.Items)
		untyped, _ := json.Marshal(&doc) // came from JSON
		aggregated.ServeHTTPWithETag(&doc, fmt.Sprintf("%X", sha512.Sum512(untyped)), apidiscoveryv2.SchemeGroupVersion, discoveryCodecs(), w, r)
	})
}

// merge adds the groups and versions of other servers to what this one serves, in the order of all.
func (g *aggregator) merge(all []*apiregistrationv1.APIService, own []apidiscoveryv2.APIGroupDiscovery) (groups []apidiscoveryv2.APIGroupDiscovery) {
	served := map[string]apidiscoveryv2.APIVersionDiscovery{}
	for _, group := range own {
		for _, v := range group.Versions {
			served[v.Version+"."+group.Name] = v
		}
	}
	for _, versions := range helper.SortedByGroupAndVersion(all) {
		group := apidiscoveryv2.APIGroupDiscovery{ObjectMeta: metav1.ObjectMeta{Name: versions[0].Spec.Group}}
		for _, s := range versions {
			if v, is := served[s.Name]; s.Spec.Service != nil {
				group.Versions = append(group.Versions, g.discovery(s))
			} else if is {
				group.Versions = append(group.Versions, v)
			}
		}
		if len(group.Versions) > 0 {
			groups = append(groups, group)
		}
	}
	return groups
}

// groupListOf returns the groups of APIServices, in their order.
func groupListOf(all []*apiregistrationv1.APIService) *metav1.APIGroupList {
	list := &metav1.APIGroupList{}
	for _, versions := range helper.SortedByGroupAndVersion(all) {
		list.Groups = append(list.Groups, *groupOf(versions))
	}
	return list
}

// groupOf returns the group of APIServices, in their order.
func groupOf(all []*apiregistrationv1.APIService) *metav1.APIGroup {
	g := &metav1.APIGroup{Name: all[0].Spec.Group}
	for _, s := range all {
		g.Versions = append(g.Versions, metav1.GroupVersionForDiscovery{GroupVersion: s.Spec.Group + "/" + s.Spec.Version, Version: s.Spec.Version})
	}
	g.PreferredVersion = g.Versions[0]
	return g
}

// group returns the handler of the document of a group.
func (g *aggregator) group(name string, next http.Handler) http.Handler {
	all, ordinary := g.registrations()
	all = slices.DeleteFunc(all, func(s *apiregistrationv1.APIService) bool { return s.Spec.Group != name })
	if ordinary || len(all) == 0 {
		return next
	}
	return g.api.Guard(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		write(w, r, groupOf(helper.SortedByGroupAndVersion(all)[0]))
	}))
}

// write answers with a document.
func write(w http.ResponseWriter, r *http.Request, doc runtime.Object) {
	responsewriters.WriteObjectNegotiated(clientscheme.Codecs, negotiation.DefaultEndpointRestrictions, schema.GroupVersion{}, w, r, http.StatusOK, doc, false)
}
