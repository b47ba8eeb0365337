package httpapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/kubecoord/kubecoord/internal/codec"
	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// The kinds that objects are converted to (API concepts, "Alternate representations of resources").
const (
	asTable       = "Table"
	asPartial     = "PartialObjectMetadata"
	asPartialList = "PartialObjectMetadataList"
)

func (c *call) appendPartial(dst []byte, it *registry.Item) ([]byte, error) {
	if c.media.format == formatProtobuf {
		data, err := appendPartialMessage(nil, it)
		return codec.AppendEnvelope(dst, c.media.as.APIVersion, asPartial, data), err
	}
	data, err := it.AppendMetadata(c.appendConvertedHead(dst, asPartial), kinds.JSON)
	return append(data, '}'), err
}

// appendPartialMessage appends a PartialObjectMetadata in protobuf, without its type.
func appendPartialMessage(dst []byte, it *registry.Item) ([]byte, error) {
	data, err := it.AppendMetadata(dst, kinds.Protobuf)
	var room [16]byte
	head := protowire.AppendTag(room[:0], 1, protowire.BytesType)
	return slices.Insert(data, len(dst), protowire.AppendVarint(head, uint64(len(data)-len(dst)))...), err
}

// appendConvertedHead appends the beginning of a converted document in JSON, up to its metadata.
func (c *call) appendConvertedHead(dst []byte, kind string) []byte {
	return append(dst, `{"kind":"`+kind+`","apiVersion":"`+c.media.as.APIVersion+`","metadata":`...)
}

func (c *call) partialList(m meta.ListMeta, items []*registry.Item) *listBody {
	b := &listBody{apiVersion: c.media.as.APIVersion, kind: asPartialList, items: items}
	if c.media.format == formatProtobuf {
		b.encode = appendPartialMessage
		// The field numbers depend on the version.
		if m := listMetaType().AppendProto(nil, &m); b.apiVersion == "meta.k8s.io/v1beta1" {
			b.number, b.foot = 1, appendMessage(nil, 2, m)
		} else {
			b.number, b.head = 2, appendMessage(nil, 1, m)
		}
		return b
	}
	b.encode, b.separator = c.appendPartial, ","
	b.head = appendListMeta(c.appendConvertedHead(nil, asPartialList), &m)
	if len(items) == 0 {
		b.foot = []byte(`,"items":null}`)
		return b
	}
	b.head, b.foot = append(b.head, `,"items":[`...), []byte("]}")
	return b
}

func appendMessage(dst []byte, number protowire.Number, message []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(dst, number, protowire.BytesType), message)
}

// isAList refuses a list to a client that wants the metadata of one object (upstream: apiserver,
// handlers/response.go, as for notAList).
func isAList(e *endpoint) error {
	goType := "unstructured.Unstructured"
	if e.Info.Native {
		goType = e.InternalType()
	}
	return meta.NewStatusError(http.StatusNotAcceptable, meta.ReasonNotAcceptable, nil,
		fmt.Sprintf("you requested %s, but the requested object is a list (*%sList)", asPartial, goType))
}

// notAList refuses one object to a client that wants the metadata of a list. The Go type of custom
// resources passes for a list, so they fail later, without a reason.
func (c *call) notAList() error {
	goType := c.endpoint.InternalType()
	switch {
	case !c.endpoint.Info.Native:
		return errors.New("content is not a list")
	case c.customBody():
		goType = c.endpoint.WireType()
	}
	return meta.NewStatusError(http.StatusNotAcceptable, meta.ReasonNotAcceptable, nil,
		fmt.Sprintf("you requested %s, but the requested object is not a list (*%s)", asPartialList, goType))
}

// tableOptions are the parts of a Table besides cells.
type tableOptions struct {
	include    string    // Metadata, Object or None
	now        time.Time // of the cells
	keepObject bool      // include metadata even if include is None
	noColumns  bool      // omit the columns: an earlier table had them
	marked     *registry.Item
}

// readTableOptions reads includeObject if the client asks for a Table.
func (c *call) readTableOptions() error {
	if c.media.as.Kind != asTable {
		return nil
	}
	switch v := c.param("includeObject"); v {
	case "", "Metadata":
		c.table = &tableOptions{include: "Metadata"}
	case "Object", "None":
		c.table = &tableOptions{include: v}
	default:
		return meta.NewBadRequest("Unable to convert to Table as requested: includeObject: Invalid value: %q: must be 'Metadata', 'Object', 'None', or empty", v)
	}
	return nil
}

func (c *call) appendItemTable(dst []byte, it *registry.Item) ([]byte, error) {
	if c.table == nil {
		if err := c.readTableOptions(); err != nil {
			return dst, err
		}
	}
	b := c.tableOf(meta.ListMeta{ResourceVersion: it.ResourceVersion()}, []*registry.Item{it})
	dst, err := b.append(append(dst, b.head...), 0)
	return append(dst, b.foot...), err
}

// tableOf returns items as a Table, which has no protobuf form.
func (c *call) tableOf(m meta.ListMeta, items []*registry.Item) *listBody {
	var columns []kind.Column[kinds.Object]
	if !c.table.noColumns {
		columns = append([]kind.Column[kinds.Object]{}, c.endpoint.Kind.Columns(c.endpoint.Version)...) // not null
	}
	head := appendListMeta(c.appendConvertedHead(nil, asTable), &m)
	head = append(append(append(head, `,"columnDefinitions":`...), mustJSON(columns)...), `,"rows":`...)
	if len(items) == 0 && c.endpoint.Kind.NullRows() {
		return &listBody{head: head, foot: []byte("null}")}
	}
	c.table.now = c.api.st.Now()
	return &listBody{head: append(head, '['), separator: ",", foot: []byte("]}"), items: items, encode: c.appendRow}
}

func (c *call) appendRow(dst []byte, it *registry.Item) ([]byte, error) {
	cells, err := it.Cells(c.context(), c.endpoint.Version, c.table.now)
	if err != nil {
		return dst, err
	}
	if it == c.table.marked {
		cells[0] = fmt.Sprint(cells[0], " (default)")
	}
	if dst, err = appendCells(append(dst, `{"cells":`...), cells); err != nil {
		return dst, err
	}
	if conditions := it.RowConditions(); len(conditions) > 0 {
		text, err := json.Marshal(conditions)
		if err != nil {
			return dst, err
		}
		dst = append(append(dst, `,"conditions":`...), text...)
	}
	dst = append(dst, `,"object":`...)
	switch {
	case c.table.include == "Object":
		dst, err = c.appendWhole(dst, it)
	case c.table.include == "None" && !c.table.keepObject:
		dst = append(dst, "null"...)
	default:
		dst, err = c.appendPartial(dst, it)
	}
	return append(dst, '}'), err
}

// appendCells appends the cells of a row as JSON.
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
