package httpapi

import (
	"bytes"
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/kubecoord/kubecoord/internal/caller"
	"github.com/kubecoord/kubecoord/internal/codec"
	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/internal/yaml"
	"github.com/kubecoord/kubecoord/store/meta"
)

// listMetaType is compiled once per process.
var listMetaType = sync.OnceValue(func() *codec.Type { return codec.MustCompile(reflect.TypeFor[meta.ListMeta](), "v1") })

// fail answers with the Status of an error. It negotiates again, because the negotiation may have
// failed; without a match it sends indented JSON.
func (c *call) fail(err error) {
	if c.timedOut() {
		c.failTimedOut()
		return
	}
	if err == errTooManyRequests {
		c.tooManyRequests()
		return
	}
	s := *meta.StatusOf(err)
	m, ok := negotiate(c.header("Accept"), documentForms)
	m.pretty = !ok || m.pretty || prettyWanted(c)
	if s.Details != nil && s.Details.RetryAfterSeconds > 0 {
		c.setHeader("Retry-After", strconv.Itoa(int(s.Details.RetryAfterSeconds)))
	}
	c.writeStatus(int(s.Code), &s, m)
}

// writeStatus answers with a Status.
func (c *call) writeStatus(code int, s *meta.Status, m mediaType) {
	b := c.buffers()
	b.answer = appendStatus(b.answer[:0], s, m.format)
	c.writeDocument(code, b.answer, m)
}

// appendStatus appends a Status with its type.
func appendStatus(dst []byte, s *meta.Status, f format) []byte {
	s.TypeMeta = meta.TypeMeta{Kind: "Status", APIVersion: "v1"}
	if f == formatProtobuf {
		return codec.AppendEnvelope(dst, s.APIVersion, s.Kind, kinds.StatusType().AppendProto(nil, s))
	}
	dst, _ = kinds.StatusType().AppendJSON(dst, s) // it has only strings and numbers
	return dst
}

// appendListMeta appends the metadata of a list as JSON.
func appendListMeta(dst []byte, m *meta.ListMeta) []byte {
	dst, _ = listMetaType().AppendJSON(dst, m) // it has only strings and numbers
	return dst
}

// mustJSON returns a document of a type of this package as JSON.
func mustJSON(doc any) []byte {
	data, err := json.Marshal(doc)
	if err != nil {
		panic(err)
	}
	return data
}

func (c *call) writeBytes(code int, contentType string, data []byte) {
	h := c.Header()
	c.values[2], c.values[3] = contentType, strconv.Itoa(len(data))
	h["Content-Type"], h["Content-Length"] = c.values[2:3:3], c.values[3:]
	c.WriteHeader(code)
	c.Write(data)
}

// escaped makes a text with parts of the request harmless for browsers (upstream: apiserver,
// endpoints/handlers/responsewriters/errors.go).
func escaped(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text)
}

// writeItem answers with an object.
func (c *call) writeItem(code int, it *registry.Item) error {
	b := c.buffers()
	data, err := c.appendItem(b.answer[:0], it)
	if err != nil {
		return err
	}
	b.answer = data
	c.reportItem(it)
	c.writeDocument(code, data, c.media)
	return nil
}

// reportItem passes a state of an object to the observer of the request, if there is one.
func (c *call) reportItem(it *registry.Item) {
	if c.observe != nil {
		version, _ := strconv.ParseUint(it.ResourceVersion(), 10, 64)
		c.observe(caller.Sight{Namespace: it.Namespace(), Name: it.Name(), Version: version})
	}
}

// writeDocument answers with a document: a protobuf envelope, or JSON, which it converts to YAML if that
// is the format. Indented JSON has no newline at its end, compact JSON has one.
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
		if m.pretty {
			data = indented(data)
		} else {
			data = append(data, '\n')
		}
	}
	c.writeBytes(code, mediaTypeOf(m.format)+m.suffix, data)
}

// indented returns a JSON document for people. A document that is not JSON gets a newline.
func indented(data []byte) []byte {
	text, err := appendIndented(nil, data, "")
	if err != nil {
		return append(data, '\n')
	}
	return text
}

// appendIndented appends a JSON document with a line for each member and item. prefix comes before each
// line but the first. A document that is nested too deep stays as it is.
func appendIndented(dst, data []byte, prefix string) ([]byte, error) {
	if yaml.IsDeep(data) {
		return append(dst, data...), nil
	}
	buf := bytes.NewBuffer(dst)
	err := json.Indent(buf, data, prefix, "  ")
	return buf.Bytes(), err
}

// appendItem appends an object in the negotiated form.
func (c *call) appendItem(dst []byte, it *registry.Item) ([]byte, error) {
	switch c.media.as.Kind {
	case asTable:
		return c.appendItemTable(dst, it)
	case asPartial:
		return c.appendPartial(dst, it)
	case asPartialList:
		return dst, c.notAList()
	}
	return c.appendWhole(dst, it)
}

// appendWhole appends an object without conversion, made of its cached bytes.
func (c *call) appendWhole(dst []byte, it *registry.Item) ([]byte, error) {
	e := c.endpoint
	if c.media.format == formatProtobuf {
		raw, err := it.Encoded(e.Version, kinds.Protobuf)
		return codec.AppendEnvelope(dst, e.APIVersion, e.Info.Kind, raw), err
	}
	if e.Info.Trees {
		raw, err := it.Encoded(e.Version, kinds.JSON)
		if err != nil {
			return nil, err
		}
		data, err := e.typedInOrder(raw)
		return append(dst, data...), err
	}
	dst = append(dst, e.JSONHead...)
	at := len(dst) - 1 // of the comma, in whose place the object begins; it has metadata
	dst, err := it.AppendJSON(dst[:at], e.Version)
	if err != nil {
		return nil, err
	}
	dst[at] = ','
	return dst, nil
}

// appendTyped appends a JSON object with head, which ends in a comma, before its members.
func appendTyped(dst []byte, head string, object []byte) []byte {
	if len(object) == 2 {
		head = strings.TrimSuffix(head, ",")
	}
	return append(append(dst, head...), object[1:]...)
}

// typedInOrder adds apiVersion and kind to an unstructured object, whose members are in the order of
// their names (upstream: apimachinery, meta/v1/unstructured).
func (e *endpoint) typedInOrder(object []byte) ([]byte, error) {
	if bytes.HasPrefix(object, []byte(`{"metadata":`)) {
		return appendTyped(make([]byte, 0, len(e.JSONHead)+len(object)), e.JSONHead, object), nil
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(object, &members); err != nil {
		return nil, err
	}
	members["apiVersion"] = json.RawMessage(`"` + e.APIVersion + `"`)
	members["kind"] = json.RawMessage(`"` + e.Info.Kind + `"`)
	return json.Marshal(members)
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

// Limits of the Warning headers of one answer, in characters (upstream: apiserver,
// endpoints/filters/warning.go).
const (
	warningsTotal = 4096
	warningCut    = 256
)

// warnings collects the Warning headers of one answer. Each text is sent once. All are truncated when
// their total exceeds warningsTotal.
type warnings struct {
	texts   []string
	written int
	cutting bool
}

func (ws *warnings) add(h http.Header, text string) {
	if text == "" || ws.cutting && ws.written >= warningsTotal || slices.Contains(ws.texts, text) {
		return
	}
	ws.texts = append(ws.texts, text)
	if ws.cutting || ws.written+utf8.RuneCountInString(text) <= warningsTotal {
		ws.write(h, text)
		return
	}
	ws.cutting, ws.written = true, 0
	h.Del("Warning")
	for _, t := range ws.texts {
		ws.write(h, t)
	}
}

func (ws *warnings) write(h http.Header, text string) {
	if ws.cutting {
		text = cut(text, warningCut)
	}
	// A text that is not allowed in a header is dropped.
	if !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
		return
	}
	ws.written += utf8.RuneCountInString(text)
	if strings.ContainsAny(text, `\"`) {
		text = strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text)
	}
	h.Add("Warning", `299 - "`+text+`"`)
}

// cut returns the first n characters of s.
func cut(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
