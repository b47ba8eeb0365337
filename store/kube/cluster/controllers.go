package cluster

import (
	"slices"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store/kube/cluster/internal/collector"
	"github.com/kubecoord/kubecoord/store/kube/cluster/internal/namespaces"
)

// extendControllers adds the controllers of kube-controller-manager to one API.
func (o Options) extendControllers(opts *httpapi.Options) {
	opts.Run = slices.Clip(opts.Run)
	if o.GarbageCollection {
		opts.Run = append(opts.Run, collector.Run)
	}
	if o.NamespaceDeletion {
		opts.Run = append(opts.Run, namespaces.Delete)
	}
}
