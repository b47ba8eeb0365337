// Package backend is the seam between the store and an engine that keeps its objects elsewhere. The store encodes,
// decodes and decides; a backend sees keys, bytes and versions. Package store/etcd is a backend.
//
// A store without a backend is in memory, and does not come here.
package backend

import (
	"context"
	"iter"
)

// Backend keeps values under keys, and gives each change a version. All methods may be called from any goroutine.
// Keys are as below the prefix of a real API server, such as "leases/default/a".
//
// An error with an unknown outcome is returned as it is: such a write is not repeated.
// The error of a context that ended can be found with errors.Is.
type Backend interface {
	// Commit makes one change if the key is in the state that the write expects.
	Commit(ctx context.Context, w Write) (Committed, error)
	// Get returns the present state of a key. It is linearizable. Version is 0 for a key that is absent.
	Get(ctx context.Context, key string) (Stored, error)
	// List returns the present state of all keys below a prefix that ends in a slash, and its version.
	List(ctx context.Context, prefix string) ([]Stored, uint64, error)
	// Version returns the present version. It is linearizable. One question to the engine
	// serves all callers that asked before it began.
	Version(ctx context.Context) (uint64, error)
	// Progress asks for Follower.Reached as soon as the engine can tell it.
	Progress(ctx context.Context) error
	// Follow calls f with all state and then with each change, in order, from one goroutine. It returns when ctx ends
	// or f returns an error, and connects again by itself. If the engine still has the state of up to history
	// versions ago, Follow begins with that state, so that f gets the changes since then one by one.
	Follow(ctx context.Context, history int, f Follower) error
}

// Write is one change of one key.
type Write struct {
	Key    string
	Value  []byte // nil deletes the key
	Expect uint64 // the version of the state that the change replaces; 0 means absent
}

// Committed is the outcome of a Write.
type Committed struct {
	Done    bool
	Version uint64 // of the change, if it was done
	Have    Stored // the state of the key, if it was not
}

// Stored is the state of one key.
type Stored struct {
	Key     string
	Value   []byte // nil in a change that deleted the key
	Version uint64 // of the last change of the key; 0 if it is absent
}

// Follower receives the state and the changes of a Backend. Its methods are called one after the other.
type Follower interface {
	// Load replaces all that the follower has by the state at version. A second call says
	// that changes were lost in between.
	Load(all iter.Seq[Stored], version uint64) error
	// Changed reports all changes of one version. Versions rise, with gaps.
	Changed(version uint64, changes []Stored) error
	// Reached reports that no change up to version is still to come.
	Reached(version uint64)
	// Contact reports whether changes arrive as they happen, whenever that changes.
	Contact(ok bool)
}
