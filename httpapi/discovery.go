package httpapi

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"reflect"
	"slices"

	"github.com/kubecoord/kubecoord/internal/codec"
	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/store/meta"
)

// This file answers the discovery documents of one level each: /api, /apis, /apis/{group} and the
// group versions. In a real server the aggregator answers /apis and /apis/{group} for every method
// (upstream: kube-aggregator, apiserver/handler_apis.go). The other two are routes, which accept GET
// only and check Accept, but for the versions of groups without built-in kinds.

// verbs returns the verbs of a resource in the order of a real server. A custom resource whose definition is terminating has fewer.
func (a *API) verbs(e *endpoint) []string {
	all := []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}
	switch {
	case e.Info.Native:
	case a.st.Terminating(e.Kind):
		all = []string{"delete", "deletecollection", "get", "list", "watch"}
	default:
		all = []string{"delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"}
	}
	return slices.DeleteFunc(all, func(verb string) bool { return !e.Info.Serves(verb) })
}

// responseKind returns the kind of a subresource. Group and version are empty if they are the parent's.
func (e *endpoint) responseKind(s *kinds.Subresource) responseKind {
	if s.Body == nil {
		return responseKind{Kind: cmp.Or(s.ConnectKind, e.Info.Kind)}
	}
	gv, _ := meta.ParseGroupVersion(s.Body.TypeMeta(0).APIVersion)
	if gv.String() == e.APIVersion {
		gv = meta.GroupVersion{}
	}
	return responseKind{gv.Group, gv.Version, s.Body.Info().Kind}
}

type apiVersions struct {
	meta.TypeMeta `json:",inline"`
	Versions      []string        `json:"versions" protobuf:"1"`
	Addresses     []serverAddress `json:"serverAddressByClientCIDRs" protobuf:"2"`
}

type serverAddress struct {
	ClientCIDR    string `json:"clientCIDR" protobuf:"1"`
	ServerAddress string `json:"serverAddress" protobuf:"2"`
}

type apiGroupList struct {
	meta.TypeMeta `json:",inline"`
	Groups        []apiGroup `json:"groups" protobuf:"1"`
}

type apiGroup struct {
	meta.TypeMeta `json:",inline"`
	Name          string          `json:"name" protobuf:"1"`
	Versions      []groupVersions `json:"versions" protobuf:"2"`
	Preferred     groupVersions   `json:"preferredVersion" protobuf:"3"`
}

type groupVersions struct {
	GroupVersion string `json:"groupVersion" protobuf:"1"`
	Version      string `json:"version" protobuf:"2"`
}

type apiResourceList struct {
	meta.TypeMeta `json:",inline"`
	GroupVersion  string        `json:"groupVersion" protobuf:"1"`
	Resources     []apiResource `json:"resources" protobuf:"2"`
}

type apiResource struct {
	Name         string   `json:"name" protobuf:"1"`
	SingularName string   `json:"singularName" protobuf:"6"`
	Namespaced   bool     `json:"namespaced" protobuf:"2"`
	Group        string   `json:"group,omitempty" protobuf:"8"`
	Version      string   `json:"version,omitempty" protobuf:"9"`
	Kind         string   `json:"kind" protobuf:"3"`
	Verbs        []string `json:"verbs"`
	// ProtoVerbs are the verbs in protobuf, where they are a message. They are not set in JSON.
	ProtoVerbs         verbList `json:"protoVerbs,omitzero" protobuf:"4"`
	ShortNames         []string `json:"shortNames,omitempty" protobuf:"5"`
	Categories         []string `json:"categories,omitempty" protobuf:"7"`
	StorageVersionHash string   `json:"storageVersionHash,omitempty" protobuf:"10"`
}

type verbList struct {
	Items []string `json:"items" protobuf:"1"`
}

// legacyVersions answers /api.
func (c *call) legacyVersions() {
	if err := c.checkDocumentRoute(); err != nil {
		c.fail(err)
		return
	}
	if c.aggregated(c.served.groupsOf(true)) {
		return
	}
	doc := apiVersions{
		TypeMeta: meta.TypeMeta{Kind: "APIVersions"}, Versions: []string{},
		Addresses: []serverAddress{{ClientCIDR: "0.0.0.0/0", ServerAddress: c.req.Host}},
	}
	for _, g := range c.served.groupsOf(true) {
		for _, v := range g.versions {
			doc.Versions = append(doc.Versions, v.Version)
		}
	}
	c.writeDiscovery(&doc)
}

// groupListOrAggregated answers /apis.
func (c *call) groupListOrAggregated() {
	if !c.aggregated(c.served.groupsOf(false)) {
		c.groupList()
	}
}

// groupList answers /apis/, and /apis without the aggregated document.
func (c *call) groupList() {
	doc := apiGroupList{TypeMeta: meta.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}, Groups: []apiGroup{}}
	for _, g := range c.served.groupsOf(false) {
		doc.Groups = append(doc.Groups, g.document())
	}
	c.writeDiscovery(&doc)
}

// groupDocument answers /apis/{group}. With extra slashes the path of a group of built-in kinds is a route.
func (c *call) groupDocument(g *servedGroup, isRoute bool) {
	if err := c.checkDocumentRoute(); isRoute && err != nil {
		c.fail(err)
		return
	}
	doc := g.document()
	doc.TypeMeta = meta.TypeMeta{Kind: "APIGroup", APIVersion: "v1"}
	c.writeDiscovery(&doc)
}

// resourceList answers /api/{version} and /apis/{group}/{version}.
func (c *call) resourceList(v *groupVersion, isRoute bool) {
	if err := c.checkDocumentRoute(); isRoute && err != nil {
		c.fail(err)
		return
	}
	doc := apiResourceList{TypeMeta: meta.TypeMeta{Kind: "APIResourceList"}, GroupVersion: v.String(), Resources: []apiResource{}}
	if v.Group != "" {
		doc.APIVersion = "v1"
	}
	for _, e := range v.endpoints {
		doc.Resources = append(doc.Resources, apiResource{
			Name: e.Info.Plural, SingularName: e.Info.Singular, Namespaced: !e.Info.ClusterScoped, Kind: e.Info.Kind,
			Verbs: c.api.verbs(e), ShortNames: e.Info.ShortNames, Categories: e.Info.Categories, StorageVersionHash: e.storageHash(),
		})
		for s := range e.Kind.SubresourcesIn(e.Version) {
			kind := e.responseKind(s)
			doc.Resources = append(doc.Resources, apiResource{
				Name: e.Info.Plural + "/" + s.Name, Namespaced: !e.Info.ClusterScoped, Verbs: s.Verbs,
				Group: kind.Group, Version: kind.Version, Kind: kind.Kind,
			})
		}
	}
	c.writeDiscovery(&doc)
}

// groupsOf returns the core group, or all other groups.
func (s *served) groupsOf(core bool) (out []*servedGroup) {
	for _, g := range s.groups {
		if (g.name == "") == core {
			out = append(out, g)
		}
	}
	return out
}

func (g *servedGroup) document() apiGroup {
	d := apiGroup{Name: g.name}
	for _, v := range g.versions {
		d.Versions = append(d.Versions, groupVersions{v.String(), v.Version})
	}
	d.Preferred = d.Versions[0]
	return d
}

// storageHash identifies the version that objects are stored in, if they are.
func (e *endpoint) storageHash() string {
	if !e.Info.Stored() {
		return ""
	}
	stored := e.Kind.Origin().Info()
	sum := sha256.Sum256([]byte(stored.Group + "/" + stored.Versions[0].Name + "/" + stored.Kind))
	return base64.StdEncoding.EncodeToString(sum[:8])
}

// checkDocumentRoute makes the checks of a route: the method, and Accept.
func (c *call) checkDocumentRoute() error {
	if c.req.Method != http.MethodGet {
		return methodNotAllowed()
	}
	if !matchesRoute(c.header("Accept")) {
		return notAcceptableRoute(typeJSON, typeYAML, typeProtobuf)
	}
	return nil
}

func (c *call) writeDiscovery(doc any) {
	if err := c.negotiateMedia(); err != nil {
		c.fail(err)
		return
	}
	if c.media.format == formatProtobuf {
		t := *doc.(interface{ GetTypeMeta() *meta.TypeMeta }).GetTypeMeta()
		if l, ok := doc.(*apiResourceList); ok {
			for i := range l.Resources {
				l.Resources[i].ProtoVerbs.Items = l.Resources[i].Verbs
			}
		}
		c.writeDocument(http.StatusOK, discoveryMessage(doc, t), c.media)
		return
	}
	c.writeDocument(http.StatusOK, mustJSON(doc), c.media)
}

// discoveryMessage returns a document in protobuf.
func discoveryMessage(doc any, t meta.TypeMeta) []byte {
	return codec.AppendEnvelope(nil, t.APIVersion, t.Kind, codec.MustCompile(reflect.TypeOf(doc).Elem(), "v1").AppendProto(nil, doc))
}
