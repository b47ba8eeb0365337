package httpapi

import "sync/atomic"

// watched is what watches of one resource in one version and scope watch. The scope is "resource" for watches of one object by
// its path, "namespace", or "cluster".
type watched struct {
	versionedResource
	scope string
}

// watchCount counts the watches of one resource in one version and scope.
type watchCount struct{ open, events atomic.Int64 }

// countWatch returns the count of watches like this request.
func (c *call) countWatch() *watchCount {
	info := c.endpoint.Info
	of := watched{versionedResource{info.Group, info.Versions[c.endpoint.Version].Name, info.Plural}, "cluster"}
	switch {
	case c.name != "":
		of.scope = "resource"
	case c.namespace != "":
		of.scope = "namespace"
	}
	n, _ := c.api.watched.LoadOrStore(of, &watchCount{})
	return n.(*watchCount)
}
