package httpapi

import (
	"net/http"

	"github.com/kubecoord/kubecoord/internal/registry"
)

// update answers PUT …/namespaces/{ns}/{resource}/{name}, which creates the
// object where there is none and the kind allows it, and /status below it, which
// does not.
//
// Query: dryRun, fieldManager, fieldValidation, pretty. The type of the body is
// looked at after the options.
func (c *call) update() error {
	data, err := c.readBody()
	if err != nil {
		return err
	}
	opts := c.createOptions()
	if err := registry.UpdateOptions(opts).Validate(); err != nil {
		return err
	}
	f, err := c.bodyFormat()
	if err != nil {
		return err
	}
	o, err := c.decodeBody(data, f, opts)
	if err != nil {
		return err
	}
	req := c.request(opts)
	if err := c.endpoint.res.MatchNames(o.GetObjectMeta(), req); err != nil {
		return err
	}
	it, created, err := c.endpoint.res.Update(c.req.Context(), req, c.endpoint.res.Replace(o))
	if err != nil {
		return err
	}
	return c.writeItem(updated(created), it)
}

// updated returns the status code of a write that may have created its object.
func updated(created bool) int {
	if created {
		return http.StatusCreated
	}
	return http.StatusOK
}
