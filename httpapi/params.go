package httpapi

import (
	"strconv"
	"strings"
	"time"

	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store/meta"
)

// Query parameters are read as a real server reads them: of several values the
// first counts, unknown names are ignored, and what stands for true is
// generous.

// param returns the first value of a parameter, or "".
func (c *call) param(name string) string { return c.params().Get(name) }

// boolParam reports whether a parameter is there and is not "0" or "false".
func (c *call) boolParam(name string) bool {
	v := c.params()[name]
	return len(v) > 0 && v[0] != "0" && !strings.EqualFold(v[0], "false")
}

// optionalBool is nil where the parameter is absent.
func (c *call) optionalBool(name string) *bool {
	if len(c.params()[name]) == 0 {
		return nil
	}
	return new(c.boolParam(name))
}

// optionalInt is nil where the parameter is absent.
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

// checkTimeout refuses a timeout parameter that is no duration, on any path and
// before all else. Its value is meant for a server's own limits and has no
// further effect; watches do not look at it.
func (c *call) checkTimeout() error {
	if !strings.Contains(c.req.URL.RawQuery, "timeout=") || c.attributes(User{}).Verb == "watch" {
		return nil
	}
	if v := c.param("timeout"); v != "" {
		if _, err := time.ParseDuration(v); err != nil {
			return meta.NewBadRequest("invalid timeout specified in the request URL - %s", err)
		}
	}
	return nil
}

// createOptions reads dryRun, fieldManager and fieldValidation.
func (c *call) createOptions() registry.CreateOptions {
	if c.req.URL.RawQuery == "" {
		return registry.CreateOptions{}
	}
	return registry.CreateOptions{
		DryRun:          c.params()["dryRun"],
		FieldManager:    c.param("fieldManager"),
		FieldValidation: c.param("fieldValidation"),
	}
}

// request returns what the store needs to know of a write.
func (c *call) request(o registry.CreateOptions) registry.Request {
	return registry.Request{
		Namespace: c.namespace, Name: c.name, Version: c.endpoint.version,
		DryRun: len(o.DryRun) > 0, FieldManager: managerOf(o.FieldManager, c.req), Warn: c.warn,
		Origin: registry.OriginOf(c.req.Context()),
		Status: c.subresource == statusSubresource,
	}
}

// listOptions reads the parameters of a list.
func (c *call) listOptions() (registry.ListOptions, error) {
	o := registry.ListOptions{Namespace: c.namespace, Warn: c.warn}
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
	return o, nil
}

// watchOptions reads the parameters of a watch.
func (c *call) watchOptions() (registry.WatchOptions, error) {
	l, err := c.listOptions()
	if err != nil {
		return registry.WatchOptions{}, err
	}
	o := registry.WatchOptions{
		Namespace: c.namespace, Name: c.name,
		LabelSelector: l.LabelSelector, FieldSelector: l.FieldSelector, ShardSelector: l.ShardSelector,
		ResourceVersion: l.ResourceVersion, ResourceVersionMatch: l.ResourceVersionMatch,
		SendInitialEvents: l.SendInitialEvents, Continue: l.Continue,
		AllowWatchBookmarks: c.boolParam("allowWatchBookmarks"),
		ListRules:           !c.boolParam("watch"),
		Warn:                c.warn,
	}
	seconds, err := c.optionalInt("timeoutSeconds")
	if err != nil {
		return o, err
	}
	o.Timeout = c.watchTimeout(seconds, o)
	return o, nil
}

// deleteOptions reads the options of a deletion from the query, which is done
// only where there is no body.
func (c *call) deleteOptions() (o registry.DeleteOptions, err error) {
	if c.req.URL.RawQuery == "" {
		return o, nil
	}
	if o.GracePeriodSeconds, err = c.optionalInt("gracePeriodSeconds"); err != nil {
		return o, err
	}
	o.OrphanDependents = c.optionalBool("orphanDependents")
	if len(c.params()["propagationPolicy"]) > 0 {
		o.PropagationPolicy = new(meta.DeletionPropagation(c.param("propagationPolicy")))
	}
	if uid, version := c.param("uid"), c.param("resourceVersion"); uid != "" || version != "" {
		o.Preconditions = &meta.Preconditions{}
		if uid != "" {
			o.Preconditions.UID = new(meta.UID(uid))
		}
		if version != "" {
			o.Preconditions.ResourceVersion = &version
		}
	}
	o.DryRun = c.params()["dryRun"]
	o.IgnoreStoreReadErrorWithClusterBreakingPotential = c.optionalBool("ignoreStoreReadErrorWithClusterBreakingPotential")
	return o, nil
}
