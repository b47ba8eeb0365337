package httpapi

import (
	"net/http"

	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// get answers GET …/namespaces/{ns}/{resource}/{name}, and of the subresources below it. /status and most others
// return the same object, /scale returns a Scale.
//
// Query: resourceVersion, pretty. The parameter watch has no effect.
func (c *call) get() error {
	if c.boolParam("export") {
		return meta.NewBadRequest("the export parameter, deprecated since v1.14, is no longer supported")
	}
	resourceVersion := c.param("resourceVersion")
	ctx, waiting := c.context(), registry.Waiting(nil)
	if resourceVersion != "" { // the read may wait for it
		var done func()
		ctx, done = c.untilClose()
		defer done()
		waiting = c.withoutSlot
	}
	if err := c.checkNames(); err != nil {
		return err
	}
	it, err := c.resource.GetWaiting(ctx, c.namespace, c.name, resourceVersion, waiting)
	if err != nil {
		return c.orClosed(err)
	}
	if it, err = it.Read(ctx, c.version, kind.Reuse(resourceVersion != "")); err != nil {
		return err
	}
	if it, err = c.body(it, true); err != nil {
		return err
	}
	return c.writeItem(http.StatusOK, it)
}

// namespaceObject answers GET /api/v1/namespaces/{ns}. Namespaces are not stored:
// every valid name exists. After a 404 kubectl asks whether the namespace is missing.
func (c *call) namespaceObject(name string) {
	err := c.checkDocumentRoute()
	if err == nil {
		err = c.negotiateMedia()
	}
	if err == nil && kind.DNSLabelName(name, false) != nil {
		err = meta.NewNotFound(meta.GroupResource{Resource: "namespaces"}, name)
	}
	if err != nil {
		c.fail(err)
		return
	}
	// The name needs no escapes.
	data := []byte(`{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"` + name + `","labels":{"kubernetes.io/metadata.name":"` + name + `"}},` +
		`"spec":{},"status":{"phase":"Active"}}`)
	m := c.media
	if m.format == formatProtobuf {
		m.format = formatJSON // the type has no protobuf form here
	}
	c.writeDocument(http.StatusOK, data, m)
}
