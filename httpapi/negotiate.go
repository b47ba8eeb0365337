package httpapi

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/munnerz/goautoneg"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/store/meta"
)

// format is a wire format of a body.
type format = kinds.Format

const (
	formatJSON     = kinds.JSON
	formatYAML     = kinds.YAML
	formatProtobuf = kinds.Protobuf
)

// The media types of the formats, in the order in which they are offered.
const (
	typeJSON     = "application/json"
	typeYAML     = "application/yaml"
	typeProtobuf = "application/vnd.kubernetes.protobuf"
)

func mediaTypeOf(f format) string {
	return [...]string{formatJSON: typeJSON, formatYAML: typeYAML, formatProtobuf: typeProtobuf}[f]
}

// streamSuffix marks the media type of a watch.
const streamSuffix = ";stream=watch"

// mediaType is the negotiated form of the answer.
type mediaType struct {
	format format
	pretty bool
	as     meta.TypeMeta // the type that objects are converted to; zero: none
	suffix string        // parameters for the Content-Type
}

// restrictions are the forms of answers of an endpoint (upstream: negotiation.EndpointRestrictions).
type restrictions int

const (
	// documentForms: documents such as discovery and errors, not converted.
	documentForms restrictions = iota
	// objectForms: objects, also converted to tables and partial metadata.
	objectForms
	// rowlessForms: like objectForms, but objects have no rows in a table.
	rowlessForms
	// textForms: like objectForms, but objects have no protobuf form unless converted.
	textForms
	// aggregatedForms: only the aggregated discovery document.
	aggregatedForms
)

// allow reports whether a form is available.
func (r restrictions) allow(m mediaType) bool {
	asIs := m.as == meta.TypeMeta{}
	switch r {
	case objectForms:
		return asIs || canConvert(m)
	case rowlessForms:
		return asIs || m.as.Kind != asTable && canConvert(m)
	case textForms:
		return asIs && m.format != formatProtobuf || canConvert(m)
	case aggregatedForms:
		return m.as.Kind == aggregatedKind && m.as.APIVersion == aggregatedVersion
	}
	return asIs
}

// negotiate returns the form for the first clause of an Accept header that is available.
func negotiate(header string, r restrictions) (mediaType, bool) {
	// The headers of nearly all clients.
	switch header {
	case "", "*/*", typeJSON, typeJSON + ", */*":
		if m := (mediaType{}); r.allow(m) {
			return m, true
		}
	case typeProtobuf + "," + typeJSON:
		if m := (mediaType{format: formatProtobuf}); r.allow(m) {
			return m, true
		}
	}
	for _, cl := range goautoneg.ParseAccept(header) {
		for _, f := range []format{formatJSON, formatYAML, formatProtobuf} {
			switch cl.Type + "/" + cl.SubType {
			case mediaTypeOf(f), "application/*", "*/*":
				if m, ok := accept(cl.Params, f, r); ok {
					return m, true
				}
			}
		}
	}
	return mediaType{}, false
}

// accept applies the parameters of a clause. It reports whether the form is available.
func accept(params map[string]string, f format, r restrictions) (mediaType, bool) {
	m := mediaType{format: f}
	group := ""
	for key, value := range params {
		switch key {
		case "as":
			m.as.Kind = value
		case "g":
			group = value
		case "v":
			m.as.APIVersion = value
		case "stream":
			if value != "watch" || f == formatYAML {
				return m, false
			}
		case "sv":
			if objects := r != documentForms && r != aggregatedForms; value != "" && (value != "v1" || !objects) {
				return m, false
			}
		case "pretty":
			m.pretty = value == "1"
		}
	}
	if m.as != (meta.TypeMeta{}) || group != "" {
		m.as.APIVersion = group + "/" + m.as.APIVersion
	}
	return m, r.allow(m)
}

// canConvert reports whether objects can be converted to m.
func canConvert(m mediaType) bool {
	if m.as.APIVersion != "meta.k8s.io/v1" && m.as.APIVersion != "meta.k8s.io/v1beta1" {
		return false
	}
	switch m.as.Kind {
	case asTable:
		return m.format != formatProtobuf
	case asPartial, asPartialList:
		return true
	}
	return false
}

func (c *call) negotiateMedia() error {
	m, ok := negotiate(c.header("Accept"), c.restrictions())
	if !ok {
		return notAcceptable(typeJSON, typeYAML, typeProtobuf)
	}
	m.pretty = m.pretty || prettyWanted(c)
	c.media = m
	return nil
}

// customBody reports whether the request is for a subresource of a custom resource that has a kind of its own, such as the scale.
func (c *call) customBody() bool {
	return c.sub != nil && c.sub.Body != nil && !c.resource.Info().Native
}

func (c *call) restrictions() restrictions {
	switch {
	case c.endpoint == nil:
		return documentForms
	case c.endpoint.Kind.JSONOnly() || c.customBody():
		return textForms
	case c.endpoint.Info.Native && !c.endpoint.Info.Stored() && !c.endpoint.Info.Serves("get"):
		return rowlessForms
	case !c.endpoint.Kind.HasTable(c.sub):
		return rowlessForms
	}
	return objectForms
}

// matchesRoute reports whether an Accept header names any media type of a route (upstream: go-restful).
func matchesRoute(header string) bool {
	if header == "" {
		return true
	}
	for part := range strings.SplitSeq(header, ",") {
		name, _, _ := strings.Cut(part, ";")
		switch strings.Trim(name, " ") {
		case "*/*", typeJSON, typeYAML, typeProtobuf:
			return true
		}
	}
	return false
}

// prettyWanted reports whether JSON is indented: by the parameter pretty, or else for browsers and
// command line tools.
func prettyWanted(c *call) bool {
	if v := c.param("pretty"); v != "" {
		b, _ := strconv.ParseBool(v)
		return b
	}
	agent := c.header("User-Agent")
	return strings.HasPrefix(agent, "curl") || strings.HasPrefix(agent, "Wget") || strings.HasPrefix(agent, "Mozilla/5.0")
}

func notAcceptable(types ...string) error {
	return meta.NewStatusError(http.StatusNotAcceptable, meta.ReasonNotAcceptable, nil,
		"only the following media types are accepted: "+strings.Join(types, ", "))
}

func notAcceptableRoute(types ...string) error {
	return meta.NewStatusError(http.StatusNotAcceptable, meta.ReasonNotAcceptable, &meta.StatusDetails{},
		"406: Not Acceptable\n\nAvailable representations: "+strings.Join(types, ", "))
}

func unsupportedPatch() error {
	return meta.NewStatusError(http.StatusUnsupportedMediaType, meta.ReasonUnsupportedMediaType, &meta.StatusDetails{},
		"415: Unsupported Media Type")
}
