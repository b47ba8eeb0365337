package store

import (
	"time"

	"github.com/kubecoord/kubecoord/store/meta"
)

// CreateOptions configures a create. The zero value is ready.
type CreateOptions struct {
	// DryRun does everything but the write.
	DryRun bool
	// FieldManager is the name of the writer in managedFields, at most 128
	// printable bytes. "" means "unknown".
	FieldManager string
}

// UpdateOptions configures an update. The zero value is ready.
type UpdateOptions struct {
	// DryRun does everything but the write.
	DryRun bool
	// FieldManager is the name of the writer in managedFields, at most 128
	// printable bytes. "" means "unknown".
	FieldManager string
}

// PatchOptions configures a patch. The zero value is ready.
type PatchOptions struct {
	// DryRun does everything but the write.
	DryRun bool
	// FieldManager is the name of the writer in managedFields, at most 128
	// printable bytes. "" means "unknown".
	FieldManager string
}

// PatchType is the form of a patch.
type PatchType string

// The forms of patches.
const (
	JSONPatch           PatchType = "application/json-patch+json"            // RFC 6902
	MergePatch          PatchType = "application/merge-patch+json"           // RFC 7386
	StrategicMergePatch PatchType = "application/strategic-merge-patch+json" // not for kinds of any form
)

// ApplyOptions configures a server-side apply.
type ApplyOptions struct {
	// FieldManager is the name of the owner of the applied fields. It is required.
	FieldManager string
	// Force takes fields from other managers. Without it the error is ErrConflict.
	Force bool
	// DryRun does everything but the write.
	DryRun bool
}

// DeleteOptions configures a deletion. The zero value is ready.
type DeleteOptions struct {
	// DryRun does everything but the write.
	DryRun bool
	// UID and ResourceVersion, if not "", are preconditions: an object that has
	// others is not deleted, and the error is ErrConflict.
	UID             meta.UID
	ResourceVersion string
	// PropagationPolicy becomes a finalizer: orphan or foregroundDeletion. "" keeps
	// what the object has.
	PropagationPolicy meta.DeletionPropagation
}

// wire returns the options in the form of the API.
func (o DeleteOptions) wire() (w meta.DeleteOptions) {
	if o.DryRun {
		w.DryRun = []string{meta.DryRunAll}
	}
	if o.PropagationPolicy != "" {
		w.PropagationPolicy = &o.PropagationPolicy
	}
	if o.UID == "" && o.ResourceVersion == "" {
		return w
	}
	w.Preconditions = &meta.Preconditions{}
	if o.UID != "" {
		w.Preconditions.UID = &o.UID
	}
	if o.ResourceVersion != "" {
		w.Preconditions.ResourceVersion = &o.ResourceVersion
	}
	return w
}

// ListOptions configures a list (API reference, "ListOptions"). The zero value
// lists everything there is now.
type ListOptions struct {
	// Namespace limits the list to one namespace; "" is all.
	Namespace string
	// LabelSelector, FieldSelector and ShardSelector are in the API's syntax; see
	// package selector.
	LabelSelector, FieldSelector, ShardSelector string
	// Limit is the most items of a page. Zero and less mean no limit.
	Limit int64
	// Continue is the token of the page before.
	Continue string
	// ResourceVersion and ResourceVersionMatch choose the state. Without them it is
	// the current one. "Exact" is the state at ResourceVersion. "NotOlderThan" is
	// the current one, once the store has come to ResourceVersion.
	ResourceVersion, ResourceVersionMatch string
}

// WatchOptions configures a watch (API reference, "ListOptions" with watch=true).
// The zero value watches everything and begins with the current state, as Added
// events.
type WatchOptions struct {
	// Namespace limits the watch to one namespace; "" is all. Name limits it to one
	// object.
	Namespace, Name string
	// LabelSelector, FieldSelector and ShardSelector are in the API's syntax; see
	// package selector.
	LabelSelector, FieldSelector, ShardSelector string
	// ResourceVersion is where to start: the first event is the change after it. ""
	// starts with the current state.
	ResourceVersion string
	// AllowWatchBookmarks adds events that carry only a resourceVersion: one after
	// the current state, then about one a minute.
	AllowWatchBookmarks bool
	// Timeout ends the watch. Zero and less mean no limit.
	Timeout time.Duration
}

// The values of ResourceVersionMatch.
const (
	MatchExact        = "Exact"
	MatchNotOlderThan = "NotOlderThan"
)
