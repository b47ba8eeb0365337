package kube_test

import (
	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/store"
)

func registeredOf(all []store.AnyKind) (out []*kinds.Kind) {
	for _, k := range all {
		out = append(out, k.Registered())
	}
	return out
}
