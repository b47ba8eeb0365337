package httpapi

import (
	"bytes"
	"cmp"
	"crypto/sha512"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/munnerz/goautoneg"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/openapi"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// This file answers /openapi/v2, /openapi/v3 and the paths below the latter (upstream: kube-openapi,
// handler and handler3). Query: hash, timeout.

// openAPI has the documents of an API by path, and the index of version 3. A document is made when a client asks for it.
type openAPI struct {
	byPath map[string]*openAPIDocument
	native []*endpoint // the kinds that the documents of other group versions may refer to
	index  func() []byte
}

// openAPIDocument is one document. The states of the kinds in which it is the same share it.
type openAPIDocument struct {
	path    string
	version string      // of OpenAPI: "v2" or "v3"
	of      []*endpoint // of its group version
	changed time.Time
	// content is made at the first call, and so is protobuf, from a tree that is made again: it takes more memory than both.
	// tag is a hash of the JSON, which both formats have.
	content  func() (json []byte, tag string)
	protobuf func() []byte
}

// The paths of the document of version 2, and of the index of version 3.
const (
	openAPIV2 = "/openapi/v2"
	openAPIV3 = "/openapi/v3"
)

// newOpenAPI returns the documents of a state of the kinds. Before, if it is not nil, has the documents of the state before it, in which
// the groups in now replace the groups in was. Documents that stay as they are are shared.
func (s *served) newOpenAPI(before *openAPI, was, now []*servedGroup, at time.Time) *openAPI {
	o := &openAPI{}
	var all []*endpoint
	for _, g := range s.groups {
		for _, v := range g.versions {
			all = append(all, v.endpoints...)
		}
	}
	if before == nil {
		before = &openAPI{byPath: map[string]*openAPIDocument{}}
		before.native = slices.DeleteFunc(slices.Clone(all), func(e *endpoint) bool { return !e.Info.Native })
		for _, name := range []string{"api", "apis", "version"} {
			before.add(nil, name, nil, at)
		}
	}
	o.native, o.byPath = before.native, maps.Clone(before.byPath)
	for _, g := range was {
		for name := range g.documents() {
			delete(o.byPath, openAPIV3+"/"+name)
		}
	}
	for _, g := range now {
		for name, of := range g.documents() {
			o.add(before, name, of, at)
		}
	}
	o.index = sync.OnceValue(o.makeIndex)
	o.byPath[openAPIV2] = newOpenAPIDocument(openAPIV2, "v2", all, at, func() openapi.Document { return describe(all, nil).V2() })
	return o
}

// documents iterates over the names of the documents of a group, with the endpoints that each is about.
func (g *servedGroup) documents() iter.Seq2[string, []*endpoint] {
	return func(yield func(string, []*endpoint) bool) {
		for _, v := range g.versions {
			if !yield(strings.TrimPrefix(v.root, "/"), v.endpoints) {
				return
			}
		}
		if g.name != "" && len(g.versions) > 0 {
			yield(strings.TrimPrefix(g.root, "/"), nil)
		}
	}
}

// add adds a document of version 3. It shares the document of before if that has the same endpoints.
func (o *openAPI) add(before *openAPI, name string, of []*endpoint, at time.Time) {
	path, native := openAPIV3+"/"+name, o.native
	if before != nil {
		if have := before.byPath[path]; have != nil && slices.Equal(have.of, of) {
			o.byPath[path] = have
			return
		}
	}
	o.byPath[path] = newOpenAPIDocument(path, "v3", of, at, func() openapi.Document { return describe(of, native).V3(name) })
}

func newOpenAPIDocument(path, version string, of []*endpoint, now time.Time, make func() openapi.Document) *openAPIDocument {
	return &openAPIDocument{
		path: path, version: version, of: of, changed: now,
		content: sync.OnceValues(func() ([]byte, string) {
			data := make().JSON()
			return data, fmt.Sprintf("%X", sha512.Sum512(data))
		}),
		protobuf: sync.OnceValue(func() []byte { return make().Protobuf() }),
	}
}

// makeIndex returns the index of version 3, which has the hashes of all documents.
func (o *openAPI) makeIndex() []byte {
	type link struct {
		URL string `json:"serverRelativeURL"`
	}
	links := map[string]link{}
	for path, d := range o.byPath {
		if name, ok := strings.CutPrefix(path, openAPIV3+"/"); ok {
			links[name] = link{d.link()}
		}
	}
	return mustJSON(map[string]any{"paths": links})
}

// describe describes kinds to package openapi: those that documents are about, and others.
func describe(of, others []*endpoint) openapi.API {
	out := openapi.API{Version: Version}
	for i, e := range slices.Concat(of, others) {
		if i >= len(of) && slices.Contains(of, e) {
			continue
		}
		gv, _ := meta.ParseGroupVersion(e.APIVersion)
		at := slices.IndexFunc(out.GroupVersions, func(have openapi.GroupVersion) bool { return have.GroupVersion == gv })
		if at < 0 {
			at = len(out.GroupVersions)
			out.GroupVersions = append(out.GroupVersions, openapi.GroupVersion{GroupVersion: gv})
		}
		out.GroupVersions[at].Resources = append(out.GroupVersions[at].Resources, e.describe())
	}
	return out
}

// OpenAPI returns the document of version 3 about one version of a kind, by its index, in JSON: its schemas, and the paths of its objects.
func OpenAPI(k kind.Kind, version int) []byte {
	e := (*endpoint)(kinds.Of(k).Endpoints()[version])
	gv, _ := meta.ParseGroupVersion(e.APIVersion)
	of := openapi.GroupVersion{GroupVersion: gv, Resources: []openapi.Resource{e.describeAlone()}}
	return openapi.API{GroupVersions: []openapi.GroupVersion{of}}.V3(of.Name()).JSON()
}

// describeAlone describes a kind in a version without its subresources.
func (e *endpoint) describeAlone() openapi.Resource {
	return openapi.Resource{
		Kind: e.Info.Kind, ListKind: e.Info.ListKind, Plural: e.Info.Plural, NotStrategic: e.Info.Trees, Native: e.Info.Native, JSONOnly: e.Kind.JSONOnly(), ClusterScoped: e.Info.ClusterScoped,
		Type: e.Document(), Verbs: e.Info.Verbs,
	}
}

// describe describes a kind in a version with its subresources.
func (e *endpoint) describe() openapi.Resource {
	r := e.describeAlone()
	for s := range e.Kind.SubresourcesIn(e.Version) {
		if s.Connect != nil {
			continue
		}
		sub := openapi.Subresource{Name: s.Name, Verbs: s.Verbs}
		if s.Body != nil {
			body := (*endpoint)(s.Body.Endpoints()[0])
			sub.Body = new(body.describe())
			sub.GroupVersion, _ = meta.ParseGroupVersion(body.APIVersion)
		}
		r.Subresources = append(r.Subresources, sub)
	}
	return r
}

// link returns the URL of the document with its hash.
func (d *openAPIDocument) link() string {
	_, tag := d.content()
	u := url.URL{Path: d.path, RawQuery: url.Values{"hash": {tag}}.Encode()}
	return u.String()
}

// negotiate returns the document in the format that the client prefers.
func (d *openAPIDocument) negotiate(accept string) (mediaType string, data []byte, ok bool) {
	const prefix = "com.github.proto-openapi.spec."
	for _, cl := range goautoneg.ParseAccept(cmp.Or(accept, "*/*")) {
		if cl.Type != "application" && cl.Type != "*" {
			continue
		}
		switch cl.SubType {
		case "json", "*":
			data, _ = d.content()
			return typeJSON, data, true
		case prefix + d.version + "@v1.0+protobuf", prefix + d.version + ".v1.0+protobuf":
			// Clients ask with "@", which is not allowed in a media type.
			return "application/" + prefix + d.version + ".v1.0+protobuf", d.protobuf(), true
		}
	}
	return "", nil, false
}

// openAPI answers with the document of a path. With its hash in the query, a document of version 3 may
// be cached forever; another hash is redirected. The 404 of an unknown document has no body (upstream:
// kube-aggregator, openapiv3/aggregator, handleGroupVersion).
func (c *call) openAPI() {
	d := c.served.openAPI().byPath[c.req.URL.Path]
	if d == nil {
		c.WriteHeader(http.StatusNotFound)
		return
	}
	h := c.Header()
	if accept := c.header("Accept"); d.version == "v3" && accept != "" && len(goautoneg.ParseAccept(accept)) == 0 {
		c.WriteHeader(http.StatusOK) // an Accept header without a media type (upstream: kube-openapi, handler3, HandleGroupVersion)
		return
	}
	if d.version == "v2" {
		h.Add("Vary", "Accept-Encoding")
	}
	h.Add("Vary", "Accept")
	mediaType, data, ok := d.negotiate(c.header("Accept"))
	if !ok {
		c.WriteHeader(http.StatusNotAcceptable)
		return
	}
	_, tag := d.content()
	h.Set("Content-Type", mediaType)
	if hash := c.param("hash"); hash != "" && d.version == "v3" {
		if hash != tag {
			h.Set("Etag", strconv.Quote(tag))
			http.Redirect(c, c.req, d.link(), http.StatusMovedPermanently)
			return
		}
		h.Set("Cache-Control", "public, immutable")
		h.Set("Expires", c.api.st.Now().AddDate(1, 0, 0).UTC().Format(http.TimeFormat))
	}
	h.Set("Etag", strconv.Quote(tag))
	c.serveContent(d.changed, data)
}

// serveContent answers with a document, or with ranges of it. Each range costs a header, so more
// than clients ask for are ignored, as RFC 9110 allows (section 14.2).
func (c *call) serveContent(modified time.Time, data []byte) {
	r := c.req
	if strings.Count(r.Header.Get("Range"), ",") >= 16 {
		r = r.Clone(r.Context())
		r.Header.Del("Range")
	}
	http.ServeContent(c, r, "", modified, bytes.NewReader(data))
}

// openAPIIndex answers /openapi/v3 with JSON for every Accept header and method, without an
// Etag. As on a real server, net/http detects the media type as plain text (upstream:
// kube-aggregator, openapiv3/aggregator, handleDiscovery).
//
// A client that read the index in the second of a change may have the old one. A real server's clock moves on, but a clock
// that stands still would leave it with the old one.
func (c *call) openAPIIndex() {
	now := c.api.st.Now()
	if changed := c.served.changed; !changed.IsZero() && changed.Unix() == now.Unix() {
		c.req = c.req.Clone(c.req.Context())
		c.req.Header.Del("If-Modified-Since")
	}
	c.serveContent(now, c.served.openAPI().index())
}
