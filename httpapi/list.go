package httpapi

import (
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/kubecoord/kubecoord/internal/caller"
	"github.com/kubecoord/kubecoord/internal/codec"
	"github.com/kubecoord/kubecoord/internal/registry"
)

// list answers GET …/{resource} and GET …/namespaces/{ns}/{resource}.
//
// Query: labelSelector, fieldSelector, shardSelector, limit, continue,
// resourceVersion, resourceVersionMatch, sendInitialEvents (an error here),
// pretty. allowWatchBookmarks and timeoutSeconds have no effect.
func (c *call) list() error {
	opts, err := c.listOptions()
	if err != nil {
		return err
	}
	ctx, done := c.untilClose()
	defer done()
	if err := c.await(ctx, opts); err != nil {
		return err
	}
	l, err := c.resource().List(ctx, opts)
	if err != nil {
		return c.orClosed(err)
	}
	return c.writeList(l)
}

// writeList answers with a list in the negotiated form.
func (c *call) writeList(l *registry.List) error {
	if c.observe != nil {
		c.observe(caller.Sight{Version: l.ResourceVersion})
	}
	c.takeTurn()
	b, err := c.listBody(l)
	if err != nil {
		return err
	}
	return c.writeListBody(b)
}

// listBody returns a list in the negotiated kind, as JSON or protobuf.
func (c *call) listBody(l *registry.List) (*listBody, error) {
	switch {
	case c.media.as.Kind != "":
		return c.convertList(l)
	case c.media.format == formatProtobuf:
		return c.protobufList(l)
	case c.endpoint.info.Unstructured:
		return c.listInOrder(l), nil
	}
	m := l.Meta()
	head := appendListMeta([]byte(c.endpoint.jsonListHead), &m)
	b := &listBody{head: append(head, `,"items":[`...), separator: ",", foot: []byte("]}"), n: len(l.Items)}
	const foot = "]}\n" // of compact JSON
	return b, c.setItems(b, l, registry.JSON, foot, func(dst, item []byte) []byte { return append(dst, item...) })
}

// protobufList returns a list as a protobuf document.
func (c *call) protobufList(l *registry.List) (*listBody, error) {
	m := l.Meta()
	b := &listBody{head: appendMessage(nil, 1, listMetaType().AppendProto(nil, &m)), n: len(l.Items)}
	err := c.setItems(b, l, registry.Protobuf, codec.EnvelopeFoot, func(dst, item []byte) []byte { return appendMessage(dst, 2, item) })
	b.inEnvelope(c.endpoint.apiVersion, c.endpoint.info.Kind+"List")
	return b, err
}

// setItems sets the items of a list, which are made of cached bytes by add. It encodes
// all items now, so that an error can still be answered. foot is the end of the list
// if it is not converted.
func (c *call) setItems(b *listBody, l *registry.List, f registry.Format, foot string, add func(dst, item []byte) []byte) error {
	version := c.endpoint.version
	b.item = func(dst []byte, i int) ([]byte, error) {
		item, err := l.Items[i].Encoded(version, f)
		return add(dst, item), err
	}
	if c.media.format == formatYAML || c.media.format == formatJSON && c.media.pretty {
		return c.measure(b, l, f)
	}
	b.joined = l.Joined(version, f, func(limit int) []byte {
		if err := c.measure(b, l, f); err != nil || b.size+len(foot) > limit {
			return nil
		}
		joined, _ := b.appendItems(make([]byte, 0, b.size+len(foot)))
		return append(joined, foot...)
	})
	if b.joined != nil {
		b.size = len(b.joined) - len(foot)
		return nil
	}
	return c.measure(b, l, f)
}

// measure sets the size of a list.
func (c *call) measure(b *listBody, l *registry.List, f registry.Format) error {
	b.size = max(b.n-1, 0) * len(b.separator)
	for _, it := range l.Items {
		item, err := it.Encoded(c.endpoint.version, f)
		if err != nil {
			return err
		}
		b.size += len(item)
		if f == registry.Protobuf {
			b.size += 1 + protowire.SizeVarint(uint64(len(item))) // its tag and length
		}
	}
	return nil
}

// listInOrder returns a list of unstructured objects: members are in the order of
// their names, and items have their type.
func (c *call) listInOrder(l *registry.List) *listBody {
	m := l.Meta()
	members := listMetaType().ToUnstructured(&m)
	members["continue"] = m.Continue // also if it is empty
	e := c.endpoint
	return &listBody{
		head:      []byte(`{"apiVersion":"` + e.apiVersion + `","items":[`),
		separator: ",",
		foot:      append(append([]byte(`],"kind":"`+e.info.Kind+`List","metadata":`), mustJSON(members)...), '}'),
		n:         len(l.Items),
		size:      unknownSize,
		item: func(dst []byte, i int) ([]byte, error) {
			item, err := l.Items[i].Encoded(e.version, registry.JSON)
			if err != nil {
				return dst, err
			}
			typed, err := e.typedInOrder(item)
			return append(dst, typed...), err
		},
	}
}

// inEnvelope puts a protobuf message, whose size is known, into a document.
func (b *listBody) inEnvelope(apiVersion, kind string) {
	head := codec.AppendEnvelopeHead(nil, apiVersion, kind, len(b.head)+b.size+len(b.foot))
	b.head = append(head, b.head...)
	b.foot = append(b.foot, codec.EnvelopeFoot...)
}
