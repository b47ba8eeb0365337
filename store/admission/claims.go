package admission

import (
	"context"

	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// Claims take for an object what no other object may have, such as an address or a port (upstream: apiserver,
// registry/generic/registry, Store.BeginCreate, Store.BeginUpdate and Store.AfterDelete). They also see writes below admission. Their
// methods are called without a lock, from any goroutine, and may read and write the store.
type Claims interface {
	// Claim is called for a create and for an update, but not for a subresource, before the object is prepared and validated, again for
	// each attempt of a write. It may change obj, and refuse the write by an error. old, nil for a create, must not be changed. end, if it
	// is not nil, is called once, when the write has ended; stored reports whether obj is in the store then. A dry run takes nothing.
	Claim(ctx context.Context, k kind.Kind, obj, old meta.Object, dryRun bool) (end func(stored bool), err error)
	// Release is called when an object is gone. obj must not be changed.
	Release(ctx context.Context, k kind.Kind, obj meta.Object)
}
