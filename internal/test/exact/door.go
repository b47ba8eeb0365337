package exact

import (
	"context"
	"iter"

	"github.com/kubecoord/kubecoord/watch"
)

// State is the part of an object that a client sees.
type State struct {
	Namespace, Name string
	Version         uint64
	UID             string
	Write           string // holderIdentity: each write has its own
	Color           string // the label "color"
	Kind            int    // the number of the kind under which the object was written, of a kind that changes
}

func (s State) key() key { return key{s.Namespace, s.Name} }

// ListOptions are the options of a list that the clients use.
type ListOptions struct {
	Namespace, Color string
	Limit            int
	Continue         string
	Version, Match   string // resourceVersion and resourceVersionMatch
}

// Page is the answer to a list.
type Page struct {
	Items     []State
	Version   uint64
	Continue  string
	Remaining int64 // -1 if it is unknown
}

// WatchOptions are the options of a watch that the clients use.
type WatchOptions struct {
	Namespace, Color, Name string
	Version                string
	Initial                bool // sendInitialEvents with bookmarks
}

func (o WatchOptions) scope() scope { return scope{o.Namespace, o.Name, o.Color} }

// Event is an event of a watch.
type Event struct {
	Type       watch.EventType
	State      State
	InitialEnd bool
}

// Door is one way to the API. An error is a meta.Status by errors.As if the API refused the operation. After any other error it is
// unknown whether a write took place.
type Door interface {
	Create(ctx context.Context, s State) (State, error)
	Get(ctx context.Context, namespace, name, version string) (State, error)
	// Update replaces the object; s.Version is the precondition.
	Update(ctx context.Context, s State) (State, error)
	// Patch sets holderIdentity and color without a precondition.
	Patch(ctx context.Context, s State) (State, error)
	// Delete removes the object if it has this uid, or any object if uid is "". The result has the uid of the deleted object.
	Delete(ctx context.Context, namespace, name, uid string) (State, error)
	List(ctx context.Context, opts ListOptions) (Page, error)
	Watch(ctx context.Context, opts WatchOptions) iter.Seq2[Event, error]
}
