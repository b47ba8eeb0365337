package httpapi

import (
	"path"
	"slices"
	"strings"

	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store/meta"
)

// apiGroup is an API group with its served versions.
type apiGroup struct {
	name     string // "" is the core group
	root     string // such as /apis/coordination.k8s.io
	versions []*groupVersion
}

// groupVersion is one version of a group.
type groupVersion struct {
	meta.GroupVersion
	root      string // such as /apis/coordination.k8s.io/v1
	endpoints []*endpoint
}

// endpoint is one kind in one version.
type endpoint struct {
	kind    *registry.Kind
	number  int // the index in API.resources
	info    *registry.Info
	version int // the index of the version in the kind
	// apiVersion is the group and the version, such as coordination.k8s.io/v1.
	apiVersion string
	// jsonHead and jsonListHead precede the cached bytes of an object and of list items.
	jsonHead, jsonListHead string
}

// target returns the type of the bodies.
func (e *endpoint) target() registry.Target {
	return registry.Target{Kind: e.kind, Version: e.version}
}

// addKind adds a kind to its group, in all its versions.
func (a *API) addKind(number int, kind *registry.Kind) {
	info := kind.Info()
	g := a.group(info.Group)
	for i, v := range info.Versions {
		gv := g.version(v.Name)
		e := &endpoint{kind: kind, number: number, info: info, version: i, apiVersion: gv.String()}
		e.jsonHead = `{"kind":"` + info.Kind + `","apiVersion":"` + e.apiVersion + `",`
		e.jsonListHead = `{"kind":"` + info.Kind + `List","apiVersion":"` + e.apiVersion + `","metadata":`
		if info.Unstructured {
			e.jsonHead = `{"apiVersion":"` + e.apiVersion + `","kind":"` + info.Kind + `",`
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
	g := &apiGroup{name: name, root: "/apis/" + name}
	if name == "" {
		g.root = "/api"
	}
	a.groups = append(a.groups, g)
	return g
}

func (g *apiGroup) version(name string) *groupVersion {
	for _, v := range g.versions {
		if v.Version == name {
			return v
		}
	}
	v := &groupVersion{GroupVersion: meta.GroupVersion{Group: g.name, Version: name}, root: g.root + "/" + name}
	g.versions = append(g.versions, v)
	return v
}

// target is the meaning of the path of a request.
type target struct {
	answer func(*call)
	// endpoint and resourceName are set if the path is that of a resource.
	endpoint *endpoint
	resourceName
}

// statusSubresource is the name of the only subresource.
const statusSubresource = "status"

// resourceName is the meaning of a path below a group version.
type resourceName struct {
	namespace, resource, name, subresource string

	namespaced bool // a namespace is given; it may be empty
	trailing   bool // parts follow the subresource
	watching   bool // the path is below the deprecated watch/
}

// parse returns the target of a path. An escaped character, also a slash, counts as the
// character itself. A path with empty segments, dots or a slash at its end is not
// redirected.
func (a *API) parse(p string) target {
	if name, ok := strings.CutPrefix(p, openAPIV3+"/"); ok {
		return target{answer: func(c *call) { c.openAPIV3(name) }}
	}
	for _, g := range a.groups {
		for _, v := range g.versions {
			if rest, ok := below(p, v.root); ok {
				return v.parse(rest)
			}
		}
		if rest, ok := below(p, g.root); ok {
			return g.parse(rest)
		}
	}
	if p == "/apis/" {
		return target{answer: (*call).groupList}
	}
	return parseFixed(p)
}

// below returns the rest of a path that is root or below it.
func below(p, root string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(p, root)
	return rest, ok && (rest == "" || rest[0] == '/')
}

// indexPath is another name of the path /.
const indexPath = "/index.html"

// parseFixed returns the target of a path outside all groups. Most of these paths may
// also end in a slash.
func parseFixed(p string) target {
	unknown := target{answer: (*call).unknownPath}
	if !strings.HasPrefix(p, "/") {
		return unknown
	}
	if rest, ok := below(p, "/version"); ok {
		if strings.Trim(rest, "/") == "" {
			return target{answer: (*call).serverVersion}
		}
		return target{answer: (*call).unknownResource}
	}
	if path.Clean(p) != p {
		p = strings.TrimSuffix(p, "/")
		if path.Clean(p) != p || p == "/" || p == indexPath || p == openAPIV2 || isHealthPath(p) {
			return unknown
		}
	}
	switch p {
	case "/", indexPath:
		return target{answer: (*call).paths}
	case "/apis":
		return target{answer: (*call).groupListOrAggregated}
	case openAPIV2:
		return target{answer: func(c *call) { c.openAPI(c.api.openAPI.v2()) }}
	case openAPIV3:
		return target{answer: (*call).openAPIIndex}
	}
	if !isHealthPath(p) {
		return unknown
	}
	name, check, found := strings.Cut(p[1:], "/")
	switch {
	case !found:
		return target{answer: func(c *call) { c.health(name) }}
	case !strings.Contains(check, "/"):
		return target{answer: func(c *call) { c.healthCheck(name, check) }}
	}
	return unknown
}

// parse returns the target of a path outside all versions of the group. rest follows
// the root of the group. In a real server the aggregator serves the group, also with
// one slash at the end; with more slashes the path is a route.
func (g *apiGroup) parse(rest string) target {
	switch {
	case strings.Trim(rest, "/") != "":
		return target{answer: (*call).unknownResource}
	case g.name == "":
		return target{answer: (*call).legacyVersions}
	}
	return target{answer: func(c *call) { c.groupDocument(g, len(rest) > 1) }}
}

// parse returns the target of a path in the group version. rest follows its root.
func (v *groupVersion) parse(rest string) target {
	trimmed := strings.Trim(rest, "/")
	switch {
	case trimmed == "":
		return target{answer: func(c *call) { c.resourceList(v) }}
	case strings.HasPrefix(rest, "//"):
		return target{answer: (*call).unknownResource}
	}
	var parts [6]string // for nearly all paths
	name := parseResource(slices.AppendSeq(parts[:0], strings.SplitSeq(trimmed, "/")))
	for _, e := range v.endpoints {
		if e.info.Plural == name.resource {
			if !name.namespaced {
				name.namespace = "" // the namespace is the object itself
			}
			return target{(*call).resourceRequest, e, name}
		}
	}
	if v.Group == "" && name.isNamespace() {
		namespace := name.name
		return target{answer: func(c *call) { c.namespaceObject(namespace) }}
	}
	return target{answer: (*call).unknownResource}
}

// parseResource reads the parts of a path:
// [watch/][namespaces/{namespace}/]{resource}[/{name}[/{subresource}]] (upstream:
// apiserver, endpoints/request/requestinfo.go). The resource may be namespaces
// itself.
func parseResource(parts []string) (n resourceName) {
	if len(parts) > 1 && parts[0] == "watch" {
		n.watching, parts = true, parts[1:]
	}
	if len(parts) > 1 && parts[0] == "namespaces" {
		n.namespace = parts[1]
		if len(parts) > 2 && parts[2] != statusSubresource && parts[2] != "finalize" {
			n.namespaced, parts = true, parts[2:]
		}
	}
	at := func(i int) string {
		if i < len(parts) {
			return parts[i]
		}
		return ""
	}
	n.resource, n.name, n.subresource, n.trailing = at(0), at(1), at(2), len(parts) > 3
	return n
}

// isVerbAlone reports whether a path below a version, of any group, is only the
// deprecated watch or proxy, which no resource follows.
func isVerbAlone(path string) bool {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	last := parts[len(parts)-1]
	return (last == "watch" || last == "proxy") && (len(parts) == 3 && parts[0] == "api" || len(parts) == 4 && parts[0] == "apis")
}

// isNamespace reports whether the path names a namespace object.
func (n resourceName) isNamespace() bool {
	return n.resource == "namespaces" && !n.namespaced && n.name != "" && n.subresource == "" && !n.watching
}
