package apitest

import (
	"fmt"
	"strconv"
	"time"

	"github.com/kubecoord/kubecoord/watch"
)

// Change is one change of an object in the store.
type Change struct {
	// Type is ADDED, MODIFIED or DELETED, and Time the time of the change by the clock of the store.
	Type            watch.EventType
	Time            time.Time
	Group, Resource string
	Result
	// Request is the request that made the change, perhaps to the API that was forked. It is nil for a change
	// through the Store. Its Body is kept only as long as Requests returns it.
	Request *Request
}

// Changes returns the changes after a resourceVersion, the oldest first. With "" it returns all since the
// store was made. The error says that since is no number, or that Options.KeepHistory was too small.
// ExpireHistory does not affect it.
func (a *API) Changes(since string) ([]Change, error) {
	var version uint64
	if since != "" {
		var err error
		if version, err = strconv.ParseUint(since, 10, 64); err != nil {
			return nil, problem("apitest.Changes", "got %q, want a resourceVersion", since)
		}
	}
	kept, complete := a.recorder.after(version)
	if !complete {
		return nil, fmt.Errorf("apitest.Changes: the store had more changes than KeepHistory since %q", since)
	}
	changes := make([]Change, len(kept))
	for i, c := range kept {
		info := c.Kind().Info()
		changes[i] = Change{Type: c.Type(), Time: c.At, Group: info.Group, Resource: info.Plural, Result: resultOf(c)}
		if c.by != nil {
			changes[i].Request = c.by.request()
		}
	}
	return changes, nil
}

// resultOf returns the state after a change, which may be nil.
func resultOf(c *change) Result {
	if c == nil {
		return Result{}
	}
	it := c.Newest()
	return Result{it.Namespace(), it.Name(), string(it.UID()), strconv.FormatUint(c.Version, 10)}
}

// request returns a copy of the request of a write, perhaps to the API that was forked.
func (w *write) request() *Request {
	w.api.mu.Lock()
	defer w.api.mu.Unlock()
	return new(w.api.copyLocked(w.req))
}
