package httpapi

import (
	"bytes"
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
)

// This file answers /openapi/v2, /openapi/v3 and the paths below the latter
// (upstream: kube-openapi, handler and handler3). Query: hash, timeout.
//
// Known difference: an Accept header without a media type is answered 406; a real
// server answers an empty 200.

// openAPIDocument is one document in its two formats.
type openAPIDocument struct {
	path     string
	version  string // of OpenAPI: "v2" or "v3"
	json     []byte
	protobuf func() []byte
	tag      string // a hash of the document, the same for both formats
	built    time.Time
}

func (a *API) newOpenAPIDocument(path, version string, data []byte, protobuf func() []byte) *openAPIDocument {
	return &openAPIDocument{
		path: path, version: version, json: data, protobuf: sync.OnceValue(protobuf),
		tag: fmt.Sprintf("%X", sha512.Sum512(data)), built: a.st.Now(),
	}
}

// openAPIDocuments holds the documents of version 3.
type openAPIDocuments struct {
	index  []byte
	byName map[string]*openAPIDocument
}

// openAPI holds the documents of an API. They are built at the first request.
type openAPI struct {
	v2 func() *openAPIDocument
	v3 func() *openAPIDocuments
}

// The paths of the document of version 2, and of the index of version 3.
const (
	openAPIV2 = "/openapi/v2"
	openAPIV3 = "/openapi/v3"
)

// openAPIV3 answers with the document of a group version. The 404 of an unknown one
// has no body (upstream: kube-aggregator, openapiv3/aggregator, handleGroupVersion).
func (c *call) openAPIV3(name string) {
	doc := c.api.openAPI.v3().byName[name]
	if doc == nil {
		c.WriteHeader(http.StatusNotFound)
		return
	}
	c.openAPI(doc)
}

// describe describes the API to package openapi.
func (a *API) describe() openapi.API {
	out := openapi.API{Version: serverGitVersion}
	for _, g := range a.groups {
		for _, v := range g.versions {
			gv := openapi.GroupVersion{GroupVersion: v.GroupVersion}
			for _, e := range v.endpoints {
				gv.Resources = append(gv.Resources, openapi.Resource{
					Kind: e.info.Kind, Plural: e.info.Plural, Unstructured: e.info.Unstructured, JSONOnly: e.info.JSONOnly, ClusterScoped: e.info.ClusterScoped, Status: e.info.Status,
					Type: a.resources[e.number].Schema(e.version),
				})
			}
			out.GroupVersions = append(out.GroupVersions, gv)
		}
	}
	return out
}

func (a *API) buildOpenAPIV2() *openAPIDocument {
	doc := a.describe().V2()
	return a.newOpenAPIDocument(openAPIV2, "v2", doc.JSON(), doc.Protobuf)
}

func (a *API) buildOpenAPIV3() *openAPIDocuments {
	type link struct {
		URL string `json:"serverRelativeURL"`
	}
	docs := &openAPIDocuments{byName: map[string]*openAPIDocument{}}
	paths := map[string]link{}
	for name, doc := range a.describe().V3() {
		built := a.newOpenAPIDocument(openAPIV3+"/"+name, "v3", doc.JSON(), doc.Protobuf)
		docs.byName[name], paths[name] = built, link{built.link()}
	}
	docs.index = mustJSON(map[string]any{"paths": paths})
	return docs
}

// link returns the URL of the document with its hash.
func (d *openAPIDocument) link() string {
	u := url.URL{Path: d.path, RawQuery: url.Values{"hash": {d.tag}}.Encode()}
	return u.String()
}

// negotiate returns the document in the format that the client prefers.
func (d *openAPIDocument) negotiate(accept string) (mediaType string, data []byte, ok bool) {
	if accept == "" {
		accept = "*/*"
	}
	const prefix = "com.github.proto-openapi.spec."
	for _, cl := range goautoneg.ParseAccept(accept) {
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

// openAPI answers with a document. With its hash in the query, a document of
// version 3 may be cached forever; another hash is redirected.
func (c *call) openAPI(d *openAPIDocument) {
	h := c.Header()
	if d.version == "v2" {
		h.Add("Vary", "Accept-Encoding")
	}
	h.Add("Vary", "Accept")
	mediaType, data, ok := d.negotiate(c.req.Header.Get("Accept"))
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

// openAPIIndex answers /openapi/v3 with JSON for every Accept header and method. Like
// a real server it declares neither the media type, which net/http detects as plain
// text, nor an Etag (upstream: kube-aggregator, openapiv3/aggregator,
// handleDiscovery).
func (c *call) openAPIIndex() {
	c.serveContent(c.api.st.Now(), c.api.openAPI.v3().index)
}
