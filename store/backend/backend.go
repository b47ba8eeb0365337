// Package backend is the interface between a store and an engine that keeps its objects elsewhere. The store encodes, decodes,
// validates and decides; a Backend sees keys, bytes and versions. store.Open returns a store on a Backend, and package
// store/etcd has one. A store of store.New has none.
//
// # Keys and values
//
// Keys and values are as a real API server has them below its prefix: "leases/default/a", and a protobuf envelope or JSON
// (upstream: apiserver, storage/etcd3/store.go). The keys of a kind begin with kind.Info.StoragePrefix and a slash. A
// Backend need not read the values. A Value that went in or came out does not change any more: neither side may write into
// it.
//
// # Versions
//
// One counter gives the versions of all keys, as the revision of etcd does. A change gets a version that is greater
// than the version of each change before it, and all stores on the same data see the same version. It becomes the
// resourceVersion of the object, so clients keep it: a version must never come again, not even after a restart.
//
// # Order
//
// Commit, Get, List and Version are linearizable: what one of them has answered, later calls of all stores see. Follow
// may lag. A consistent read asks for the present version, and waits until Follow has reached it (upstream: KEP-2340,
// consistent reads from the cache).
package backend

import (
	"context"
	"iter"
)

// Backend keeps values under keys, and gives each change a version. All methods may be called from any goroutine.
//
// A call whose context ends must return soon, with an error for which errors.Is finds the error of the context. Other
// errors go to the client as they are.
type Backend interface {
	// Commit makes one change if the key is in the state that the write expects. Otherwise it returns the state, and no error. After an
	// error nobody knows whether the change was made: the store does not repeat the write.
	Commit(ctx context.Context, w Write) (Committed, error)
	// Get returns the present state of a key. Stored.Version is 0 for a key that is absent.
	Get(ctx context.Context, key string) (Stored, error)
	// List returns the present state of all keys below a prefix that ends in a slash, and the version of that state.
	List(ctx context.Context, prefix string) ([]Stored, uint64, error)
	// Version returns the present version. Many reads call it at the same time. Calls may share one answer, if all of them
	// began before the request for it was sent.
	Version(ctx context.Context) (uint64, error)
	// Progress asks the Backend to call Follower.Reached soon. It must not block. The store calls it again while a read waits. It may do
	// nothing if Follow reports a change for each version.
	Progress()
	// Follow calls f with the whole state and then with each change, whoever made it, in the order of the versions. If the Backend
	// still has the state of up to history versions ago, Follow begins with that state, so that watches can start in the past.
	//
	// A store calls Follow once, when it opens. Follow returns when ctx ends or f returns an error. If it loses its
	// connection, it connects again by itself. An error that it returns ends the store: all requests fail with that error.
	// Close of the store waits until Follow returns. By then all that the Backend has started for the store must have ended.
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
	Have    Stored // the state of the key, if it was not; Have.Version is 0 if the key is absent
}

// Stored is the state of one key.
type Stored struct {
	Key     string
	Value   []byte // nil in a change that deleted the key; an empty value is not nil
	Version uint64 // of the last change of the key; 0 if it is absent
}

// Follower receives the state and the changes of a Backend. Follow must call its methods one after the other.
type Follower interface {
	// Load replaces the state of the follower by the state at version. Follow must call it first. A later call means that
	// changes were lost in between: all watches end with 410.
	Load(all iter.Seq[Stored], version uint64) error
	// Changed reports all changes of one version. Versions rise, with gaps.
	Changed(version uint64, changes []Stored) error
	// Reached reports that no change up to version is still to come.
	Reached(version uint64)
	// Contact tells the follower whether changes arrive as they happen. Follow calls it with true when they begin to arrive, and then
	// whenever that changes; false before the first true has no effect. Watches over HTTP end after 30 seconds without contact. A
	// Backend that cannot lose contact need not call it.
	Contact(ok bool)
}
