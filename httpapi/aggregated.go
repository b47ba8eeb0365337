package httpapi

import (
	"crypto/sha512"
	"fmt"
	"net/http"

	"github.com/kubecoord/kubecoord/store/meta"
)

// Aggregated discovery describes all resources of all groups in one document (KEP
// 3352). Clients ask for it at /api and /apis by parameters of the media type.

const (
	aggregatedKind    = "APIGroupDiscoveryList"
	aggregatedVersion = "apidiscovery.k8s.io/v2"
	aggregatedHead    = `{"kind":"` + aggregatedKind + `","apiVersion":"` + aggregatedVersion + `",`
	// aggregatedSuffix follows the media type of the answer.
	aggregatedSuffix = ";g=apidiscovery.k8s.io;v=v2;as=" + aggregatedKind
)

type discoveryList struct {
	meta.TypeMeta `json:",inline"`
	meta.ListMeta `json:"metadata" protobuf:"1"`
	Items         []groupDiscovery `json:"items" protobuf:"2"`
}

type groupDiscovery struct {
	meta.ObjectMeta `json:"metadata" protobuf:"1"`
	Versions        []versionDiscovery `json:"versions,omitempty" protobuf:"2"`
}

type versionDiscovery struct {
	Version   string              `json:"version" protobuf:"1"`
	Resources []resourceDiscovery `json:"resources,omitempty" protobuf:"2"`
	Freshness string              `json:"freshness,omitempty" protobuf:"3"`
}

type resourceDiscovery struct {
	Resource         string                 `json:"resource" protobuf:"1"`
	ResponseKind     responseKind           `json:"responseKind" protobuf:"2"`
	Scope            string                 `json:"scope" protobuf:"3"`
	SingularResource string                 `json:"singularResource" protobuf:"4"`
	Verbs            []string               `json:"verbs" protobuf:"5"`
	ShortNames       []string               `json:"shortNames,omitempty" protobuf:"6"`
	Categories       []string               `json:"categories,omitempty" protobuf:"7"`
	Subresources     []subresourceDiscovery `json:"subresources,omitempty" protobuf:"8"`
}

type subresourceDiscovery struct {
	Subresource  string       `json:"subresource" protobuf:"1"`
	ResponseKind responseKind `json:"responseKind" protobuf:"2"`
	Verbs        []string     `json:"verbs" protobuf:"4"`
}

// responseKind has group and version only for custom resources: others have their parent's.
type responseKind struct {
	Group   string `json:"group" protobuf:"1"`
	Version string `json:"version" protobuf:"2"`
	Kind    string `json:"kind" protobuf:"3"`
}

// aggregated answers with the aggregated document if the Accept header contains it at any position. It
// reports whether it answered.
func (c *call) aggregated(groups []*servedGroup) bool {
	m, ok := negotiate(c.header("Accept"), aggregatedForms)
	if !ok {
		return false
	}
	m.pretty = m.pretty || prettyWanted(c)
	m.suffix = aggregatedSuffix
	var doc discoveryList
	for _, g := range groups {
		doc.Items = append(doc.Items, c.api.discovery(g))
	}
	untyped := mustJSON(doc)
	tag := fmt.Sprintf(`"%X"`, sha512.Sum512(untyped))
	h := c.Header()
	h["Vary"] = []string{"Accept"}
	h["Cache-Control"] = []string{"public"}
	h.Set("Etag", tag)
	if c.header("If-None-Match") == tag {
		c.WriteHeader(http.StatusNotModified)
		return true
	}
	data := appendTyped(nil, aggregatedHead, untyped)
	if m.format == formatProtobuf {
		data = discoveryMessage(&doc, m.as)
	}
	c.writeDocument(http.StatusOK, data, m)
	return true
}

func (a *API) discovery(g *servedGroup) groupDiscovery {
	d := groupDiscovery{ObjectMeta: meta.ObjectMeta{Name: g.name}}
	for _, v := range g.versions {
		version := versionDiscovery{Version: v.Version, Freshness: "Current"}
		for _, e := range v.endpoints {
			r := resourceDiscovery{
				Resource: e.Info.Plural, Scope: "Namespaced", SingularResource: e.Info.Singular,
				Verbs: a.verbs(e), ShortNames: e.Info.ShortNames, Categories: e.Info.Categories, ResponseKind: responseKind{Kind: e.Info.Kind},
			}
			if e.Info.ClusterScoped {
				r.Scope = "Cluster"
			}
			if !e.Info.Native {
				r.ResponseKind.Group, r.ResponseKind.Version = v.Group, v.Version
			}
			for s := range e.Kind.SubresourcesIn(e.Version) {
				kind := e.responseKind(s)
				if kind.Version == "" {
					kind.Group, kind.Version = r.ResponseKind.Group, r.ResponseKind.Version
				}
				r.Subresources = append(r.Subresources, subresourceDiscovery{Subresource: s.Name, ResponseKind: kind, Verbs: s.Verbs})
			}
			version.Resources = append(version.Resources, r)
		}
		d.Versions = append(d.Versions, version)
	}
	return d
}
