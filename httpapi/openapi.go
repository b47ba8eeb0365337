package httpapi

import (
	"bytes"
	"cmp"
	"crypto/sha512"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/munnerz/goautoneg"

	"github.com/kubecoord/kubecoord/internal/openapi"
	"github.com/kubecoord/kubecoord/store/meta"
)

// This file answers /openapi/v2, /openapi/v3 and the paths below the latter (upstream: kube-openapi,
// handler and handler3). Query: hash, timeout. Known difference: an Accept header without a media type
// is answered 406; a real server answers an empty 200.

// openAPI holds the documents of an API by path, and the index of version 3.
type openAPI struct {
	byPath map[string]*openAPIDocument
	index  []byte
}

// openAPIDocument is one document in its two formats.
type openAPIDocument struct {
	path     string
	version  string // of OpenAPI: "v2" or "v3"
	json     []byte
	protobuf func() []byte
	tag      string // a hash of the document, the same for both formats
	built    time.Time
}

// The paths of the document of version 2, and of the index of version 3.
const (
	openAPIV2 = "/openapi/v2"
	openAPIV3 = "/openapi/v3"
)

// buildOpenAPI builds the documents. now is their time.
func (s *served) buildOpenAPI(now time.Time) *openAPI {
	type link struct {
		URL string `json:"serverRelativeURL"`
	}
	out, links, described := &openAPI{byPath: map[string]*openAPIDocument{}}, map[string]link{}, s.describe()
	add := func(path, version string, doc openapi.Document) *openAPIDocument {
		d := &openAPIDocument{path: path, version: version, json: doc.JSON(), protobuf: sync.OnceValue(doc.Protobuf), built: now}
		d.tag = fmt.Sprintf("%X", sha512.Sum512(d.json))
		out.byPath[path] = d
		return d
	}
	add(openAPIV2, "v2", described.V2())
	for name, doc := range described.V3() {
		links[name] = link{add(openAPIV3+"/"+name, "v3", doc).link()}
	}
	out.index = mustJSON(map[string]any{"paths": links})
	return out
}

// describe describes the API to package openapi.
func (s *served) describe() openapi.API {
	out := openapi.API{Version: serverGitVersion}
	for _, g := range s.groups {
		for _, v := range g.versions {
			gv := openapi.GroupVersion{GroupVersion: v.GroupVersion}
			for _, e := range v.endpoints {
				gv.Resources = append(gv.Resources, e.describe())
			}
			out.GroupVersions = append(out.GroupVersions, gv)
		}
	}
	return out
}

// describe describes a kind in a version with its subresources.
func (e *endpoint) describe() openapi.Resource {
	r := openapi.Resource{
		Kind: e.Info.Kind, Plural: e.Info.Plural, NotStrategic: e.Info.Sorted, Native: e.Info.Native, JSONOnly: e.Info.JSONOnly, ClusterScoped: e.Info.ClusterScoped,
		Type: e.Schema(), Verbs: e.Info.Verbs,
	}
	for _, s := range e.Kind.Subresources() {
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
	u := url.URL{Path: d.path, RawQuery: url.Values{"hash": {d.tag}}.Encode()}
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
			return typeJSON, d.json, true
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
	if d.version == "v2" {
		h.Add("Vary", "Accept-Encoding")
	}
	h.Add("Vary", "Accept")
	mediaType, data, ok := d.negotiate(c.header("Accept"))
	if !ok {
		c.WriteHeader(http.StatusNotAcceptable)
		return
	}
	h.Set("Content-Type", mediaType)
	if hash := c.param("hash"); hash != "" && d.version == "v3" {
		if hash != d.tag {
			h.Set("Etag", strconv.Quote(d.tag))
			http.Redirect(c, c.req, d.link(), http.StatusMovedPermanently)
			return
		}
		h.Set("Cache-Control", "public, immutable")
		h.Set("Expires", c.api.st.Now().AddDate(1, 0, 0).UTC().Format(http.TimeFormat))
	}
	h.Set("Etag", strconv.Quote(d.tag))
	c.serveContent(d.built, data)
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
	c.serveContent(now, c.served.openAPI().index)
}
