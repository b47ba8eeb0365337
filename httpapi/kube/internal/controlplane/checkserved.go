package controlplane

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/kubecoord/kubecoord/store/kind"
)

// Check returns what a kube-apiserver refuses in the values of --runtime-config (upstream: apiserver, server/options/api_enablement.go and
// server/resourceconfig).
func (s Served) Check() (problems []error) {
	var unknown []string
	for _, name := range slices.Sorted(maps.Keys(s)) {
		value := s[name]
		if on, err := strconv.ParseBool(value); value != "" && err != nil {
			problems = append(problems, fmt.Errorf("invalid value %s=%s", name, value))
		} else if name == "api/all" && value != "" && !on && len(s) == 1 {
			problems = append(problems, fmt.Errorf("invalid key with only %s=false", name))
		}
		group, version, _ := strings.Cut(name, "/")
		version, _, _ = strings.Cut(version, "/")
		switch {
		case group == "api" && slices.Contains([]string{"all", "ga", "beta", "alpha"}, version), name == "v1":
		case group == "apiextensions.k8s.io", group == "apiregistration.k8s.io", group == "internal.apiserver.k8s.io":
		case !clientgoscheme.Scheme.IsGroupRegistered(group):
			unknown = append(unknown, name)
		case !clientgoscheme.Scheme.IsVersionRegistered(schema.GroupVersion{Group: group, Version: version}):
			problems = append(problems, fmt.Errorf("group version %s/%s that has not been registered", group, version))
		}
	}
	if len(unknown) > 0 {
		problems = append(problems, fmt.Errorf("unknown api groups %s", strings.Join(unknown, ",")))
	}
	return problems
}

// Missing returns the versions that --runtime-config switches on and that none of the kinds has. A kube-apiserver has no such line: it ends
// with what it does not know, and is silent about a version that has no resource.
func (s Served) Missing(kinds []kind.Kind) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(s)) {
		group, rest, found := strings.Cut(name, "/")
		if !found {
			group, rest = "", name
		}
		version, resource, _ := strings.Cut(rest, "/")
		if group == "api" || !s.isOn(name) {
			continue
		}
		if !slices.ContainsFunc(kinds, func(k kind.Kind) bool {
			return k.Info().Group == group && (resource == "" || k.GroupResource().Resource == resource) &&
				slices.ContainsFunc(k.Info().Versions, func(v kind.VersionInfo) bool { return v.Name == version && !v.Unserved })
		}) {
			names = append(names, name)
		}
	}
	return names
}
