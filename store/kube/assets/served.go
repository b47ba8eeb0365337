package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
)

// checkServed refuses values of --runtime-config that kube-apiserver refuses (upstream: apiserver, server/options/api_enablement.go
// and server/resourceconfig).
func checkServed(config map[string]string) (problems []error) {
	var unknown []string
	for name, value := range config {
		if on, err := strconv.ParseBool(value); value != "" && err != nil {
			problems = append(problems, fmt.Errorf("invalid value %s=%s", name, value))
		} else if name == "api/all" && value != "" && !on && len(config) == 1 {
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
		slices.Sort(unknown)
		problems = append(problems, fmt.Errorf("unknown api groups %s", strings.Join(unknown, ",")))
	}
	return problems
}

// serves reports whether --runtime-config leaves a resource.
func (o options) serves(r schema.GroupVersionResource) bool { return o.served.Serves(r, true) }
