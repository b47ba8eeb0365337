package apitest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/internal/codec"
	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/yaml"
)

// Requests returns the last requests that the server received, also requests in progress; see Options.KeepRequests.
func (a *API) Requests() Requests {
	a.mu.Lock()
	defer a.mu.Unlock()
	out := make(Requests, len(a.log))
	for i, r := range a.log {
		out[i] = a.copyLocked(r)
	}
	return out
}

func (a *API) copyLocked(r *Request) Request {
	out := *r
	out.Faults = slices.Clone(r.Faults)
	if r.write != nil {
		out.Result = resultOf(r.write.made.Load())
	}
	return out
}

func (a *API) logLocked(r *Request) {
	a.log = append(a.log, r)
	if len(a.log) > a.opts.KeepRequests {
		a.forgetLocked(1)
	}
}

// forgetLocked drops the first n requests from the log. Changes still has the requests of the changes, without their bodies.
func (a *API) forgetLocked(n int) {
	for i, r := range a.log[:n] {
		r.Body = nil
		a.log[i] = nil // lets the garbage collector free it before append reallocates
	}
	a.log = a.log[n:]
}

// ForgetRequests empties the result of Requests.
func (a *API) ForgetRequests() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.forgetLocked(len(a.log))
}

// keepBody is how much of a body the log keeps.
const keepBody = 16 << 10

// maxBody is how much of a body is read before the faults act: one byte more than the API accepts.
const maxBody = 3<<20 + 1

// receive reads the request to the end of its body: only then a server notices that a client has gone.
func (x *exchange) receive(r *http.Request) {
	x.r = r
	var data []byte
	if r.Body != nil && r.Body != http.NoBody {
		var err error
		data, err = io.ReadAll(io.LimitReader(r.Body, maxBody))
		rest := io.Reader(r.Body)
		if err != nil {
			failed, end := io.Pipe()
			end.CloseWithError(err)
			rest = failed
		}
		x.r.Body = struct {
			io.Reader
			io.Closer
		}{io.MultiReader(bytes.NewReader(data), rest), r.Body}
	}
	a := httpapi.AttributesOf(r)
	req := &Request{
		Time: x.api.st.Now(), Verb: a.Verb, Path: a.Path, Query: r.URL.Query(),
		Group: a.Group, Version: a.Version, Resource: a.Resource, Namespace: a.Namespace, Name: a.Name, Subresource: a.Subresource,
		UserAgent: r.UserAgent(), Client: clientOf(r.Context()), ContentType: r.Header.Get("Content-Type"),
		Body: bytes.Clone(data[:min(len(data), keepBody)]), BodySize: len(data),
	}
	x.req = req
	for _, kind := range x.api.api.Kinds() {
		if k := kind.Info(); k.Group == a.Group && k.Plural == a.Resource {
			req.kind = kinds.Of(kind)
		}
	}
	switch {
	case a.Verb == "create" && a.IsResource:
		req.Name = metadataIn(data, req.ContentType).Name
	case a.Verb == "patch":
		if strings.HasPrefix(req.ContentType, "application/apply-patch+") {
			req.Verb = "apply"
		}
		x.guarded = bytes.Contains(data, []byte(`"/metadata/resourceVersion"`))
	}
	// In protobuf the member has no name.
	if a.Verb == "update" || a.Verb == "patch" && bytes.Contains(data, []byte("resourceVersion")) {
		version := metadataIn(data, req.ContentType).ResourceVersion
		x.guarded = x.guarded || version != "" && version != "0"
	}
}

// metadata is the part of an object that identifies it and its version.
type metadata struct {
	Name            string `json:"name" protobuf:"1"`
	ResourceVersion string `json:"resourceVersion" protobuf:"6"`
}

type object struct {
	Metadata metadata `json:"metadata" protobuf:"1"`
}

var objectType = sync.OnceValue(func() *codec.Type { return codec.MustCompile(reflect.TypeFor[object](), "v1") })

// metadataIn returns the metadata of the object in a body, as far as the body is valid.
func metadataIn(data []byte, contentType string) metadata {
	var o object
	mediaType, _, _ := mime.ParseMediaType(contentType)
	switch {
	case strings.HasSuffix(mediaType, "protobuf"):
		if e, err := codec.OpenEnvelope(data); err == nil {
			objectType().DecodeProto(e.Raw, &o)
		}
	case strings.HasSuffix(mediaType, "yaml"):
		if text, _, err := yaml.ToJSON(data); err == nil {
			json.Unmarshal(text, &o)
		}
	default:
		json.Unmarshal(data, &o)
	}
	return o.Metadata
}

type clientKey struct{}

// WithClient returns a context for the request of a client, whose name Match, Request and Verify know as Client. It is for a
// transport of your own, which sends requests to Transport, and for a handler in front of Handler. TransportFor does it for
// one name.
func WithClient(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, clientKey{}, name)
}

func clientOf(ctx context.Context) string {
	name, _ := ctx.Value(clientKey{}).(string)
	return name
}

// TransportFor is like Transport and names its client for Match, Request and Verify.
func (a *API) TransportFor(client string) http.RoundTripper {
	return namedTransport{a.api.Transport(), client}
}

type namedTransport struct {
	http.RoundTripper
	client string
}

// RoundTrip sends a request in the name of the client.
func (n namedTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	return n.RoundTripper.RoundTrip(req.WithContext(WithClient(req.Context(), n.client)))
}

// CancelRequest does nothing. client-go calls it when its own timeout fires, and ends the context too.
func (n namedTransport) CancelRequest(*http.Request) {}
