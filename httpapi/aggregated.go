package httpapi

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/kubecoord/kubecoord/store/meta"
)

// Aggregated discovery tells all resources of all groups in one document (KEP
// 3352). Clients know it by the parameters of the Content-Type, ask for it at
// /api and /apis, and come back with the tag of what they have.

const (
	aggregatedVersion = "v2"
	aggregatedType    = typeJSON + ";g=apidiscovery.k8s.io;v=" + aggregatedVersion + ";as=APIGroupDiscoveryList"
)

type discoveryList struct {
	meta.TypeMeta `json:",inline"`
	meta.ListMeta `json:"metadata"`
	Items         []groupDiscovery `json:"items"`
}

type groupDiscovery struct {
	Meta struct {
		Name string `json:"name,omitempty"`
	} `json:"metadata"`
	Versions []versionDiscovery `json:"versions,omitempty"`
}

type versionDiscovery struct {
	Version   string              `json:"version"`
	Resources []resourceDiscovery `json:"resources,omitempty"`
	Freshness string              `json:"freshness,omitempty"`
}

type resourceDiscovery struct {
	Resource         string                 `json:"resource"`
	ResponseKind     responseKind           `json:"responseKind"`
	Scope            string                 `json:"scope"`
	SingularResource string                 `json:"singularResource"`
	Verbs            []string               `json:"verbs"`
	ShortNames       []string               `json:"shortNames,omitempty"`
	Subresources     []subresourceDiscovery `json:"subresources,omitempty"`
}

type subresourceDiscovery struct {
	Subresource  string       `json:"subresource"`
	ResponseKind responseKind `json:"responseKind"`
	Verbs        []string     `json:"verbs"`
}

// responseKind has no group and version where they are those of the parent.
// Custom resources have them all the same.
type responseKind struct {
	Group   string `json:"group"`
	Version string `json:"version"`
	Kind    string `json:"kind"`
}

// aggregated answers with the aggregated document if the client prefers it,
// and reports whether it did.
func (c *call) aggregated(groups []*apiGroup) bool {
	if c.req.Method != http.MethodGet || !wantsAggregated(c.req.Header.Get("Accept")) {
		return false
	}
	doc := discoveryList{TypeMeta: meta.TypeMeta{Kind: "APIGroupDiscoveryList", APIVersion: "apidiscovery.k8s.io/" + aggregatedVersion}}
	for _, g := range groups {
		doc.Items = append(doc.Items, g.discovery())
	}
	data, err := json.Marshal(doc)
	if err != nil {
		c.fail(err)
		return true
	}
	sum := sha256.Sum256(data)
	tag := `"` + strings.ToUpper(hex.EncodeToString(sum[:])) + `"`
	h := c.Header()
	h["Vary"] = []string{"Accept"}
	h.Set("Etag", tag)
	if c.req.Header.Get("If-None-Match") == tag {
		c.WriteHeader(http.StatusNotModified)
		return true
	}
	c.writeBytes(http.StatusOK, aggregatedType, append(data, '\n'))
	return true
}

// wantsAggregated reports whether any clause asks for the aggregated document,
// wherever it stands.
func wantsAggregated(header string) bool {
	for _, cl := range parseAccept(header) {
		name := cl.mainType + "/" + cl.subType
		if (name == typeJSON || name == "*/*") && cl.params["as"] == "APIGroupDiscoveryList" &&
			cl.params["g"] == "apidiscovery.k8s.io" && cl.params["v"] == aggregatedVersion {
			return true
		}
	}
	return false
}

func (g *apiGroup) discovery() groupDiscovery {
	d := groupDiscovery{}
	d.Meta.Name = g.name
	for _, v := range g.versions {
		version := versionDiscovery{Version: v.Version, Freshness: "Current"}
		for _, e := range v.endpoints {
			r := resourceDiscovery{
				Resource: e.info.Plural, Scope: "Namespaced", SingularResource: e.info.Singular,
				Verbs: e.verbs(), ShortNames: e.info.ShortNames, ResponseKind: responseKind{Kind: e.info.Kind},
			}
			if e.info.ClusterScoped {
				r.Scope = "Cluster"
			}
			if !e.info.Native {
				r.ResponseKind.Group, r.ResponseKind.Version = v.Group, v.Version
			}
			if e.info.Status {
				r.Subresources = []subresourceDiscovery{{Subresource: statusPath, ResponseKind: r.ResponseKind, Verbs: statusVerbs()}}
			}
			version.Resources = append(version.Resources, r)
		}
		d.Versions = append(d.Versions, version)
	}
	return d
}
