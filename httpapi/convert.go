package httpapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/kubecoord/kubecoord/internal/codec"
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
		return codec.AppendEnvelope(nil, c.media.as.APIVersion, asPartial, raw), err
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
func (c *call) convertList(l *registry.List) (*listBody, error) {
	m := l.Meta()
	m.ShardInfo = nil
	switch c.media.as.Kind {
	case asTable:
		if err := c.readTableOptions(); err != nil {
			return nil, err
		}
		return c.tableOf(m, l.Items)
	case asPartialList:
		if c.media.format == formatProtobuf {
			return c.partialListMessage(m, l.Items)
		}
		return c.partialList(m, l.Items)
	}
	return nil, isAList(c.endpoint)
}

func (c *call) partialList(m meta.ListMeta, items []*registry.Item) (*listBody, error) {
	head, err := c.api.listMeta.AppendJSON([]byte(`{"kind":"`+asPartialList+`","apiVersion":"`+c.media.as.APIVersion+`","metadata":`), &m)
	if err != nil {
		return nil, err
	}
	if len(items) == 0 {
		return &listBody{head: append(head, `,"items":null`...), foot: []byte("}")}, nil
	}
	return &listBody{
		head: append(head, `,"items":[`...), separator: ",", foot: []byte("]}"), n: len(items), size: unknownSize,
		item: func(dst []byte, i int) ([]byte, error) {
			item, err := c.partial(items[i])
			return append(dst, item...), err
		},
	}, nil
}

// partialListMessage returns the protobuf form. Its field numbers depend on the
// version.
func (c *call) partialListMessage(m meta.ListMeta, items []*registry.Item) (*listBody, error) {
	number := protowire.Number(2)
	if c.media.as.APIVersion == "meta.k8s.io/v1beta1" {
		number = 1
	}
	b := &listBody{n: len(items), item: func(dst []byte, i int) ([]byte, error) {
		item, err := partialMessage(items[i])
		return appendMessage(dst, number, item), err
	}}
	// The size of the message comes before the message. So the items are encoded twice,
	// except if all of them together are small enough to be kept.
	const keptBytes = 256 << 10
	var buf []byte
	keep := true
	for i := range items {
		var err error
		if i%checkEvery == checkEvery-1 {
			err = c.req.Context().Err()
		}
		if keep = keep && len(buf) < keptBytes; !keep {
			buf = buf[:0]
		}
		b.size -= len(buf)
		if err == nil {
			buf, err = b.item(buf, i)
		}
		if err != nil {
			return nil, err
		}
		b.size += len(buf)
	}
	list := appendMessage(nil, 3-number, c.api.listMeta.AppendProto(nil, &m))
	if number == 1 {
		b.foot = list
	} else {
		b.head = list
	}
	b.inEnvelope(c.media.as.APIVersion, asPartialList)
	if keep {
		b.joined = append(buf, b.foot...)
	}
	return b, nil
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
	b, err := c.tableOf(meta.ListMeta{ResourceVersion: it.ResourceVersion()}, []*registry.Item{it})
	if err != nil {
		return nil, err
	}
	data, err := b.appendItems(b.head)
	return append(data, b.foot...), err
}

// tableOf returns items as a Table, which has no protobuf form.
func (c *call) tableOf(m meta.ListMeta, items []*registry.Item) (*listBody, error) {
	head, err := c.api.listMeta.AppendJSON([]byte(`{"kind":"`+asTable+`","apiVersion":"`+c.media.as.APIVersion+`","metadata":`), &m)
	if err != nil {
		return nil, err
	}
	columns, err := json.Marshal(c.columns())
	if err != nil {
		return nil, err
	}
	head = append(append(append(head, `,"columnDefinitions":`...), columns...), `,"rows":[`...)
	now := c.api.st.Now()
	return &listBody{
		head: head, separator: ",", foot: []byte("]}"), n: len(items), size: unknownSize,
		item: func(dst []byte, i int) ([]byte, error) {
			cells, err := json.Marshal(items[i].Cells(now))
			if err != nil {
				return dst, err
			}
			object, err := c.rowObject(items[i])
			if err != nil {
				return dst, err
			}
			dst = append(append(dst, `{"cells":`...), cells...)
			return append(append(append(dst, `,"object":`...), object...), '}'), nil
		},
	}, nil
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
		return c.appendWhole(nil, it)
	case c.table.include == "None" && !c.table.keepObject:
		return []byte("null"), nil
	}
	return c.partial(it)
}
