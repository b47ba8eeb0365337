package kube_test

import (
	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/store/kind"
)

func registeredOf(all []kind.Kind) (out []kind.Kind) {
	for _, k := range all {
		out = append(out, kinds.Of(k))
	}
	return out
}
