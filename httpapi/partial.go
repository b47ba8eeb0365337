package httpapi

import (
	"errors"
	"fmt"
	"net/http"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store/meta"
)

// What objects can be turned into on the way out (API concepts, "Alternate
// representations of resources").
const (
	asTable       = "Table"
	asPartial     = "PartialObjectMetadata"
	asPartialList = "PartialObjectMetadataList"
)

// partial returns an object's metadata alone, with a type of its own.
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

// convertList returns a list as what the client wants it.
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
	out, err := c.api.lists.AppendJSON(out, &m)
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

// partialListMessage is the protobuf form, whose field numbers changed between
// the versions.
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
	list := appendMessage(nil, 3-number, c.api.lists.AppendProto(nil, &m))
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
