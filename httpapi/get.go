package httpapi

import "net/http"

// get answers GET …/namespaces/{ns}/{resource}/{name}, and /status below it,
// which shows the same.
//
// Query: resourceVersion, pretty. A watch parameter has no effect here.
func (c *call) get() error {
	resourceVersion := ""
	if c.req.URL.RawQuery != "" {
		if c.boolParam("export") {
			return exportGone()
		}
		resourceVersion = c.param("resourceVersion")
	}
	ctx := c.req.Context()
	if resourceVersion != "" { // which may have to be waited for
		var done func()
		ctx, done = c.untilClose()
		defer done()
	}
	it, err := c.endpoint.res.Get(ctx, c.namespace, c.name, resourceVersion)
	if err != nil {
		return c.orClosed(err)
	}
	return c.writeItem(http.StatusOK, it)
}
