package httpapi

import (
	"cmp"
	"mime"
	"net/http"
	"strings"
	"unicode"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/patch"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store/meta"
)

// create answers POST …/namespaces/{ns}/{resource}.
//
// Query: dryRun, fieldManager, fieldValidation, pretty.
func (c *call) create() error {
	o, err := c.readNew()
	if err != nil {
		return err
	}
	it, err := c.resource.Create(c.context(), o, c.request())
	if err != nil {
		return err
	}
	if c.endpoint.Kind.Native().Through != nil {
		c.writeCreated()
		return nil
	}
	return c.writeItem(http.StatusCreated, it)
}

// readNew reads the body and the options of a create.
func (c *call) readNew() (kinds.Object, error) {
	f, err := c.objectFormat()
	if err != nil {
		return nil, err
	}
	data, err := c.readBody()
	if err != nil {
		return nil, err
	}
	opts := c.writeOptions()
	if err := kinds.ValidateWriteOptions(*opts, "CreateOptions"); err != nil {
		return nil, err
	}
	var like kinds.Object
	if c.endpoint.Kind == c.resource.Kind {
		like = c.resource.Newest()
	}
	return c.served.scheme.DecodeBody(c.context(), c.endpoint.Target, data, f, validation(opts.FieldValidation), like, c.warn)
}

// update answers PUT …/namespaces/{ns}/{resource}/{name}, which also creates the object if the kind
// allows it, and PUT of /status below it, which never does. Unlike create it checks the media type
// after the options.
//
// Query: dryRun, fieldManager, fieldValidation, pretty.
func (c *call) update() error {
	data, err := c.readBody()
	if err != nil {
		return err
	}
	opts := c.writeOptions()
	if err := kinds.ValidateWriteOptions(*opts, "UpdateOptions"); err != nil {
		return err
	}
	f, err := c.objectFormat()
	if err != nil {
		return err
	}
	req := c.request()
	var found *registry.Item
	if c.endpoint.Kind == c.resource.Kind {
		found = c.resource.Peek(c.namespace, c.name)
	}
	o, err := c.served.scheme.DecodeBody(c.context(), c.endpoint.Target, data, f, validation(opts.FieldValidation), found.Stored(), req.Warn)
	if err != nil {
		if c.customBody() {
			err = kinds.ErrNoType(c.endpoint.Target)
		}
		return err
	}
	m := o.GetObjectMeta()
	req.UID = m.UID
	if err := c.resource.MatchNames(m, req.Namespace, req.Name); err != nil {
		return err
	}
	if err := c.checkNames(); err != nil {
		return err
	}
	b := c.buffers()
	b.sent = registry.SentBy(c.endpoint.Kind, o, found)
	return c.writeUpdate(req, &b.sent)
}

// writeUpdate makes a change, and answers with the object or the body of the subresource.
func (c *call) writeUpdate(req *registry.Request, change registry.Change) error {
	it, created, err := c.resource.Update(c.context(), req, change)
	if err == nil {
		it, err = c.body(it, false)
	}
	if err != nil {
		return err
	}
	code := http.StatusOK
	if created {
		code = http.StatusCreated
	}
	return c.writeItem(code, it)
}

// body returns the body of the subresource of the request for a state of the object, which may be the object itself.
func (c *call) body(it *registry.Item, get bool) (*registry.Item, error) {
	if c.sub == nil || c.sub.Body == nil {
		return it, nil
	}
	return c.resource.Body(c.sub, it, get)
}

// createSub answers POST …/{resource}/{name}/{subresource}, of bodies such as Binding and Eviction, mostly with a Status.
//
// Query: dryRun, fieldManager, fieldValidation, pretty.
func (c *call) createSub() error {
	o, err := c.readNew()
	if err != nil {
		return err
	}
	if err := c.checkNames(); err != nil {
		return err
	}
	req := c.request()
	if err := registry.MatchNamespace(o.GetObjectMeta(), req.Namespace); err != nil {
		return err
	}
	it, err := c.resource.CreateSub(c.context(), req, o)
	switch {
	case err != nil:
		return err
	case it != nil:
		return c.writeItem(http.StatusCreated, it)
	}
	c.writeCreated()
	return nil
}

// writeCreated answers a create with a Status.
func (c *call) writeCreated() {
	c.writeStatus(http.StatusCreated, &meta.Status{Status: meta.StatusSuccess, Code: http.StatusCreated}, c.media)
}

// bodyFormat returns the format of a request body. The default is JSON.
func (c *call) bodyFormat() (format, error) {
	name := c.header("Content-Type")
	switch name {
	case "", typeJSON:
		return formatJSON, nil
	case typeProtobuf:
		return formatProtobuf, nil
	}
	if t, _, err := mime.ParseMediaType(name); err == nil {
		switch t {
		case typeJSON:
			return formatJSON, nil
		case typeYAML:
			return formatYAML, nil
		case typeProtobuf:
			return formatProtobuf, nil
		}
	}
	return 0, registry.UnsupportedMedia(typeJSON, typeYAML, typeProtobuf)
}

// objectFormat returns the format of an object in the body.
func (c *call) objectFormat() (format, error) {
	f, err := c.bodyFormat()
	if err == nil && f == formatProtobuf && c.endpoint.Kind.JSONOnly() {
		// A real server accepts the media type and then panics.
		err = registry.UnsupportedMedia(typeJSON, typeYAML)
	}
	return f, err
}

// writeOptions reads dryRun, fieldManager and fieldValidation into the memory of the call.
func (c *call) writeOptions() *kinds.WriteOptions {
	b := c.buffers()
	b.options = kinds.WriteOptions{DryRun: c.params()["dryRun"], FieldManager: c.param("fieldManager"), FieldValidation: c.param("fieldValidation")}
	return &b.options
}

// request describes the write to the registry, in the memory of the call. writeOptions comes before it.
func (c *call) request() *registry.Request {
	b := c.buffers()
	b.request = registry.Request{
		Namespace: c.namespace, Name: c.name, Version: c.version,
		DryRun: len(b.options.DryRun) > 0, FieldManager: c.managerOf(b.options.FieldManager), Warn: c.warn,
		Sub: c.sub, Guard: &b.guard,
	}
	b.guard = registry.Guard{Options: &b.options}
	if c.api.authorize != nil {
		b.guard.MayCreate = c.mayCreate
	}
	return &b.request
}

// validation returns the level of a valid fieldValidation.
func validation(text string) patch.Validation {
	switch text {
	case "Ignore":
		return patch.Ignore
	case "Strict":
		return patch.Strict
	}
	return patch.Warn
}

// managerOf returns the field manager of a write: the parameter, or the program of the User-Agent.
func (c *call) managerOf(fieldManager string) string {
	if fieldManager != "" {
		return fieldManager
	}
	name, _, _ := strings.Cut(c.header("User-Agent"), "/")
	name = printable(name)
	return cmp.Or(name[:min(len(name), kinds.MaxFieldManager)], "unknown")
}

// printable returns the printable characters of a text, which is part of the header of a request, in
// memory of its own.
func printable(text string) string {
	text = strings.Clone(text)
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' { // few names have one
			return strings.Map(func(ch rune) rune {
				if unicode.IsPrint(ch) {
					return ch
				}
				return -1
			}, text)
		}
	}
	return text
}
