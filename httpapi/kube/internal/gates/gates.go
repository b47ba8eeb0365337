// Package gates has the feature gates of kube-apiserver, and which of them are on. The table is written by
// internal/test/etcd/referee/kube-apiserver/gates, from the server itself.
package gates

import (
	_ "embed"

	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/component-base/featuregate"
	"k8s.io/klog/v2"

	"github.com/kubecoord/kubecoord/httpapi"
)

//go:embed gates.txt
var table string

// Gates say which gates are on. They never change.
type Gates struct {
	on      map[string]bool
	changed string
}

// Default returns the gates of a server without --feature-gates.
var Default = sync.OnceValue(func() *Gates {
	g, err := New(nil)
	if err != nil {
		panic("gates: the table: " + err.Error()) // a test reads it
	}
	return g
})

// New returns the gates of a server with some of them set. The error is the error of kube-apiserver for a gate that does not exist, that is
// locked, or that needs another one.
func New(set map[string]bool) (*Gates, error) {
	all := featuregate.NewVersionedFeatureGate(version.MajorMinor(current().Major(), current().Minor()))
	specs, needs, err := rows()
	if err != nil {
		return nil, err
	}
	if err := all.AddVersioned(specs); err != nil {
		return nil, err
	}
	if err := all.AddDependencies(needs); err != nil {
		return nil, err
	}
	// One gate after the other, so that the error does not depend on the order of a map.
	present := all.GetAll()
	for _, name := range slices.Sorted(maps.Keys(set)) {
		if _, known := present[featuregate.Feature(name)]; !known {
			return nil, fmt.Errorf("unrecognized feature gate: %s", name)
		}
	}
	if err := all.SetFromMapWithLogger(klog.Logger{}, set); err != nil {
		return nil, err
	}
	if errs := all.Validate(); len(errs) > 0 {
		return nil, utilerrors.NewAggregate(errs)
	}
	g := &Gates{on: make(map[string]bool, len(specs))}
	_, alphas := set["AllAlpha"]
	_, betas := set["AllBeta"]
	for name := range specs {
		on := present[name].Default
		if _, asked := set[string(name)]; asked || alphas || betas {
			on = all.Enabled(name) // slow: the library keeps an account of these questions
		}
		g.on[string(name)] = on
		if present[name].Default != on {
			g.changed += string(name) + " "
		}
	}
	names := strings.Fields(g.changed)
	slices.Sort(names)
	g.changed = strings.Join(names, " ")
	return g, nil
}

// current returns the version of Kubernetes whose gates these are.
func current() *version.Version { return version.MustParse(httpapi.Version) }

// Enabled reports whether a gate is on.
func (g *Gates) Enabled(name string) bool { return g.on[name] }

// Len returns how many gates there are.
func (g *Gates) Len() int { return len(g.on) }

// Changed returns the names of the gates that are not as by default. Gates with equal results are equal.
func (g *Gates) Changed() string { return g.changed }

// rows returns the table, and the gates that each gate needs.
func rows() (map[featuregate.Feature]featuregate.VersionedSpecs, map[featuregate.Feature][]featuregate.Feature, error) {
	specs, needs := map[featuregate.Feature]featuregate.VersionedSpecs{}, map[featuregate.Feature][]featuregate.Feature{}
	for line := range strings.Lines(table) {
		cells := strings.Fields(line)
		if cells[0] == "#" {
			continue
		}
		name := featuregate.Feature(cells[0])
		for _, cell := range cells[1:] {
			from, what, _ := strings.Cut(cell, "=")
			if from == "needs" {
				for _, other := range strings.Split(what, ",") {
					needs[name] = append(needs[name], featuregate.Feature(other))
				}
				continue
			}
			from, compatible, _ := strings.Cut(from, "/")
			is := strings.Split(what, ",")
			spec := featuregate.FeatureSpec{Default: is[0] == "true", LockToDefault: len(is) > 2}
			var err error
			if spec.Version, err = version.Parse(from); err == nil && compatible != "" {
				spec.MinCompatibilityVersion, err = version.Parse(compatible)
			}
			if err != nil {
				return nil, nil, fmt.Errorf("%s: %w", name, err)
			}
			switch is[1] {
			case "ALPHA":
				spec.PreRelease = featuregate.Alpha
			case "BETA":
				spec.PreRelease = featuregate.Beta
			case "DEPRECATED":
				spec.PreRelease = featuregate.Deprecated
			}
			specs[name] = append(specs[name], spec)
		}
	}
	for name := range specs {
		if needs[name] == nil {
			needs[name] = []featuregate.Feature{}
		}
	}
	return specs, needs, nil
}

// Parse returns the gates in the values of the flag --feature-gates, with the errors of kube-apiserver.
func Parse(values []string) (map[string]bool, error) {
	set := map[string]bool{}
	for _, value := range values {
		for _, pair := range strings.Split(value, ",") {
			if pair = strings.TrimSpace(pair); pair == "" {
				continue
			}
			name, text, found := strings.Cut(pair, "=")
			if component, of, prefixed := strings.Cut(name, ":"); prefixed {
				if component != "kube" {
					return nil, fmt.Errorf("component not registered: %s", component)
				}
				name = of
			}
			if !found {
				return nil, fmt.Errorf("missing bool value for %s", name)
			}
			on, err := strconv.ParseBool(strings.TrimSpace(text))
			if err != nil {
				return nil, fmt.Errorf("invalid value of %s=%s, err: %w", name, text, err)
			}
			set[strings.TrimSpace(name)] = on
		}
	}
	return set, nil
}

// Locked reports whether a gate cannot be changed in this version.
func Locked(name string) bool {
	_, err := New(map[string]bool{name: !Default().Enabled(name)})
	return err != nil && strings.HasPrefix(err.Error(), "cannot set feature gate")
}
