package httpapi

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/kubecoord/kubecoord/internal/caller"
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
	l, err := c.endpoint.res.List(ctx, opts)
	if err != nil {
		return c.orClosed(err)
	}
	return c.writeList(l)
}

// writeList answers with a list made of the cached bytes of its items. It encodes all
// items before it writes, so that an error can still be answered.
func (c *call) writeList(l *registry.List) error {
	if c.observe != nil {
		c.observe(caller.Sight{Version: l.ResourceVersion})
	}
	if c.media.as.Kind != "" {
		data, err := c.convertList(l)
		if err == nil {
			c.writeDocument(http.StatusOK, data, c.media)
		}
		return err
	}
	format := registry.JSON
	if c.media.format == formatProtobuf {
		format = registry.Protobuf
	}
	items := make([][]byte, len(l.Items))
	size := 0
	for i, it := range l.Items {
		var err error
		if items[i], err = it.Encoded(c.endpoint.version, format); err != nil {
			return err
		}
		size += len(items[i])
	}
	if format == registry.Protobuf {
		return c.writeProtobufList(l, items, size)
	}
	if c.endpoint.info.Unstructured {
		data, err := c.listInOrder(l, items, size)
		if err == nil {
			c.writeDocument(http.StatusOK, data, c.media)
		}
		return err
	}
	m := l.Meta()
	head, err := c.api.listMeta.AppendJSON([]byte(c.endpoint.jsonListHead), &m)
	if err != nil {
		return err
	}
	head = append(head, `,"items":[`...)
	if c.media.pretty || c.media.format == formatYAML {
		whole := append(append(head, bytes.Join(items, []byte(","))...), "]}"...)
		c.writeDocument(http.StatusOK, whole, c.media)
		return nil
	}
	const foot = "]}\n"
	length := len(head) + size + max(len(items)-1, 0) + len(foot)
	h := c.Header()
	h["Content-Type"] = []string{typeJSON}
	h["Content-Length"] = []string{strconv.Itoa(length)}
	c.WriteHeader(http.StatusOK)
	w := bufio.NewWriterSize(c, min(length, listBuffer))
	w.Write(head)
	for i, item := range items {
		if i > 0 {
			w.WriteByte(',')
		}
		w.Write(item)
	}
	w.WriteString(foot)
	w.Flush()
	return nil
}

// listBuffer is the size of the writes of a list, in bytes.
const listBuffer = 32 << 10

func (c *call) writeProtobufList(l *registry.List, items [][]byte, size int) error {
	e, m := c.endpoint, l.Meta()
	raw := make([]byte, 0, size+len(items)*4+128)
	raw = protowire.AppendTag(raw, 1, protowire.BytesType)
	raw = protowire.AppendBytes(raw, c.api.listMeta.AppendProto(nil, &m))
	for _, item := range items {
		raw = protowire.AppendTag(raw, 2, protowire.BytesType)
		raw = protowire.AppendBytes(raw, item)
	}
	c.writeBytes(http.StatusOK, typeProtobuf, envelope(e.gv.String(), e.info.Kind+"List", raw))
	return nil
}

// listInOrder returns a list of unstructured objects: members are in the order of
// their names, and items have their type.
func (c *call) listInOrder(l *registry.List, items [][]byte, size int) ([]byte, error) {
	m := l.Meta()
	members := c.api.listMeta.ToUnstructured(&m)
	members["continue"] = m.Continue // also if it is empty
	metadata, err := json.Marshal(members)
	if err != nil {
		return nil, err
	}
	e := c.endpoint
	out := make([]byte, 0, size+len(items)*len(e.jsonHead)+len(e.jsonListHead)+len(metadata)+32)
	out = append(out, `{"apiVersion":"`+e.gv.String()+`","items":[`...)
	for i, item := range items {
		if i > 0 {
			out = append(out, ',')
		}
		typed, err := e.typedInOrder(item)
		if err != nil {
			return nil, err
		}
		out = append(out, typed...)
	}
	out = append(out, `],"kind":"`+e.info.Kind+`List","metadata":`...)
	return append(append(out, metadata...), '}'), nil
}
