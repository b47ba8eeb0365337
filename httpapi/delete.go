package httpapi

import (
	"net/http"

	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store/meta"
)

// delete answers DELETE …/namespaces/{ns}/{resource}/{name}: with a Status
// where the object is gone, with the object where finalizers hold it, and with an
// empty one where a dry run would take off the last of them.
//
// Body or, where there is none, query: gracePeriodSeconds, orphanDependents,
// propagationPolicy, dryRun,
// ignoreStoreReadErrorWithClusterBreakingPotential; in a body also
// preconditions. Query: pretty.
func (c *call) delete() error {
	opts, err := c.anyDeleteOptions()
	if err != nil {
		return err
	}
	it, deleted, err := c.endpoint.res.Delete(c.req.Context(), registry.Request{Namespace: c.namespace, Name: c.name, Origin: registry.OriginOf(c.req.Context())}, opts)
	if err != nil {
		return err
	}
	if !deleted {
		code := http.StatusOK
		if o := opts.OrphanDependents; o != nil && !*o {
			code = http.StatusAccepted
		}
		return c.writeItem(code, it)
	}
	if it.Name() == "" { // of a dry run: see registry.Resource.Delete
		return c.writeItem(http.StatusOK, it)
	}
	gr := c.groupResource()
	c.writeStatus(http.StatusOK, &meta.Status{
		Status:  meta.StatusSuccess,
		Details: &meta.StatusDetails{Name: c.name, Group: gr.Group, Kind: gr.Resource, UID: it.UID()},
	}, c.media)
	return nil
}

// anyDeleteOptions reads the options from the body, or from the query where
// the body is empty: never from both.
func (c *call) anyDeleteOptions() (registry.DeleteOptions, error) {
	data, err := c.readBody()
	if err != nil {
		return registry.DeleteOptions{}, err
	}
	if len(data) == 0 {
		return c.deleteOptions()
	}
	f, err := bodyFormat(c.req)
	if err != nil {
		return registry.DeleteOptions{}, err
	}
	return registry.DecodeDeleteOptions(data, f)
}
