package httpapi

import (
	"bytes"
	"encoding/json"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"github.com/kubecoord/kubecoord/internal/codec"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/internal/yaml"
	"github.com/kubecoord/kubecoord/store/meta"
)

// The types that every API answers with, compiled once in a process.
var (
	statusType   = sync.OnceValue(func() *codec.Type { return codec.Compile(reflect.TypeFor[meta.Status](), "v1") })
	listMetaType = sync.OnceValue(func() *codec.Type { return codec.Compile(reflect.TypeFor[meta.ListMeta](), "v1") })
)

// fail answers with the Status of an error. It has a negotiation of its own,
// since the one of the request may be what failed; where that finds nothing
// the answer is JSON for people.
func (c *call) fail(err error) {
	s := *meta.StatusOf(err)
	m, ok := negotiate(c.req.Header.Get("Accept"), documentForms)
	m.pretty = !ok || m.pretty || prettyWanted(c)
	if s.Details != nil && s.Details.RetryAfterSeconds > 0 {
		c.Header().Set("Retry-After", strconv.Itoa(int(s.Details.RetryAfterSeconds)))
	}
	c.writeStatus(int(s.Code), &s, m)
}

// writeStatus answers with a Status.
func (c *call) writeStatus(code int, s *meta.Status, m mediaType) {
	c.writeDocument(code, c.encodeStatus(s, m.format), m)
}

// encodeStatus returns a Status with its type.
func (c *call) encodeStatus(s *meta.Status, f format) []byte {
	s.TypeMeta = meta.TypeMeta{Kind: "Status", APIVersion: "v1"}
	if f == formatProtobuf {
		return envelope(s.APIVersion, s.Kind, c.api.status.AppendProto(nil, s))
	}
	data, err := c.api.status.AppendJSON(nil, s)
	if err != nil {
		return []byte(`{}`) // a Status holds nothing that could fail
	}
	return data
}

func (c *call) writeBytes(code int, contentType string, data []byte) {
	h := c.Header()
	h["Content-Type"] = []string{contentType}
	h["Content-Length"] = []string{strconv.Itoa(len(data))}
	c.WriteHeader(code)
	c.Write(data) // a client that went away is no concern of ours
}

// writeItem answers with an object.
func (c *call) writeItem(code int, it *registry.Item) error {
	data, err := c.encodeItem(it)
	if err != nil {
		return err
	}
	c.writeDocument(code, data, c.media)
	return nil
}

// writeDocument answers with an encoded document: a protobuf envelope where
// that is the format, and JSON, which may be sent as YAML, where it is not.
// JSON is indented without a newline at the end, or compact with one.
func (c *call) writeDocument(code int, data []byte, m mediaType) {
	switch m.format {
	case formatYAML:
		if text, err := yaml.FromJSON(data); err == nil {
			data = text
			break
		}
		m.format = formatJSON
		fallthrough
	case formatJSON:
		var b bytes.Buffer
		if m.pretty && json.Indent(&b, data, "", "  ") == nil {
			data = b.Bytes()
		} else {
			data = append(data, '\n')
		}
	}
	c.writeBytes(code, mediaTypeOf(m.format)+m.suffix, data)
}

// encodeItem returns an object with its type, as what and in which format the
// client wants it.
func (c *call) encodeItem(it *registry.Item) ([]byte, error) {
	switch c.media.as.Kind {
	case asTable:
		return c.itemTable(it)
	case asPartial:
		return c.partial(it)
	case asPartialList:
		return nil, notAList(c.endpoint)
	}
	return c.encodeWhole(it)
}

// encodeWhole returns an object as it is, out of the bytes that are remembered
// beside it.
func (c *call) encodeWhole(it *registry.Item) ([]byte, error) {
	e := c.endpoint
	if c.media.format == formatProtobuf {
		raw, err := it.Encoded(e.version, registry.Protobuf)
		if err != nil {
			return nil, err
		}
		return envelope(e.gv.String(), e.info.Kind, raw), nil
	}
	raw, err := it.Encoded(e.version, registry.JSON)
	if err != nil {
		return nil, err
	}
	if e.info.Unstructured {
		return e.typedInOrder(raw)
	}
	return appendTyped(make([]byte, 0, len(e.jsonHead)+len(raw)+1), e.jsonHead, raw), nil
}

func envelope(apiVersion, kind string, raw []byte) []byte {
	return codec.AppendEnvelope(make([]byte, 0, len(raw)+len(apiVersion)+len(kind)+32), apiVersion, kind, raw)
}

// appendTyped puts kind and apiVersion, which head ends in a comma after, in
// front of the members of a JSON object.
func appendTyped(dst []byte, head string, object []byte) []byte {
	if len(object) == 2 {
		head = strings.TrimSuffix(head, ",")
	}
	return append(append(dst, head...), object[1:]...)
}

// The errors of paths and methods.

func notFound() error {
	return meta.NewStatusError(http.StatusNotFound, meta.ReasonNotFound, &meta.StatusDetails{},
		"the server could not find the requested resource")
}

func methodNotAllowed() error {
	return meta.NewStatusError(http.StatusMethodNotAllowed, meta.ReasonMethodNotAllowed, &meta.StatusDetails{},
		"the server does not allow this method on the requested resource")
}
