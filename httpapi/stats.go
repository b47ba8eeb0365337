package httpapi

import "sync/atomic"

// Stats has the counts of an API at one moment, for metrics.
type Stats struct {
	// Reads and Writes are the requests in flight that count for these Options, or 0 without a
	// limit.
	Reads, Writes int
	// Watches has an element for each resource, version and scope that was watched, in no order.
	Watches []WatchStats
}

// WatchStats counts the watches of one resource in one version and scope.
type WatchStats struct {
	Group, Version, Resource string
	// Scope is "resource" for watches of one object by its path, "namespace", or "cluster".
	Scope string
	// Open is the number of open watches.
	Open int
	// Events is the number of events that were passed to clients since New, bookmarks included.
	Events int64
}

// Stats returns the present counts. It may be called at any time, also after Close.
func (a *API) Stats() Stats {
	s := Stats{Reads: a.limits.reads.inUse(), Writes: a.limits.writes.inUse()}
	a.watched.Range(func(of, n any) bool {
		w, count := of.(WatchStats), n.(*watchCount)
		w.Open, w.Events = int(count.open.Load()), count.events.Load()
		s.Watches = append(s.Watches, w)
		return true
	})
	return s
}

// watchCount counts the watches of one resource in one version and scope.
type watchCount struct{ open, events atomic.Int64 }

// countWatch returns the count of watches like this request.
func (c *call) countWatch() *watchCount {
	info := c.endpoint.Info
	of := WatchStats{Group: info.Group, Version: info.Versions[c.endpoint.Version].Name, Resource: info.Plural, Scope: "cluster"}
	switch {
	case c.name != "":
		of.Scope = "resource"
	case c.namespace != "":
		of.Scope = "namespace"
	}
	n, _ := c.api.watched.LoadOrStore(of, &watchCount{})
	return n.(*watchCount)
}
