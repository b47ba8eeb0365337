package controlplane

import (
	"github.com/spf13/pflag"

	"github.com/kubecoord/kubecoord/httpapi/kube/internal/gates"
)

// FeatureGates returns the feature gates that --feature-gates sets. The error is the error of kube-apiserver for one that cannot be set.
func FeatureGates(fs *pflag.FlagSet) (map[string]bool, error) {
	values, is := fs.Lookup("feature-gates").Value.(*texts)
	if !is || len(values.values) == 0 {
		return nil, nil
	}
	set, err := gates.Parse(values.values)
	if err != nil {
		return nil, err
	}
	_, err = gates.New(set)
	return set, err
}
