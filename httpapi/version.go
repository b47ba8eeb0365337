package httpapi

import "strings"

// Version is the version of Kubernetes whose answers are implemented, as /version says it. The libraries of store/kube are of it.
const Version = "v1.37.2"

// serverVersionParts returns the major and the minor number of Version.
func serverVersionParts() (major, minor string) {
	major, rest, _ := strings.Cut(strings.TrimPrefix(Version, "v"), ".")
	minor, _, _ = strings.Cut(rest, ".")
	return major, minor
}
