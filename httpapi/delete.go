package httpapi

import (
	"cmp"
	"context"
	"net/http"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store/meta"
)

// delete answers DELETE …/namespaces/{ns}/{resource}/{name}: with a Status if the object is gone, or as the kind wants, with
// the object if it still has finalizers, and with an empty object if a dry run would remove the last
// finalizer.
//
// Query: pretty; without a body, which is DeleteOptions, also gracePeriodSeconds, orphanDependents,
// propagationPolicy, dryRun, uid, resourceVersion, ignoreStoreReadErrorWithClusterBreakingPotential.
func (c *call) delete() error {
	opts, err := c.anyDeleteOptions()
	if err != nil {
		return err
	}
	if err := c.checkNames(); err != nil {
		return cmp.Or(kinds.ValidateDeleteOptions(opts, false), err)
	}
	b := c.buffers()
	b.request, b.deletion = c.deletion(), opts
	d, err := c.resource.Delete(c.context(), &b.request, &b.deletion)
	if err != nil {
		return err
	}
	it := d.Item
	if !d.Removed {
		code := http.StatusOK
		if o := opts.OrphanDependents; o != nil && !*o {
			code = http.StatusAccepted
		}
		return c.writeItem(code, it)
	}
	if it.Name() == "" || c.resource.Native().ReturnsObject { // the empty object of a dry run
		return c.writeItem(http.StatusOK, it)
	}
	gr := c.groupResource()
	// Both are empty, as release leaves them. Whole values would stand on the stack first.
	b.details.Name, b.details.Group, b.details.Kind, b.details.UID = c.name, gr.Group, gr.Resource, it.UID()
	b.status.Status, b.status.Details = meta.StatusSuccess, &b.details
	c.writeStatus(http.StatusOK, &b.status, c.media)
	return nil
}

// deletion describes a deletion to the registry.
func (c *call) deletion() registry.Request {
	return registry.Request{Namespace: c.namespace, Name: c.name, Version: c.version, Warn: c.warn}
}

// deleteCollection answers DELETE …/namespaces/{ns}/{resource} with the list of the deleted objects,
// as real servers do. The API reference says Status.
//
// Query: the parameters of list. Without a body also the parameters of delete.
func (c *call) deleteCollection() error {
	list, err := c.listOptions()
	if err != nil {
		return err
	}
	list.OtherRules = c.boolParam("watch")
	if err := c.resource.CheckList(list); err != nil {
		return err
	}
	opts, err := c.anyDeleteOptions()
	if err != nil {
		return err
	}
	if err := kinds.ValidateDeleteOptions(opts, true); err != nil {
		return err
	}
	ctx, done := c.untilClose()
	defer done()
	var l *registry.List
	if c.namespaced && c.namespace == "" { // the list of all namespaces, whose first object cannot be deleted
		list.Limit = 1
		if l, err = c.resource.List(ctx, list); err == nil && len(l.Items) > 0 {
			err = c.checkNames()
		}
	} else if err = c.checkStored(ctx, list); err == nil {
		l, err = c.resource.DeleteCollection(ctx, c.deletion(), list, opts)
	}
	if err != nil {
		return c.orClosed(err)
	}
	return c.writeList(l)
}

// checkStored returns the error of a deletion that cannot read an object from storage.
func (c *call) checkStored(ctx context.Context, list registry.ListOptions) error {
	if !c.resource.Kind.Remembers(c.version) {
		return nil
	}
	l, err := c.resource.List(ctx, list)
	if err != nil {
		return err
	}
	return c.checkConversions(true, l.Items)
}

// anyDeleteOptions reads the options from the body, or from the query if the body is empty.
func (c *call) anyDeleteOptions() (kinds.DeleteOptions, error) {
	data, err := c.readBody()
	if err != nil {
		return kinds.DeleteOptions{}, err
	}
	if len(data) == 0 {
		return c.deleteOptions()
	}
	f, err := c.bodyFormat()
	if err != nil {
		return kinds.DeleteOptions{}, err
	}
	return kinds.DecodeDeleteOptions(data, f)
}

func (c *call) deleteOptions() (o kinds.DeleteOptions, err error) {
	if o.GracePeriodSeconds, err = c.optionalInt("gracePeriodSeconds"); err != nil {
		return o, err
	}
	o.OrphanDependents = c.optionalBool("orphanDependents")
	if len(c.params()["propagationPolicy"]) > 0 {
		o.PropagationPolicy = new(meta.DeletionPropagation(c.param("propagationPolicy")))
	}
	if uid, version := c.param("uid"), c.param("resourceVersion"); uid != "" || version != "" {
		o.Preconditions = &kinds.Preconditions{}
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
