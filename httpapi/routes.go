package httpapi

import (
	"fmt"
	"net/http"
	"path"
	"strings"

	"github.com/kubecoord/kubecoord/internal/validate"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

// apiGroup is one API group with all that is served in it.
type apiGroup struct {
	name     string // "" is the core group
	versions []*groupVersion
}

// groupVersion is one version of a group.
type groupVersion struct {
	meta.GroupVersion
	root      string // the path, such as /apis/coordination.k8s.io/v1
	endpoints []*endpoint
}

// endpoint is one resource in one version.
type endpoint struct {
	res     *store.Resource
	info    store.Info
	gv      meta.GroupVersion
	version int // the index of the version in the resource
	// What stands before the remembered bytes of an object, and of the items
	// of a list.
	jsonHead, jsonListHead string
}

// addResource files a resource under its group and versions.
func (a *API) addResource(res *store.Resource) {
	info := res.Info()
	g := a.group(info.Group)
	for i, v := range info.Versions {
		gv := g.version(v.Name)
		e := &endpoint{res: res, info: info, gv: gv.GroupVersion, version: i}
		e.jsonHead = `{"kind":"` + info.Kind + `","apiVersion":"` + gv.String() + `",`
		e.jsonListHead = `{"kind":"` + info.Kind + `List","apiVersion":"` + gv.String() + `","metadata":`
		if info.Unstructured {
			e.jsonHead = `{"apiVersion":"` + gv.String() + `","kind":"` + info.Kind + `",`
		}
		gv.endpoints = append(gv.endpoints, e)
	}
}

func (a *API) group(name string) *apiGroup {
	for _, g := range a.groups {
		if g.name == name {
			return g
		}
	}
	g := &apiGroup{name: name}
	a.groups = append(a.groups, g)
	return g
}

func (g *apiGroup) version(name string) *groupVersion {
	for _, v := range g.versions {
		if v.Version == name {
			return v
		}
	}
	v := &groupVersion{GroupVersion: meta.GroupVersion{Group: g.name, Version: name}, root: "/apis/" + g.name + "/" + name}
	if g.name == "" {
		v.root = "/api/" + name
	}
	g.versions = append(g.versions, v)
	return v
}

// mux lays out the paths for every API. It is made once, since it would be most of
// what an API costs, and it never changes: what is served is told apart below it.
var mux = newMux()

// newMux lays out the paths. What lies below /api and /apis depends on the API, and
// has more forms than patterns can say.
func newMux() *http.ServeMux {
	mux := http.NewServeMux()
	handle := func(pattern string, h func(*call)) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { h(w.(*call)) })
	}
	for _, name := range []string{"healthz", "livez", "readyz"} {
		handle("/"+name, (*call).health)
		handle("/"+name+"/{check}", (*call).healthCheck)
	}
	handle("/version", (*call).serverVersion)
	handle("/version/", (*call).unknownResource)
	handle(openAPIV2, func(c *call) { c.openAPI(c.api.openAPI.v2()) })
	handle(openAPIV3, func(c *call) { c.openAPIIndex(c.api.openAPI.v3().own) })
	handle("/{$}", (*call).paths)
	handle("/api", (*call).legacyVersions)
	handle("/api/", (*call).group)
	handle("/apis", (*call).groupListOrAggregated)
	handle("/apis/", (*call).group)
	handle("/", (*call).unknownPath)
	return mux
}

// group tells the paths below /api/ and /apis/ apart, as far as the version of a
// group.
func (c *call) group() {
	p := c.req.URL.Path
	for _, g := range c.api.groups {
		if p == g.root() {
			c.groupDocument(g)
			return
		}
		if !strings.HasPrefix(p, g.root()+"/") {
			continue
		}
		for _, v := range g.versions {
			if p == v.root {
				c.resourceList(v)
				return
			}
			if strings.HasPrefix(p, v.root+"/") {
				c.resource(v)
				return
			}
		}
		c.unknownResource()
		return
	}
	if strings.HasPrefix(p, "/api/") {
		c.unknownResource()
		return
	}
	c.unknownPath()
}

// route finds the handler of a path. http.ServeMux would redirect paths that it
// finds unclean, where a real server takes them as they are.
func (a *API) route(c *call) {
	p := c.req.URL.Path
	name, isDocument := strings.CutPrefix(p, openAPIV3+"/")
	switch {
	case p == "" || p[0] != '/':
		c.unknownPath()
	case isDocument:
		c.openAPIV3(name)
	case path.Clean(p) == p:
		c.serve(p)
	default:
		c.unclean(p)
	}
}

// unclean finds the handler of a path with empty segments, dots, or a slash at its
// end.
func (c *call) unclean(p string) {
	for _, g := range c.api.groups {
		for _, v := range g.versions {
			if rest, ok := strings.CutPrefix(p, v.root+"/"); ok {
				if strings.Trim(rest, "/") == "" {
					c.resourceList(v)
				} else {
					c.resource(v)
				}
				return
			}
		}
	}
	for _, g := range c.api.groups {
		if rest, ok := strings.CutPrefix(p, g.root()+"/"); ok {
			c.belowGroup(g, rest)
			return
		}
	}
	trimmed := strings.TrimSuffix(p, "/")
	switch {
	case p == "/apis/":
		c.groupList()
	case path.Clean(trimmed) == trimmed && len(trimmed) > 1 && trimmed != openAPIV2 && !isHealthPath(trimmed):
		c.serve(trimmed)
	default:
		c.unknownPath()
	}
}

// belowGroup answers for the unclean paths below a group that are not in one of
// its versions. The aggregator of a real server knows the group with a slash at
// the end; with more of them the path is a route.
func (c *call) belowGroup(g *apiGroup, rest string) {
	if strings.Trim(rest, "/") != "" {
		c.unknownResource()
		return
	}
	if g.name == "" {
		c.legacyVersions()
		return
	}
	if err := c.checkDocumentRoute(); rest != "" && err != nil {
		c.fail(err)
		return
	}
	c.groupDocument(g)
}

// serve hands the request to the mux as one for a path. What is escaped in that of
// the request counts as what it stands for, slashes too, as for a real server.
func (c *call) serve(p string) {
	if u := c.req.URL; u.Path != p || u.RawPath != "" {
		c.req = c.req.Clone(c.req.Context())
		c.req.URL.Path, c.req.URL.RawPath = p, ""
	}
	mux.ServeHTTP(c, c.req)
}

// root is the path that all versions of the group are below.
func (g *apiGroup) root() string {
	if g.name == "" {
		return "/api"
	}
	return "/apis/" + g.name
}

// resource finds what a path below a group version is about.
func (c *call) resource(v *groupVersion) {
	if strings.HasPrefix(c.req.URL.Path, v.root+"//") {
		c.unknownResource()
		return
	}
	p := placeOf(strings.Split(strings.Trim(c.req.URL.Path[len(v.root):], "/"), "/"))
	for _, e := range v.endpoints {
		if e.info.Plural == p.resource {
			c.endpoint, c.place = e, p
			if !p.namespaced {
				c.namespace = "" // of a namespace that is the object itself
			}
			c.served()
			return
		}
	}
	if v.Group == "" && p.isNamespace() {
		c.namespaceObject(p.name)
		return
	}
	c.unknownResource()
}

// served answers for a resource that is known, unless it does not have such
// paths. Without the namespace, objects that lie in one can be listed and watched.
// What else is asked for there is a path that a custom resource does not have; the
// other kinds have that of the collection, without those methods.
func (c *call) served() {
	info := c.endpoint.info
	status := c.subresource == statusPath && info.Status
	astray := c.namespaced && info.ClusterScoped
	outside := !c.namespaced && !info.ClusterScoped
	switch {
	case info.Native && (astray || c.more || c.subresource != "" && !status || outside && c.name != ""):
		c.unknownResource()
	case astray, outside && !info.Native && !c.readsMany():
		c.unknownPath()
	case status:
		c.statusVerb()
	case c.subresource != "":
		c.fail(meta.NewNotFound(c.groupResource(), c.name))
	default:
		c.verb()
	}
}

// readsMany reports whether the request is a list or a watch.
func (c *call) readsMany() bool {
	verb := c.verbName(c.name != "", c.watching)
	return verb == "list" || verb == "watch"
}

// checkNames refuses the names in a path that no object can have, and a path
// to one object that leaves its namespace out.
func (c *call) checkNames() error {
	one := c.name != "" || c.req.Method == http.MethodDelete
	if c.namespaced && c.namespace == "" && one {
		return meta.NewBadRequest("Namespace parameter required.")
	}
	if problems := validate.PathSegmentName(c.name); c.name != "" && problems != nil {
		return meta.NewBadRequest("Name parameter invalid: %q: %s", c.name, strings.Join(problems, ";"))
	}
	if (c.namespace == "." || c.namespace == "..") && c.req.Method != http.MethodPost {
		// Not a Status: the storage of a real server refuses the key.
		return fmt.Errorf("invalid key: %q", strings.TrimSuffix("/"+c.endpoint.info.StoragePrefix+"/"+c.namespace+"/"+c.name, "/"))
	}
	return nil
}

// verb hands the request to the file named after what it does.
func (c *call) verb() {
	method := c.req.Method
	inScope := c.namespaced != c.endpoint.info.ClusterScoped
	switch {
	case c.watching && method == http.MethodGet:
		c.run(true, (*call).watch)
	case c.watching:
		c.fail(c.notSupported())
	case c.name != "" && method == http.MethodGet:
		c.run(false, (*call).get)
	case c.name != "" && method == http.MethodPut:
		c.run(false, (*call).update)
	case c.name != "" && method == http.MethodPatch:
		c.run(false, (*call).patch)
	case c.name != "" && method == http.MethodDelete:
		c.run(false, (*call).delete)
	case c.name == "" && method == http.MethodGet:
		if c.boolParam("watch") {
			c.run(true, (*call).watch)
		} else {
			c.run(true, (*call).list)
		}
	case (c.name == "" || !c.endpoint.info.Native) && inScope && method == http.MethodPost:
		c.run(false, (*call).create) // custom resources do not mind a name in the path
	case c.name == "" && inScope && method == http.MethodDelete:
		c.run(false, (*call).deleteCollection)
	case !c.endpoint.info.Native && (method == http.MethodPut || method == http.MethodPatch):
		c.fail(meta.NewBadRequest("name must be provided"))
	default:
		c.fail(c.notSupported())
	}
}

// statusVerb is verb for the status subresource.
func (c *call) statusVerb() {
	switch c.req.Method {
	case http.MethodGet:
		c.run(false, (*call).get)
	case http.MethodPut:
		c.run(false, (*call).update)
	case http.MethodPatch:
		c.run(false, (*call).patch)
	default:
		c.fail(c.notSupported())
	}
}

// notSupported is the answer to a method that a path does not have.
func (c *call) notSupported() error {
	if c.endpoint.info.Native {
		return methodNotAllowed()
	}
	gr := c.groupResource()
	return meta.NewStatusError(http.StatusMethodNotAllowed, meta.ReasonMethodNotAllowed,
		&meta.StatusDetails{Group: gr.Group, Kind: gr.Resource},
		fmt.Sprintf("%s is not supported on resources of kind %q", c.verbName(c.name != "", c.watching), gr))
}

// run does what all verbs start with.
func (c *call) run(streams bool, verb func(*call) error) {
	if err := c.prepare(streams); err != nil {
		c.fail(err)
		return
	}
	if err := verb(c); err != nil {
		c.fail(err)
	}
}
