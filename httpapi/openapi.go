package httpapi

import (
	"bytes"
	"crypto/sha512"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/kubecoord/kubecoord/internal/openapi"
)

// This file answers /openapi/v2, /openapi/v3 and what is below the latter
// (upstream: kube-openapi, handler and handler3). Query: hash, timeout.
//
// Known differences: an Accept header without a media type is a 406, where the
// API server library answers an empty 200. Nothing is compressed.

// openAPIDocument is one document in the forms that it is answered in.
type openAPIDocument struct {
	path     string
	version  string // of OpenAPI: "v2" or "v3"
	json     []byte
	protobuf func() []byte
	tag      string // changes with the document, the same for both forms
	built    time.Time
}

func (a *API) newOpenAPIDocument(path, version string, data []byte, protobuf func() []byte) *openAPIDocument {
	sum := sha512.Sum512(data)
	return &openAPIDocument{
		path: path, version: version, json: data, protobuf: sync.OnceValue(protobuf),
		tag: strings.ToUpper(hex.EncodeToString(sum[:])), built: a.st.Now(),
	}
}

// openAPIDocuments holds the documents of version 3.
type openAPIDocuments struct {
	own    *openAPIDocument // where to find the others
	byName map[string]*openAPIDocument
}

// openAPI holds the documents of an API. They are built when the first client
// asks.
type openAPI struct {
	v2 func() *openAPIDocument
	v3 func() *openAPIDocuments
}

func newOpenAPI(a *API) openAPI {
	return openAPI{v2: sync.OnceValue(a.buildOpenAPIV2), v3: sync.OnceValue(a.buildOpenAPIV3)}
}

// The paths of the documents. That of version 3 leads to one document for each
// group version, by name.
const (
	openAPIV2 = "/openapi/v2"
	openAPIV3 = "/openapi/v3"
)

// openAPIV3 answers with the document of a group version. There is nothing to
// say where it has none (upstream: kube-aggregator, openapiv3/aggregator,
// handleGroupVersion).
func (c *call) openAPIV3(name string) {
	doc := c.api.openAPI.v3().byName[name]
	if doc == nil {
		c.WriteHeader(http.StatusNotFound)
		return
	}
	c.openAPI(doc)
}

// describe tells package openapi what is served.
func (a *API) describe() openapi.API {
	out := openapi.API{Version: serverGitVersion}
	for _, g := range a.groups {
		for _, v := range g.versions {
			gv := openapi.GroupVersion{GroupVersion: v.GroupVersion}
			for _, e := range v.endpoints {
				gv.Resources = append(gv.Resources, openapi.Resource{
					Kind: e.info.Kind, Plural: e.info.Plural, Unstructured: e.info.Unstructured, ClusterScoped: e.info.ClusterScoped, Status: e.info.Status,
					Type: e.res.Schema(e.version), GoType: reflect.TypeOf(e.res.New(e.version)).Elem(),
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
	index := &openAPIDocuments{byName: map[string]*openAPIDocument{}}
	paths := map[string]link{}
	for name, doc := range a.describe().V3() {
		built := a.newOpenAPIDocument(openAPIV3+"/"+name, "v3", doc.JSON(), doc.Protobuf)
		index.byName[name], paths[name] = built, link{built.link()}
	}
	data, err := json.Marshal(map[string]any{"paths": paths})
	if err != nil {
		panic(err) // a map of strings cannot fail
	}
	index.own = a.newOpenAPIDocument(openAPIV3, "v3", data, nil)
	return index
}

// link returns where to find the document as long as it stays the same.
func (d *openAPIDocument) link() string {
	u := url.URL{Path: d.path, RawQuery: url.Values{"hash": {d.tag}}.Encode()}
	return u.String()
}

// negotiate returns the form of the document that the client prefers, and its
// media type.
func (d *openAPIDocument) negotiate(accept string) (mediaType string, data []byte, ok bool) {
	if accept == "" {
		accept = "*/*"
	}
	const prefix = "com.github.proto-openapi.spec."
	for _, cl := range parseAccept(accept) {
		if cl.mainType != "application" && cl.mainType != "*" {
			continue
		}
		switch cl.subType {
		case "json", "*":
			return typeJSON, d.json, true
		case prefix + d.version + "@v1.0+protobuf", prefix + d.version + ".v1.0+protobuf":
			// Clients ask with "@", which may not stand in a media type.
			return "application/" + prefix + d.version + ".v1.0+protobuf", d.protobuf(), true
		}
	}
	return "", nil, false
}

// openAPI answers with a document. A client that names the hash of one of
// version 3 may keep it for good, and is sent on where it has become another.
func (c *call) openAPI(d *openAPIDocument) {
	if err := c.checkTimeout(); err != nil {
		c.fail(err)
		return
	}
	h := c.Header()
	h.Set("Vary", "Accept")
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
	c.serveTagged(d, data)
}

// openAPIIndex answers /openapi/v3, which is JSON whatever the client accepts.
func (c *call) openAPIIndex(d *openAPIDocument) {
	if err := c.checkTimeout(); err != nil {
		c.fail(err)
		return
	}
	c.Header().Set("Content-Type", typeJSON)
	c.serveTagged(d, d.json)
}

// serveTagged answers with one form of a document, or with 304 to a client
// that has it already.
func (c *call) serveTagged(d *openAPIDocument, data []byte) {
	c.Header().Set("Etag", strconv.Quote(d.tag))
	http.ServeContent(c, c.req, "", d.built, bytes.NewReader(data))
}
