package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/kubecoord/kubecoord/store"
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

// enabled returns the kinds that --runtime-config leaves: all that have a version that is not taken away.
func enabled(config map[string]string, all []store.AnyKind) []store.AnyKind {
	return slices.DeleteFunc(slices.Clone(all), func(k store.AnyKind) bool {
		kind := k.Registered()
		for _, v := range kind.Info().Versions {
			if serves(config, kind.GroupResource().Group, v.Name, kind.GroupResource().Resource) {
				return false
			}
		}
		return true
	})
}

// serves reports whether a resource of a version is served. The nearest key decides; group "" is written as v1 alone.
func serves(config map[string]string, group, version, resource string) bool {
	gv := strings.TrimPrefix(group+"/"+version, "/")
	stage := "api/ga"
	switch {
	case strings.Contains(version, "alpha"):
		stage = "api/alpha"
	case strings.Contains(version, "beta"):
		stage = "api/beta"
	}
	for _, key := range []string{gv + "/" + resource, gv, stage, "api/all"} {
		if value, set := config[key]; set {
			on, err := strconv.ParseBool(value)
			return value == "" || err == nil && on
		}
	}
	return true
}
