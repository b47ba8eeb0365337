package httpapi

import (
	"fmt"
	"net/http"

	"github.com/kubecoord/kubecoord/internal/caller"
	"github.com/kubecoord/kubecoord/internal/codec"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// list answers GET …/{resource} and GET …/namespaces/{ns}/{resource}.
//
// Query: labelSelector, fieldSelector, shardSelector, limit, continue, resourceVersion,
// resourceVersionMatch, sendInitialEvents (an error here), pretty.
func (c *call) list() error {
	opts, err := c.listOptions()
	if err != nil {
		return err
	}
	ctx, done := c.untilClose()
	defer done()
	l, err := c.resource.List(ctx, opts)
	if err != nil {
		return c.orClosed(err)
	}
	if err := c.checkConversions(opts.Limit > 0 && opts.LabelSelector == "" && opts.FieldSelector == "", l.Items); err != nil {
		return err
	}
	return c.writeList(l)
}

// checkConversions returns the error of a list in a version that an object cannot be converted to. In a real server, such an object
// keeps the watch cache of the version from being filled. Only a page without selectors is read from storage then (upstream: apiserver,
// storage/cacher, shouldDelegateListOnNotReadyCache), and what a deletion of the collection reads.
func (c *call) checkConversions(fromStorage bool, items []*registry.Item) error {
	k := c.resource.Kind
	if !k.Remembers(c.version) {
		return nil
	}
	gr := k.GroupResource()
	details := &meta.StatusDetails{Name: "list", Group: gr.Group, Kind: gr.Resource}
	for _, it := range items {
		if _, err := k.Convert(c.context(), it.Stored(), 0, c.version, kind.Remembered); err != nil {
			key, corrupt := it.Corrupt("/registry", err)
			details.Causes = append(details.Causes, meta.StatusCause{Type: "UnexpectedServerResponse", Field: key, Message: corrupt.Error()})
		}
		if len(details.Causes) == maxCorrupt {
			break
		}
	}
	n := len(details.Causes)
	if n == 0 {
		return nil
	}
	message := fmt.Sprintf("failed to read one or more %s from the storage: %s", gr, details.Causes[0].Message)
	if n > 1 {
		message += fmt.Sprintf(" (and %d more)", n-1)
	}
	if n == maxCorrupt {
		details.Causes = append(details.Causes, meta.StatusCause{Type: "FieldValueTooMany", Message: "too many errors, the list is truncated"})
	}
	if fromStorage {
		return meta.NewStatusError(http.StatusInternalServerError, "StorageReadError", details, message)
	}
	return meta.NewStatusError(http.StatusTooManyRequests, meta.ReasonTooManyRequests, &meta.StatusDetails{RetryAfterSeconds: 1},
		"storage is (re)initializing: failed to list <unspecified>: "+message)
}

// maxCorrupt is how many objects an error of a list names (upstream: apiserver, storage/etcd3, maxCorruptObjErrsToAggregate).
const maxCorrupt = 100

// writeList answers with a list in the negotiated form. JSON is converted as in writeDocument.
func (c *call) writeList(l *registry.List) error {
	if c.observe != nil {
		c.observe(caller.Sight{Version: l.ResourceVersion})
	}
	c.takeTurn()
	b, err := c.listBody(l)
	if err != nil {
		return err
	}
	m := c.media
	if m.format == formatProtobuf || b.encode == nil {
		if err := c.measure(b, l); err != nil {
			return err
		}
	}
	if m.format == formatYAML {
		ok, err := b.toYAML(c.req.Context())
		if err != nil {
			return err
		}
		if !ok {
			m.format = formatJSON
		}
	}
	switch {
	case m.format == formatProtobuf:
		head := codec.AppendEnvelopeHead(nil, b.apiVersion, b.kind, len(b.head)+b.size+len(b.foot))
		b.head, b.foot = append(head, b.head...), append(b.foot, codec.EnvelopeFoot...)
	case m.format == formatJSON && (!m.pretty || b.indent() != nil):
		b.foot = append(b.foot, '\n')
	}
	return c.sendList(mediaTypeOf(m.format)+m.suffix, b)
}

// listBody returns a list in the negotiated kind, as JSON or as a protobuf message.
func (c *call) listBody(l *registry.List) (*listBody, error) {
	e, m := c.endpoint, l.Meta()
	if c.media.as.Kind != "" {
		m.ShardInfo = nil
	}
	switch c.media.as.Kind {
	case "":
	case asTable:
		if err := c.readTableOptions(); err != nil {
			return nil, err
		}
		c.table.marked = registry.DefaultRow(c.endpoint.Kind, l.Items)
		return c.tableOf(m, l.Items), nil
	case asPartialList:
		return c.partialList(m, l.Items), nil
	default:
		return nil, isAList(e)
	}
	b := &listBody{items: l.Items, apiVersion: e.APIVersion, kind: e.Info.ListKind, versionIndex: e.Version, separator: ","}
	switch {
	case c.media.format == formatProtobuf:
		b.number, b.separator = 2, ""
		b.head = appendMessage(nil, 1, listMetaType().AppendProto(nil, &m))
	case e.Info.Trees: // members are in the order of their names, and items have their type
		members := listMetaType().ToUnstructured(&m)
		members["continue"] = m.Continue // also if it is empty
		b.head = []byte(`{"apiVersion":"` + e.APIVersion + `","items":[`)
		b.foot = append(append([]byte(`],"kind":"`+b.kind+`","metadata":`), mustJSON(members)...), '}')
		b.encode = c.appendWhole
	default:
		b.head, b.foot = append(appendListMeta([]byte(e.JSONListHead), &m), `,"items":[`...), []byte(jsonListFoot)
	}
	return b, nil
}
