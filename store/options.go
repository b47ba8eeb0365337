package store

import (
	"time"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/store/meta"
)

// CreateOptions configures a create. The zero value is ready.
type CreateOptions struct {
	// DryRun does everything except the write.
	DryRun bool
	// FieldManager is the writer's name in managedFields: at most 128 bytes, printable. "" means "unknown".
	FieldManager string
}

// UpdateOptions configures an update, as CreateOptions a create.
type UpdateOptions = CreateOptions

// PatchOptions configures a patch, as CreateOptions a create.
type PatchOptions = CreateOptions

// PatchType is the media type of a patch.
type PatchType string

// The patch types.
const (
	JSONPatch           PatchType = "application/json-patch+json"            // RFC 6902
	MergePatch          PatchType = "application/merge-patch+json"           // RFC 7386
	StrategicMergePatch PatchType = "application/strategic-merge-patch+json" // not for Unstructured kinds
)

// ApplyOptions configures a server-side apply. FieldManager is required.
type ApplyOptions struct {
	// FieldManager becomes the owner of the applied fields: 1 to 128 bytes, printable.
	FieldManager string
	// Force takes fields from other managers. Without it such fields are ErrConflict.
	Force bool
	// DryRun does everything except the write.
	DryRun bool
}

// DeleteOptions configures a deletion. The zero value is ready.
type DeleteOptions struct {
	// DryRun does everything except the write.
	DryRun bool
	// UID and ResourceVersion, if not "", are preconditions: if the object has another one, the error is ErrConflict.
	UID             meta.UID
	ResourceVersion string
	// PropagationPolicy Orphan and Foreground each set a finalizer for the garbage collector in place of the other one;
	// Background removes both. "" changes no finalizer.
	PropagationPolicy meta.DeletionPropagation
}

func (o DeleteOptions) wire() (w kinds.DeleteOptions) {
	if o.DryRun {
		w.DryRun = []string{kinds.DryRunAll}
	}
	w.PropagationPolicy = set(&o.PropagationPolicy)
	w.Preconditions = &kinds.Preconditions{UID: set(&o.UID), ResourceVersion: set(&o.ResourceVersion)}
	return w
}

func set[S ~string](s *S) *S {
	if *s == "" {
		return nil
	}
	return s
}

// ListOptions configures a list (API reference, "ListOptions"). The zero value lists the current state of all
// objects.
type ListOptions struct {
	// Namespace limits the list to one namespace; "" means all.
	Namespace string
	// LabelSelector, FieldSelector and ShardSelector are in the API's syntax, such as "app=web,tier notin (db)",
	// "metadata.name=a" and "shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')".
	LabelSelector, FieldSelector, ShardSelector string
	// Limit bounds the items of a page. Zero and less mean no limit.
	Limit int64
	// Continue is the token of the previous page, which had the same other options.
	Continue string
	// ResourceVersion and ResourceVersionMatch choose the state; "" means the current one. MatchExact is the state at
	// ResourceVersion. MatchNotOlderThan is the current state, after a wait of at most three seconds until the store
	// has ResourceVersion.
	ResourceVersion, ResourceVersionMatch string
}

// WatchOptions configures a watch (API reference, "ListOptions" with watch=true). The zero value watches all objects,
// and starts with the current state as Added events.
type WatchOptions struct {
	// Namespace limits the watch to one namespace, Name to one object; "" means all.
	Namespace, Name string
	// LabelSelector, FieldSelector and ShardSelector are as in ListOptions.
	LabelSelector, FieldSelector, ShardSelector string
	// ResourceVersion is where to start: the first event is the next change. "" starts with the current state.
	ResourceVersion string
	// AllowWatchBookmarks adds Bookmark events, which have only a resourceVersion: one after the current state, then
	// about one a minute, once the store has changed since the watch began.
	AllowWatchBookmarks bool
	// Timeout ends the watch. Zero and less mean no limit.
	Timeout time.Duration
	// Shared sends the stored objects themselves, as the informers of client-go do, in place of copies. Treat
	// received objects as read-only.
	Shared bool
}

// The values of ResourceVersionMatch.
const (
	MatchExact        = "Exact"
	MatchNotOlderThan = "NotOlderThan"
)
