package httpapi

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store/meta"
)

// As on a real server the first of several values of a parameter counts, and unknown names are ignored.

// params returns the query, parsed once. Invalid pairs are dropped, as net/url does.
func (c *call) params() url.Values {
	if c.query == nil && c.req.URL.RawQuery != "" {
		c.query = c.req.URL.Query()
	}
	return c.query
}

// param returns the first value of a parameter, or "".
func (c *call) param(name string) string { return c.params().Get(name) }

// boolParam reports whether a parameter is present and is not "0" or "false".
func (c *call) boolParam(name string) bool {
	v := c.params()[name]
	return len(v) > 0 && v[0] != "0" && !strings.EqualFold(v[0], "false")
}

// optionalBool returns nil if the parameter is absent.
func (c *call) optionalBool(name string) *bool {
	if len(c.params()[name]) == 0 {
		return nil
	}
	return new(c.boolParam(name))
}

// optionalInt returns nil if the parameter is absent.
func (c *call) optionalInt(name string) (*int64, error) {
	v := c.params()[name]
	if len(v) == 0 {
		return nil, nil
	}
	i, err := strconv.ParseInt(v[0], 10, 64)
	if err != nil {
		return nil, meta.NewBadRequest("%s", err)
	}
	return &i, nil
}

// listOptions reads the parameters of a list.
func (c *call) listOptions() (registry.ListOptions, error) {
	o := registry.ListOptions{Namespace: c.namespace, Version: c.version, Warn: c.warn}
	if c.req.URL.RawQuery == "" {
		return o, nil
	}
	if _, err := c.optionalInt("timeoutSeconds"); err != nil {
		return o, err
	}
	limit, err := c.optionalInt("limit")
	if err != nil {
		return o, err
	}
	if limit != nil {
		o.Limit = *limit
	}
	o.LabelSelector, o.FieldSelector, o.ShardSelector = c.param("labelSelector"), c.param("fieldSelector"), c.param("shardSelector")
	o.Continue = c.param("continue")
	o.ResourceVersion, o.ResourceVersionMatch = c.param("resourceVersion"), c.param("resourceVersionMatch")
	o.SendInitialEvents = c.optionalBool("sendInitialEvents")
	o.Waiting = c.withoutSlot
	return o, nil
}

// watchOptions reads the parameters of a watch.
func (c *call) watchOptions() (registry.ListOptions, error) {
	o, err := c.listOptions()
	if err != nil {
		return o, err
	}
	o.Name, o.EndWithoutContact = c.name, true
	o.AllowWatchBookmarks, o.OtherRules = c.boolParam("allowWatchBookmarks"), !c.boolParam("watch")
	seconds, _ := c.optionalInt("timeoutSeconds") // listOptions has checked it
	o.Timeout = c.watchTimeout(seconds)
	return o, nil
}
