package httpapi

import (
	"path"
	"strings"
)

// targetKind says what a path names.
type targetKind int

const (
	unknownPath      targetKind = iota // nothing, outside of every group
	unknownResource                    // nothing, below a group
	rootPath                           // /
	healthPath                         // /healthz, /livez, /readyz
	healthCheckPath                    // one check below these
	versionPath                        // /version
	openAPIV2Path                      // /openapi/v2
	openAPIIndexPath                   // /openapi/v3
	openAPIPath                        // one document below /openapi/v3/
	coreVersionsPath                   // /api
	groupsPath                         // /apis
	groupsSlashPath                    // /apis/
	groupPath                          // /apis/{group}
	resourcesPath                      // the root of a group version
	namespacePath                      // /api/v1/namespaces/{name}
	resourcePath                       // a resource of a group version
)

// target is what the path of a request names.
type target struct {
	kind     targetKind
	text     string // of a health path its name, of a document the group version
	group    *apiGroup
	extra    bool // the path of a group has slashes behind its own
	version  *groupVersion
	endpoint *endpoint
	resourceName
}

// statusSubresource is the name of the one subresource that there is.
const statusSubresource = "status"

// resourceName is what a path below a group version names.
type resourceName struct {
	namespace, resource, name, subresource string

	namespaced bool // a namespace is named, be it empty
	trailing   bool // there are parts beyond the subresource
	watching   bool // the path is one of the deprecated ones below watch/
}

// parse returns what a path names. Escapes in it count as what they stand for,
// slashes too. Paths with empty segments, dots, or a slash at the end are not
// redirected, but taken as they are.
func (a *API) parse(p string) target {
	if name, ok := strings.CutPrefix(p, openAPIV3+"/"); ok {
		return target{kind: openAPIPath, text: name}
	}
	switch {
	case p == "" || p[0] != '/':
		return target{kind: unknownPath}
	case path.Clean(p) != p:
		return a.parseUnclean(p)
	}
	return a.parseClean(p)
}

func (a *API) parseClean(p string) target {
	first, below, deep := strings.Cut(p[1:], "/")
	switch first {
	case "":
		return target{kind: rootPath}
	case "healthz", "livez", "readyz":
		switch {
		case !deep:
			return target{kind: healthPath, text: first}
		case !strings.Contains(below, "/"):
			return target{kind: healthCheckPath, text: below}
		}
		return target{kind: unknownPath}
	case "version":
		if deep {
			return target{kind: unknownResource}
		}
		return target{kind: versionPath}
	case "api", "apis":
		return a.parseGroup(p)
	}
	switch p {
	case openAPIV2:
		return target{kind: openAPIV2Path}
	case openAPIV3:
		return target{kind: openAPIIndexPath}
	}
	return target{kind: unknownPath}
}

// parseGroup is parseClean for /api, /apis, and what lies below.
func (a *API) parseGroup(p string) target {
	switch p {
	case "/api":
		return target{kind: coreVersionsPath}
	case "/apis":
		return target{kind: groupsPath}
	}
	for _, g := range a.groups {
		if p == g.root() {
			return target{kind: groupPath, group: g}
		}
		if !strings.HasPrefix(p, g.root()+"/") {
			continue
		}
		for _, v := range g.versions {
			if p == v.root {
				return target{kind: resourcesPath, version: v}
			}
			if strings.HasPrefix(p, v.root+"/") {
				return v.parse(p)
			}
		}
		return target{kind: unknownResource}
	}
	if strings.HasPrefix(p, "/api/") {
		return target{kind: unknownResource}
	}
	return target{kind: unknownPath}
}

func (a *API) parseUnclean(p string) target {
	for _, g := range a.groups {
		for _, v := range g.versions {
			if rest, ok := strings.CutPrefix(p, v.root+"/"); ok {
				if strings.Trim(rest, "/") == "" {
					return target{kind: resourcesPath, version: v}
				}
				return v.parse(p)
			}
		}
	}
	for _, g := range a.groups {
		if rest, ok := strings.CutPrefix(p, g.root()+"/"); ok {
			return g.parse(rest)
		}
	}
	if p == "/apis/" {
		return target{kind: groupsSlashPath}
	}
	trimmed := strings.TrimSuffix(p, "/")
	if path.Clean(trimmed) != trimmed || len(trimmed) < 2 || trimmed == openAPIV2 || isHealthPath(trimmed) {
		return target{kind: unknownPath}
	}
	return a.parseClean(trimmed)
}

// parse returns what an unclean path below a group names that is not in one of its
// versions. The aggregator of a real server knows the group with a slash at the
// end; with more of them the path is a route.
func (g *apiGroup) parse(rest string) target {
	switch {
	case strings.Trim(rest, "/") != "":
		return target{kind: unknownResource}
	case g.name == "":
		return target{kind: coreVersionsPath}
	}
	return target{kind: groupPath, group: g, extra: rest != ""}
}

// parse returns what a path below a group version names.
func (v *groupVersion) parse(p string) target {
	if strings.HasPrefix(p, v.root+"//") {
		return target{kind: unknownResource}
	}
	name := parseResource(strings.Split(strings.Trim(p[len(v.root):], "/"), "/"))
	for _, e := range v.endpoints {
		if e.info.Plural == name.resource {
			if !name.namespaced {
				name.namespace = "" // it was that of a namespace that is the object itself
			}
			return target{kind: resourcePath, version: v, endpoint: e, resourceName: name}
		}
	}
	if v.Group == "" && name.isNamespace() {
		return target{kind: namespacePath, version: v, resourceName: name}
	}
	return target{kind: unknownResource}
}

// parseResource reads the parts of a path: {resource}[/{name}[/{subresource}]],
// the same below namespaces/{namespace}/, and all of that below watch/ (upstream:
// apiserver, endpoints/request/requestinfo.go). Namespaces themselves lie below
// namespaces/ too.
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

// isNamespace reports whether a namespace itself is named.
func (n resourceName) isNamespace() bool {
	return n.resource == "namespaces" && !n.namespaced && n.name != "" && n.subresource == "" && !n.watching
}
