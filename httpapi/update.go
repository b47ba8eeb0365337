package httpapi

import (
	"net/http"

	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
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
	if err := store.UpdateOptions(opts).Validate(); err != nil {
		return err
	}
	f, err := c.bodyFormat()
	if err != nil {
		return err
	}
	o, err := c.decodeBody(data, f, validation(opts.FieldValidation))
	if err != nil {
		return err
	}
	m := o.GetObjectMeta()
	if err := c.matchNames(m); err != nil {
		return err
	}
	first := o
	it, created, err := c.endpoint.res.Update(c.request(opts), m.UID, func(*store.Item) (store.Object, error) {
		if first != nil {
			o, first = first, nil
			return o, nil
		}
		// The store has taken the object; another attempt needs another.
		return c.decodeBody(data, f, validation(opts.FieldValidation))
	})
	if err != nil {
		return err
	}
	code := http.StatusOK
	if created {
		code = http.StatusCreated
	}
	return c.writeItem(code, it)
}

// matchNames holds the names in an object against those of the path.
func (c *call) matchNames(m *meta.ObjectMeta) error {
	if m.Namespace == "" || c.endpoint.info.ClusterScoped {
		m.Namespace = c.namespace
	}
	if m.Namespace != c.namespace {
		return meta.NewBadRequest("the namespace of the provided object does not match the namespace sent on the request")
	}
	if m.Name == "" {
		return meta.NewBadRequest("the name of the object (%s based on URL) was undeterminable: name must be provided", c.name)
	}
	if m.Name != c.name {
		return meta.NewBadRequest("the name of the object (%s) does not match the name on the URL (%s)", m.Name, c.name)
	}
	return nil
}
