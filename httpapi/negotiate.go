package httpapi

import (
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store/meta"
)

// format is a wire format of a body.
type format = registry.Format

const (
	formatJSON     = registry.JSON
	formatYAML     = registry.YAML
	formatProtobuf = registry.Protobuf
)

// The media types of the formats, in the order in which they are offered.
const (
	typeJSON     = "application/json"
	typeYAML     = "application/yaml"
	typeProtobuf = "application/vnd.kubernetes.protobuf"
)

// mediaTypeOf returns the media type of a format.
func mediaTypeOf(f format) string {
	switch f {
	case formatYAML:
		return typeYAML
	case formatProtobuf:
		return typeProtobuf
	}
	return typeJSON
}

// streamSuffix names the form of a format that a watch is sent in.
const streamSuffix = ";stream=watch"

// mediaType is what the answer is to look like.
type mediaType struct {
	format format
	pretty bool
	stream bool
	as     meta.TypeMeta // what objects are turned into; zero: what they are
	suffix string        // what the Content-Type has behind the media type
}

// clause is one part of an Accept header.
type clause struct {
	mainType, subType string
	q                 float64
	params            map[string]string
}

// parseAccept splits an Accept header and sorts the clauses by what the client
// prefers (upstream: goautoneg).
func parseAccept(header string) []clause {
	var out []clause
	for part := range strings.SplitSeq(header, ",") {
		name, rest, _ := strings.Cut(strings.Trim(part, " "), ";")
		cl := clause{q: 1}
		var found bool
		cl.mainType, cl.subType, found = strings.Cut(name, "/")
		cl.mainType, cl.subType = strings.Trim(cl.mainType, " "), strings.Trim(cl.subType, " ")
		switch {
		case !found && cl.mainType == "*":
			cl.subType = "*"
		case !found || cl.subType == "" || strings.Contains(cl.subType, "/"):
			continue
		}
		for param := range strings.SplitSeq(rest, ";") {
			key, value, _ := strings.Cut(param, "=")
			if value == "" || strings.Contains(value, "=") {
				continue
			}
			if key = strings.Trim(key, " "); key == "q" {
				cl.q, _ = strconv.ParseFloat(value, 32)
				continue
			}
			if cl.params == nil {
				cl.params = map[string]string{}
			}
			cl.params[key] = strings.Trim(value, " ")
		}
		out = append(out, cl)
	}
	slices.SortFunc(out, func(a, b clause) int {
		if a.isBefore(b) {
			return -1
		}
		return 0
	})
	return out
}

// isBefore tells whether a client would rather have a clause than another, as
// upstream sees it. That is no order: a named type is before any type even if
// less wanted, and the other way round too. So the outcome is a matter of the
// sort, which has to be that of the standard library and not a stable one.
func (c clause) isBefore(other clause) bool {
	return c.q > other.q || c.mainType != "*" && other.mainType == "*" || c.subType != "*" && other.subType == "*"
}

// restrictions are what the clauses of an Accept header may ask for at a place
// (upstream: negotiation.EndpointRestrictions).
type restrictions int

const (
	// documentForms: what there is as it is, such as discovery and errors.
	documentForms restrictions = iota
	// objectForms: objects, which can be turned into tables and partial metadata.
	objectForms
	// textForms: the same, but objects as they are have no protobuf.
	textForms
	// aggregatedForms: nothing but the aggregated discovery document.
	aggregatedForms
)

// allow tells whether a form may be asked for.
func (r restrictions) allow(m mediaType) bool {
	asIs := m.as == meta.TypeMeta{}
	switch r {
	case objectForms:
		return asIs || canConvert(m)
	case textForms:
		return asIs && m.format != formatProtobuf || canConvert(m)
	case aggregatedForms:
		return m.as.Kind == aggregatedKind && m.as.APIVersion == aggregatedVersion
	}
	return asIs
}

// negotiate finds the first clause that can be served. Clauses that ask for what
// cannot be had are skipped.
func negotiate(header string, r restrictions) (mediaType, bool) {
	// What nearly all ask for.
	switch header {
	case "", "*/*", typeJSON:
		if m := (mediaType{}); r.allow(m) {
			return m, true
		}
	case typeProtobuf + "," + typeJSON:
		if m := (mediaType{format: formatProtobuf}); r.allow(m) {
			return m, true
		}
	}
	for _, cl := range parseAccept(header) {
		for _, f := range []format{formatJSON, formatYAML, formatProtobuf} {
			mainType, subType, _ := strings.Cut(mediaTypeOf(f), "/")
			if any := cl.mainType == "*" && cl.subType == "*"; !any && (cl.mainType != mainType || cl.subType != "*" && cl.subType != subType) {
				continue
			}
			if m, ok := accept(cl.params, f, r); ok {
				return m, true
			}
		}
	}
	return mediaType{}, false
}

// accept applies the parameters of a clause. One that cannot be met makes the
// clause be skipped.
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
			m.stream = true
		case "sv":
			if objects := r == objectForms || r == textForms; value != "" && (value != "v1" || !objects) {
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

// canConvert reports whether objects can be turned into what is asked for.
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

// prepare does the checks that come before a verb's own, in the order of a real
// server: the media type of a patch, the media types of the route, the warning
// of a deprecated version, the names in the path, the media type of the answer.
func (c *call) prepare(streams bool) error {
	header := c.req.Header.Get("Accept")
	// Custom resources are not told apart by routes.
	if c.endpoint == nil || c.endpoint.info.Native {
		if c.req.Method == http.MethodPatch && c.endpoint != nil && !isPatch(c.req) {
			return unsupportedPatch()
		}
		if !matchesRoute(header, streams) {
			return notAcceptableRoute(streams)
		}
	}
	if e := c.endpoint; e != nil {
		c.warn(e.info.Versions[e.version].Deprecated)
		if err := c.checkNames(); err != nil {
			return err
		}
	}
	return c.negotiateMedia()
}

// negotiateMedia chooses the media type of the answer.
func (c *call) negotiateMedia() error {
	m, ok := negotiate(c.req.Header.Get("Accept"), c.restrictions())
	if !ok {
		return notAcceptable(typeJSON, typeYAML, typeProtobuf)
	}
	m.pretty = m.pretty || prettyWanted(c)
	c.media = m
	return nil
}

func (c *call) restrictions() restrictions {
	switch {
	case c.endpoint == nil:
		return documentForms
	case c.endpoint.info.Unstructured:
		return textForms
	}
	return objectForms
}

// matchesRoute is the first, coarse look at Accept: whether any type that the
// route produces is named at all (upstream: go-restful).
func matchesRoute(header string, streams bool) bool {
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

// prettyWanted reports whether JSON is to be indented: as the parameter pretty
// says, else for programs that people look at.
func prettyWanted(c *call) bool {
	if strings.Contains(c.req.URL.RawQuery, "pretty") {
		if v := c.param("pretty"); v != "" {
			b, _ := strconv.ParseBool(v)
			return b
		}
	}
	agent := c.req.UserAgent()
	return strings.HasPrefix(agent, "curl") || strings.HasPrefix(agent, "Wget") || strings.HasPrefix(agent, "Mozilla/5.0")
}

// bodyFormat returns the format of a request body. None named is JSON.
func bodyFormat(r *http.Request) (format, error) {
	name := r.Header.Get("Content-Type")
	switch name {
	case "", typeJSON:
		return formatJSON, nil
	case typeProtobuf:
		return formatProtobuf, nil
	}
	if t, _, err := mime.ParseMediaType(name); err == nil {
		switch t {
		case typeJSON:
			return formatJSON, nil
		case typeYAML:
			return formatYAML, nil
		case typeProtobuf:
			return formatProtobuf, nil
		}
	}
	return 0, unsupportedMedia(typeJSON, typeYAML, typeProtobuf)
}

func notAcceptable(types ...string) error {
	return meta.NewStatusError(http.StatusNotAcceptable, meta.ReasonNotAcceptable, nil,
		"only the following media types are accepted: "+strings.Join(types, ", "))
}

func notAcceptableRoute(streams bool) error {
	types := []string{typeJSON, typeYAML, typeProtobuf}
	if streams {
		types = append(types, typeJSON+streamSuffix, typeProtobuf+streamSuffix)
	}
	return meta.NewStatusError(http.StatusNotAcceptable, meta.ReasonNotAcceptable, &meta.StatusDetails{},
		"406: Not Acceptable\n\nAvailable representations: "+strings.Join(types, ", "))
}

// bodyFormat returns the format of an object in the body.
func (c *call) bodyFormat() (format, error) {
	f, err := bodyFormat(c.req)
	if err == nil && f == formatProtobuf && c.endpoint.info.Unstructured {
		// A real server takes the type and then panics.
		err = unsupportedMedia(typeJSON, typeYAML)
	}
	return f, err
}

func unsupportedMedia(types ...string) error {
	return meta.NewStatusError(http.StatusUnsupportedMediaType, meta.ReasonUnsupportedMediaType, nil,
		"the body of the request was in an unknown format - accepted media types include: "+strings.Join(types, ", "))
}

func unsupportedPatch() error {
	return meta.NewStatusError(http.StatusUnsupportedMediaType, meta.ReasonUnsupportedMediaType, &meta.StatusDetails{},
		"415: Unsupported Media Type")
}
