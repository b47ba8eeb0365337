package httpapi

import "net/http"

// create answers POST …/namespaces/{ns}/{resource}.
//
// Query: dryRun, fieldManager, fieldValidation, pretty. The type of the body is
// looked at before the body is read.
func (c *call) create() error {
	f, err := c.bodyFormat()
	if err != nil {
		return err
	}
	data, err := c.readBody()
	if err != nil {
		return err
	}
	opts := c.createOptions()
	if err := opts.Validate(); err != nil {
		return err
	}
	o, err := c.decodeBody(data, f, opts)
	if err != nil {
		return err
	}
	it, err := c.endpoint.res.Create(c.req.Context(), o, c.request(opts))
	if err != nil {
		return err
	}
	return c.writeItem(http.StatusCreated, it)
}
