package controlplane

import (
	"strconv"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/runtime/schema"
	cliflag "k8s.io/component-base/cli/flag"
)

// Served is the flag --runtime-config.
type Served map[string]string

// RuntimeConfig returns the values of --runtime-config.
func RuntimeConfig(fs *pflag.FlagSet) Served {
	if m, is := fs.Lookup("runtime-config").Value.(*cliflag.MapStringString); is && *m.Map != nil {
		return *m.Map
	}
	return Served{}
}

// Serves reports whether a resource is served that is served by default, or is not. The nearest key decides; group "" is written as v1
// alone.
func (s Served) Serves(r schema.GroupVersionResource, byDefault bool) bool {
	gv := r.GroupVersion().String()
	stage := "api/ga"
	switch {
	case strings.Contains(r.Version, "alpha"):
		stage = "api/alpha"
	case strings.Contains(r.Version, "beta"):
		stage = "api/beta"
	}
	for _, key := range []string{gv + "/" + r.Resource, gv, stage, "api/all"} {
		if _, set := s[key]; set {
			return s.isOn(key)
		}
	}
	return byDefault
}

// isOn reports whether the value of a key switches on what it names.
func (s Served) isOn(key string) bool {
	on, err := strconv.ParseBool(s[key])
	return s[key] == "" || err == nil && on
}

// Versions reports whether a version is served that is off by default.
func (s Served) Versions(r schema.GroupVersionResource) bool { return s.Serves(r, false) }

// LeaseCandidates reports whether a version of LeaseCandidates is served.
func (s Served) LeaseCandidates() bool {
	for _, version := range []string{"v1beta1", "v1alpha2", "v1alpha1"} {
		if s.Serves(schema.GroupVersionResource{Group: "coordination.k8s.io", Version: version, Resource: "leasecandidates"}, false) {
			return true
		}
	}
	return false
}
