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

// appendPartial appends an object as PartialObjectMetadata.
func (c *call) appendPartial(dst []byte, it *registry.Item) ([]byte, error) {
	if c.media.format == formatProtobuf {
		data, err := it.EncodedMetadata(registry.Protobuf)
		return codec.AppendEnvelope(dst, c.media.as.APIVersion, asPartial, appendMessage(nil, 1, data)), err
	}
	data, err := it.EncodedMetadata(registry.JSON)
	return append(append(c.appendConvertedHead(dst, asPartial), data...), '}'), err
}

// appendConvertedHead appends the beginning of a document of another kind in JSON, up to its metadata.
func (c *call) appendConvertedHead(dst []byte, kind string) []byte {
	return append(dst, `{"kind":"`+kind+`","apiVersion":"`+c.media.as.APIVersion+`","metadata":`...)
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
		return c.tableOf(m, l.Items), nil
	case asPartialList:
		if c.media.format == formatProtobuf {
			return c.partialListMessage(m, l.Items)
		}
		return c.partialList(m, l.Items), nil
	}
	return nil, isAList(c.endpoint)
}

func (c *call) partialList(m meta.ListMeta, items []*registry.Item) *listBody {
	head := appendListMeta(c.appendConvertedHead(nil, asPartialList), &m)
	if len(items) == 0 {
		return &listBody{head: append(head, `,"items":null`...), foot: []byte("}")}
	}
	return &listBody{
		head: append(head, `,"items":[`...), separator: ",", foot: []byte("]}"), n: len(items), size: unknownSize,
		item: func(dst []byte, i int) ([]byte, error) { return c.appendPartial(dst, items[i]) },
	}
}

// partialListMessage returns the protobuf form. Its field numbers depend on the
// version.
func (c *call) partialListMessage(m meta.ListMeta, items []*registry.Item) (*listBody, error) {
	number := protowire.Number(2)
	if c.media.as.APIVersion == "meta.k8s.io/v1beta1" {
		number = 1
	}
	b := &listBody{n: len(items), item: func(dst []byte, i int) ([]byte, error) {
		metadata, err := items[i].EncodedMetadata(registry.Protobuf)
		return appendMessage(dst, number, appendMessage(nil, 1, metadata)), err
	}}
	// The size of the message comes before the message. So the items are encoded twice,
	// except for the first ones, which are kept.
	const keptBytes = 256 << 10
	var kept, buf []byte
	for i := range items {
		if i%checkEvery == checkEvery-1 && c.req.Context().Err() != nil {
			return nil, c.req.Context().Err()
		}
		var err error
		if buf, err = b.item(buf[:0], i); err != nil {
			return nil, err
		}
		if b.size += len(buf); b.size <= keptBytes {
			kept = append(kept, buf...)
		}
	}
	list := appendMessage(nil, 3-number, listMetaType().AppendProto(nil, &m))
	if number == 1 {
		b.foot = list
	} else {
		b.head = list
	}
	b.inEnvelope(c.media.as.APIVersion, asPartialList)
	if len(kept) == b.size {
		b.joined = append(kept, b.foot...)
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

// appendItemTable appends an object as a Table with one row.
func (c *call) appendItemTable(dst []byte, it *registry.Item) ([]byte, error) {
	if c.table.include == "" {
		if err := c.readTableOptions(); err != nil {
			return dst, err
		}
	}
	b := c.tableOf(meta.ListMeta{ResourceVersion: it.ResourceVersion()}, []*registry.Item{it})
	dst, err := b.appendItems(append(dst, b.head...))
	return append(dst, b.foot...), err
}

// tableOf returns items as a Table, which has no protobuf form.
func (c *call) tableOf(m meta.ListMeta, items []*registry.Item) *listBody {
	head := appendListMeta(c.appendConvertedHead(nil, asTable), &m)
	head = append(append(append(head, `,"columnDefinitions":`...), mustJSON(c.columns())...), `,"rows":[`...)
	now := c.api.st.Now()
	return &listBody{
		head: head, separator: ",", foot: []byte("]}"), n: len(items), size: unknownSize,
		item: func(dst []byte, i int) ([]byte, error) {
			dst, err := appendCells(append(dst, `{"cells":`...), items[i].Cells(now))
			if err != nil {
				return dst, err
			}
			dst, err = c.appendRowObject(append(dst, `,"object":`...), items[i])
			return append(dst, '}'), err
		},
	}
}

func appendCells(dst []byte, cells []any) ([]byte, error) {
	dst = append(dst, '[')
	for i, cell := range cells {
		if i > 0 {
			dst = append(dst, ',')
		}
		if s, ok := cell.(string); ok {
			dst = codec.AppendString(dst, s)
			continue
		}
		text, err := json.Marshal(cell)
		if err != nil {
			return dst, err
		}
		dst = append(dst, text...)
	}
	return append(dst, ']'), nil
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

func (c *call) appendRowObject(dst []byte, it *registry.Item) ([]byte, error) {
	switch {
	case c.table.include == "Object":
		return c.appendWhole(dst, it)
	case c.table.include == "None" && !c.table.keepObject:
		return append(dst, "null"...), nil
	}
	return c.appendPartial(dst, it)
}
