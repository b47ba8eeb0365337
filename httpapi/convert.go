package httpapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store/meta"
)

// The kinds that objects are converted to in answers (API concepts, "Alternate
// representations of resources").
const (
	asTable       = "Table"
	asPartial     = "PartialObjectMetadata"
	asPartialList = "PartialObjectMetadataList"
)

// partial returns an object as PartialObjectMetadata.
func (c *call) partial(it *registry.Item) ([]byte, error) {
	if c.media.format == formatProtobuf {
		raw, err := partialMessage(it)
		return envelope(c.media.as.APIVersion, asPartial, raw), err
	}
	data, err := it.EncodedMetadata(registry.JSON)
	if err != nil {
		return nil, err
	}
	out := append(make([]byte, 0, len(data)+96), `{"kind":"`+asPartial+`","apiVersion":"`+c.media.as.APIVersion+`","metadata":`...)
	return append(append(out, data...), '}'), nil
}

func partialMessage(it *registry.Item) ([]byte, error) {
	data, err := it.EncodedMetadata(registry.Protobuf)
	if err != nil {
		return nil, err
	}
	return appendMessage(nil, 1, data), nil
}

// convertList returns a list in the kind that the client asks for.
func (c *call) convertList(l *registry.List) ([]byte, error) {
	switch c.media.as.Kind {
	case asTable:
		if err := c.readTableOptions(); err != nil {
			return nil, err
		}
		m := l.Meta()
		m.ShardInfo = nil
		return c.tableOf(m, l.Items)
	case asPartialList:
		return c.partialList(l)
	}
	return nil, isAList(c.endpoint)
}

func (c *call) partialList(l *registry.List) ([]byte, error) {
	m := l.Meta()
	m.ShardInfo = nil
	if c.media.format == formatProtobuf {
		return c.partialListMessage(l, m)
	}
	out := append([]byte(nil), `{"kind":"`+asPartialList+`","apiVersion":"`+c.media.as.APIVersion+`","metadata":`...)
	out, err := c.api.listMeta.AppendJSON(out, &m)
	if err != nil {
		return nil, err
	}
	out = append(out, `,"items":`...)
	if len(l.Items) == 0 {
		return append(out, "null}"...), nil
	}
	out = append(out, '[')
	for i, it := range l.Items {
		item, err := c.partial(it)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, item...)
	}
	return append(out, "]}"...), nil
}

// partialListMessage returns the protobuf form. Its field numbers depend on the
// version.
func (c *call) partialListMessage(l *registry.List, m meta.ListMeta) ([]byte, error) {
	var items []byte
	number := protowire.Number(2)
	if c.media.as.APIVersion == "meta.k8s.io/v1beta1" {
		number = 1
	}
	for _, it := range l.Items {
		item, err := partialMessage(it)
		if err != nil {
			return nil, err
		}
		items = appendMessage(items, number, item)
	}
	list := appendMessage(nil, 3-number, c.api.listMeta.AppendProto(nil, &m))
	if number == 1 {
		list, items = items, list
	}
	return envelope(c.media.as.APIVersion, asPartialList, append(list, items...)), nil
}

func appendMessage(dst []byte, number protowire.Number, message []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(dst, number, protowire.BytesType), message)
}

// isAList refuses a list to a client that wants the metadata of one object
// (upstream: apiserver, handlers/response.go, as for notAList).
func isAList(e *endpoint) error {
	goType := "unstructured.Unstructured"
	if e.info.Native {
		goType = e.target().InternalType()
	}
	return meta.NewStatusError(http.StatusNotAcceptable, meta.ReasonNotAcceptable, nil,
		fmt.Sprintf("you requested %s, but the requested object is a list (*%sList)", asPartial, goType))
}

// notAList refuses one object to a client that wants the metadata of a list. The
// Go type of custom resources passes for a list, so they fail later, without a
// reason.
func notAList(e *endpoint) error {
	if !e.info.Native {
		return errors.New("content is not a list")
	}
	return meta.NewStatusError(http.StatusNotAcceptable, meta.ReasonNotAcceptable, nil,
		fmt.Sprintf("you requested %s, but the requested object is not a list (*%s)", asPartialList, e.target().InternalType()))
}

// tableOptions say what a Table contains besides cells.
type tableOptions struct {
	include    string // Metadata, Object or None
	keepObject bool   // include metadata even if include is None
	noColumns  bool   // omit the columns: an earlier table had them
}

// columnDefinition is a column on the wire.
type columnDefinition struct {
	Name        string `json:"name"`
	Type        string `json:"type"`
	Format      string `json:"format"`
	Description string `json:"description"`
	Priority    int32  `json:"priority"`
}

// readTableOptions reads includeObject if the client asks for a Table.
func (c *call) readTableOptions() error {
	if c.media.as.Kind != asTable {
		return nil
	}
	switch v := c.param("includeObject"); v {
	case "", "Metadata":
		c.table.include = "Metadata"
	case "Object", "None":
		c.table.include = v
	default:
		return meta.NewBadRequest("Unable to convert to Table as requested: includeObject: Invalid value: %q: must be 'Metadata', 'Object', 'None', or empty", v)
	}
	return nil
}

// itemTable returns an object as a Table with one row.
func (c *call) itemTable(it *registry.Item) ([]byte, error) {
	if c.table.include == "" {
		if err := c.readTableOptions(); err != nil {
			return nil, err
		}
	}
	return c.tableOf(meta.ListMeta{ResourceVersion: it.ResourceVersion()}, []*registry.Item{it})
}

// tableOf returns items as a Table, which has no protobuf form.
func (c *call) tableOf(m meta.ListMeta, items []*registry.Item) ([]byte, error) {
	out := append([]byte(nil), `{"kind":"`+asTable+`","apiVersion":"`+c.media.as.APIVersion+`","metadata":`...)
	out, err := c.api.listMeta.AppendJSON(out, &m)
	if err != nil {
		return nil, err
	}
	out = append(out, `,"columnDefinitions":`...)
	columns, err := json.Marshal(c.columns())
	if err != nil {
		return nil, err
	}
	out = append(append(out, columns...), `,"rows":[`...)
	now := c.api.st.Now()
	for i, it := range items {
		if i > 0 {
			out = append(out, ',')
		}
		cells, err := json.Marshal(it.Cells(now))
		if err != nil {
			return nil, err
		}
		object, err := c.rowObject(it)
		if err != nil {
			return nil, err
		}
		out = append(append(out, `{"cells":`...), cells...)
		out = append(append(append(out, `,"object":`...), object...), '}')
	}
	return append(out, "]}"...), nil
}

func (c *call) columns() []columnDefinition {
	if c.table.noColumns {
		return nil
	}
	out := []columnDefinition{}
	for _, col := range c.endpoint.info.Columns {
		out = append(out, columnDefinition{col.Name, col.Type, col.Format, col.Description, col.Priority})
	}
	return out
}

func (c *call) rowObject(it *registry.Item) ([]byte, error) {
	switch {
	case c.table.include == "Object":
		return c.encodeWhole(it)
	case c.table.include == "None" && !c.table.keepObject:
		return []byte("null"), nil
	}
	return c.partial(it)
}
