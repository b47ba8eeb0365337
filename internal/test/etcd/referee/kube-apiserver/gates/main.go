// Command gates prints the feature gates of the kube-apiserver that this module builds, in the form that httpapi/kube/internal/gates reads.
// It links the server, so that each gate is there that the server registers:
//
//	go run ./gates > ../../../../../httpapi/kube/internal/gates/gates.txt
package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

const head = `# The feature gates of kube-apiserver: the name, what it is from each version on (the default, the stage, and whether it is locked; after a
# slash the --min-compatibility-version that it needs), and the gates that it needs. Written by internal/test/etcd/referee/kube-apiserver/gates.
`

func main() {
	if cmd := app.NewAPIServerCommand(); cmd == nil { // registers the gates
		os.Exit(1)
	}
	all, ok := utilfeature.DefaultFeatureGate.(interface {
		GetAllVersioned() map[featuregate.Feature]featuregate.VersionedSpecs
		Dependencies() map[featuregate.Feature][]featuregate.Feature
	})
	if !ok {
		fmt.Fprintf(os.Stderr, "the gates are a %T, which does not list them\n", utilfeature.DefaultFeatureGate)
		os.Exit(1)
	}
	fmt.Print(head)
	specs, needs := all.GetAllVersioned(), all.Dependencies()
	for _, name := range slices.Sorted(maps.Keys(specs)) {
		if name == "AllAlpha" || name == "AllBeta" { // each featuregate.FeatureGate has these
			continue
		}
		fmt.Println(line(name, specs[name], needs[name]))
	}
}

func line(name featuregate.Feature, specs featuregate.VersionedSpecs, needs []featuregate.Feature) string {
	cells := []string{string(name)}
	for _, s := range specs {
		cell := s.Version.String()
		if s.MinCompatibilityVersion != nil {
			cell += "/" + s.MinCompatibilityVersion.String()
		}
		stage := string(s.PreRelease)
		if s.PreRelease == featuregate.GA {
			stage = "GA"
		}
		cell += fmt.Sprintf("=%t,%s", s.Default, stage)
		if s.LockToDefault {
			cell += ",locked"
		}
		cells = append(cells, cell)
	}
	if len(needs) > 0 {
		names := make([]string, 0, len(needs))
		for _, n := range needs {
			names = append(names, string(n))
		}
		cells = append(cells, "needs="+strings.Join(names, ","))
	}
	return strings.Join(cells, " ")
}
