package httpapi

// statusPath is the name of the one subresource that there is.
const statusPath = "status"

// place is what a path below a group version names.
type place struct {
	namespace, resource, name, subresource string

	namespaced bool // a namespace is named, be it empty
	more       bool // there are parts beyond
	watching   bool // the path is one of the deprecated ones below watch/
}

// placeOf reads the parts of a path: {resource}[/{name}[/{subresource}]], the
// same below namespaces/{namespace}/, and all of that below watch/ (upstream:
// apiserver, endpoints/request/requestinfo.go). Namespaces themselves lie below
// namespaces/ too.
func placeOf(parts []string) (p place) {
	if len(parts) > 1 && parts[0] == "watch" {
		p.watching, parts = true, parts[1:]
	}
	if len(parts) > 1 && parts[0] == "namespaces" {
		p.namespace = parts[1]
		if len(parts) > 2 && parts[2] != statusPath && parts[2] != "finalize" {
			p.namespaced, parts = true, parts[2:]
		}
	}
	at := func(i int) string {
		if i < len(parts) {
			return parts[i]
		}
		return ""
	}
	p.resource, p.name, p.subresource, p.more = at(0), at(1), at(2), len(parts) > 3
	return p
}

// isNamespace reports whether the place is a namespace itself.
func (p place) isNamespace() bool {
	return p.resource == "namespaces" && !p.namespaced && p.name != "" && p.subresource == "" && !p.watching
}
