package httpapi

import (
	"path"
	"slices"
	"strings"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/store/meta"
)

// servedGroup is an API group with its served versions.
type servedGroup struct {
	name     string // "" is the core group
	root     string // such as /apis/coordination.k8s.io
	versions []*groupVersion
	rank     int16 // in discovery
	// builtIn reports whether the group has built-in kinds. In a real server its paths are routes then; the paths of other groups
	// are answered by a handler for all definitions (upstream: apiextensions-apiserver, apiserver/customresource_handler.go).
	builtIn bool
	since   int32 // the number of the state that made it
}

// groupVersion is one version of a group.
type groupVersion struct {
	meta.GroupVersion
	root      string // such as /apis/coordination.k8s.io/v1
	endpoints []*endpoint
}

// endpoint is one kind in one version.
type endpoint kinds.Endpoint

// group returns a group that belongs to s alone. It makes one if there is none.
func (s *served) group(name string) *servedGroup {
	at := slices.IndexFunc(s.groups, func(g *servedGroup) bool { return g.name == name })
	if at >= 0 && s.groups[at].since == s.number {
		return s.groups[at]
	}
	g := &servedGroup{name: name, root: "/apis/" + name, rank: rankOf(name), since: s.number}
	if name == "" {
		g.root = "/api"
	}
	if at < 0 {
		s.groups = append(s.groups, g)
		return g
	}
	*g = *s.groups[at]
	g.since, g.versions = s.number, slices.Clone(g.versions)
	for i, v := range g.versions {
		g.versions[i] = new(*v)
		g.versions[i].endpoints = slices.Clone(v.endpoints)
	}
	s.groups[at] = g
	return g
}

// add adds a kind, in all its versions, in the order of discovery.
func (g *servedGroup) add(k *kinds.Kind) {
	g.builtIn = g.builtIn || k.Info().Native
	for i, e := range k.Endpoints() {
		if of := k.Info().Versions[i]; !of.Unserved {
			v := g.version(of.Name)
			at, _ := v.find(e.Info.Plural)
			v.endpoints = slices.Insert(v.endpoints, at, (*endpoint)(e))
		}
	}
}

// remove removes a kind.
func (g *servedGroup) remove(k *kinds.Kind) {
	g.builtIn = false
	for _, v := range g.versions {
		v.endpoints = slices.DeleteFunc(v.endpoints, func(e *endpoint) bool { return e.Kind == k })
		g.builtIn = g.builtIn || slices.ContainsFunc(v.endpoints, func(e *endpoint) bool { return e.Info.Native })
	}
	g.versions = slices.DeleteFunc(g.versions, func(v *groupVersion) bool { return len(v.endpoints) == 0 })
}

func (g *servedGroup) version(name string) *groupVersion {
	if i := slices.IndexFunc(g.versions, func(v *groupVersion) bool { return v.Version == name }); i >= 0 {
		return g.versions[i]
	}
	v := &groupVersion{GroupVersion: meta.GroupVersion{Group: g.name, Version: name}, root: g.root + "/" + name}
	g.versions = append(g.versions, v)
	slices.SortFunc(g.versions, func(a, b *groupVersion) int { return compareVersions(b.Version, a.Version) })
	return v
}

// find returns the place of a resource in the endpoints, which are in the order of the plurals.
func (v *groupVersion) find(plural string) (at int, found bool) {
	return slices.BinarySearchFunc(v.endpoints, plural, func(e *endpoint, plural string) int { return strings.Compare(e.Info.Plural, plural) })
}

// resourceName is the meaning of a path below a group version.
type resourceName struct {
	namespace, resource, name, subresource string

	below      string // what follows the subresource, with a slash in front
	namespaced bool   // a namespace is given; it may be empty
	watching   bool   // the path is below the deprecated watch/
}

// route returns the function that answers a path, and sets the endpoint and the resourceName of a path
// of a resource. An escaped character, also a slash, counts as the character itself. A path with empty
// segments, dots or a slash at its end is not redirected.
func (c *call) route(p string) func(*call) {
	if strings.HasPrefix(p, openAPIV3+"/") {
		return (*call).openAPI
	}
	for _, g := range c.served.groups {
		for _, v := range g.versions {
			if rest, ok := below(p, v.root); ok {
				return c.routeIn(g, v, rest)
			}
		}
		if rest, ok := below(p, g.root); ok {
			return g.route(rest)
		}
	}
	if p == "/apis/" {
		return (*call).groupList
	}
	return routeFixed(p)
}

// below returns the rest of a path that is root or below it.
func below(p, root string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(p, root)
	return rest, ok && (rest == "" || rest[0] == '/')
}

// indexPath is another name of the path /.
const indexPath = "/index.html"

// routeFixed returns the function for a path outside all groups. Most may also end in a slash.
func routeFixed(p string) func(*call) {
	if !strings.HasPrefix(p, "/") {
		return (*call).unknownPath
	}
	if rest, ok := below(p, "/version"); ok {
		if strings.Trim(rest, "/") == "" {
			return (*call).serverVersion
		}
		return (*call).unknownResource
	}
	if path.Clean(p) != p {
		p = strings.TrimSuffix(p, "/")
		if path.Clean(p) != p || p == "/" || p == indexPath || p == openAPIV2 || isHealthPath(p) {
			return (*call).unknownPath
		}
	}
	switch p {
	case "/", indexPath:
		return (*call).paths
	case "/apis":
		return (*call).groupListOrAggregated
	case openAPIV2:
		return (*call).openAPI
	case openAPIV3:
		return (*call).openAPIIndex
	}
	name, check, found := strings.Cut(p[1:], "/")
	switch {
	case !isHealthPath(p) || strings.Contains(check, "/"):
		return (*call).unknownPath
	case !found:
		return func(c *call) { c.health(name) }
	}
	return func(c *call) { c.healthCheck(name, check) }
}

// route returns the function for a path outside all versions of the group; rest follows its
// root. The aggregator of a real server also serves the group with one slash at the end; with
// more slashes the path is a route.
func (g *servedGroup) route(rest string) func(*call) {
	switch {
	case strings.Trim(rest, "/") != "":
		return g.unknown()
	case g.name == "":
		return (*call).legacyVersions
	}
	return func(c *call) { c.groupDocument(g, g.builtIn && len(rest) > 1) }
}

// unknown returns the function for a path below the group that nothing has.
func (g *servedGroup) unknown() func(*call) {
	if g.builtIn {
		return (*call).unknownResource
	}
	return (*call).unknownPath
}

// routeIn is route for a path in a group version. rest follows its root.
func (c *call) routeIn(g *servedGroup, v *groupVersion, rest string) func(*call) {
	trimmed := strings.Trim(rest, "/")
	switch {
	case trimmed == "":
		return func(c *call) { c.resourceList(v, g.builtIn) }
	case strings.HasPrefix(rest, "//"):
		return g.unknown()
	}
	var parts [6]string // for nearly all paths
	n := parseResource(slices.AppendSeq(parts[:0], strings.SplitSeq(trimmed, "/")))
	if at, found := v.find(n.resource); found {
		if !n.namespaced {
			n.namespace = "" // the namespace is the object itself
		}
		c.endpoint, c.resourceName = v.endpoints[at], n
		return (*call).resourceRequest
	}
	if v.Group == "" && n.resource == "namespaces" && !n.namespaced && n.name != "" && n.subresource == "" && !n.watching {
		return func(c *call) { c.namespaceObject(n.name) }
	}
	return g.unknown()
}

// parseResource reads the parts of a path (upstream: apiserver, endpoints/request/requestinfo.go):
// [watch/][namespaces/{namespace}/]{resource}[/{name}[/{subresource}]]. The resource may be namespaces.
func parseResource(parts []string) (n resourceName) {
	if len(parts) > 1 && parts[0] == "watch" {
		n.watching, parts = true, parts[1:]
	}
	if len(parts) > 1 && parts[0] == "namespaces" {
		n.namespace = parts[1]
		if len(parts) > 2 && parts[2] != "status" && parts[2] != "finalize" {
			n.namespaced, parts = true, parts[2:]
		}
	}
	at := func(i int) string {
		if i < len(parts) {
			return parts[i]
		}
		return ""
	}
	n.resource, n.name, n.subresource = at(0), at(1), at(2)
	if len(parts) > 3 {
		n.below = "/" + strings.Join(parts[3:], "/")
	}
	return n
}

// isVerbAlone reports whether a path below a version, of any group, is only the deprecated watch or
// proxy.
func isVerbAlone(path string) bool {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	last := parts[len(parts)-1]
	return (last == "watch" || last == "proxy") && (len(parts) == 3 && parts[0] == "api" || len(parts) == 4 && parts[0] == "apis")
}
