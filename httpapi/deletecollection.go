package httpapi

// deleteCollection answers DELETE …/namespaces/{ns}/{resource} with the list
// of what was there. The reference says Status; real servers send the list.
//
// Query: all of list, and where there is no body all of delete.
func (c *call) deleteCollection() error {
	list, err := c.listOptions()
	if err != nil {
		return err
	}
	list.WatchRules = c.boolParam("watch")
	if err := c.endpoint.res.CheckList(list); err != nil {
		return err
	}
	opts, err := c.anyDeleteOptions()
	if err != nil {
		return err
	}
	ctx, done := c.untilClose()
	defer done()
	l, err := c.endpoint.res.DeleteCollection(ctx, list, opts)
	if err != nil {
		return c.orClosed(err)
	}
	return c.writeList(l)
}
