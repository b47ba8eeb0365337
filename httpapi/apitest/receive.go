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
	"github.com/kubecoord/kubecoord/internal/caller"
	"github.com/kubecoord/kubecoord/internal/codec"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/internal/yaml"
)

// Requests returns the last 1000 requests that the server received, including those
// in progress.
func (a *API) Requests() Requests {
	a.mu.Lock()
	defer a.mu.Unlock()
	out := make(Requests, len(a.log.kept))
	for i, r := range a.log.kept {
		out[i] = *r
		out[i].Faults = slices.Clone(r.Faults)
	}
	return out
}

// ForgetRequests empties the result of Requests.
func (a *API) ForgetRequests() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.log.kept = nil
}

// Bounds of the request log.
const (
	keepRequests = 1000
	keepBody     = 16 << 10
)

// requestLog holds the last requests. It is guarded by the mutex of the API.
type requestLog struct{ kept []*Request }

func (l *requestLog) add(r *Request) {
	if len(l.kept) >= keepRequests {
		l.kept[0] = nil // lets the garbage collector free it before append reallocates
		l.kept = l.kept[1:]
	}
	l.kept = append(l.kept, r)
}

// maxBody is how much of a body is read before the faults act: one byte more than
// the API accepts.
const maxBody = 3<<20 + 1

// receive reads the request to the end of its body: a server notices only then that
// a client has gone. It returns the entry for the log, the request for the API, and
// the call for Verify.
func (a *API) receive(r *http.Request, ctx context.Context) (*Request, *http.Request, *call) {
	var data []byte
	served := r.WithContext(ctx)
	if r.Body != nil && r.Body != http.NoBody {
		var err error
		data, err = io.ReadAll(io.LimitReader(r.Body, maxBody))
		rest := io.Reader(r.Body)
		if err != nil {
			rest = failing{err}
		}
		served.Body = &replay{data: data, rest: rest, Closer: r.Body}
	}
	attributes := httpapi.AttributesOf(r)
	req := &Request{
		Time: a.st.Now(), Verb: attributes.Verb, Path: attributes.Path, Query: r.URL.Query(),
		Group: attributes.Group, Version: attributes.Version, Resource: attributes.Resource,
		Namespace: attributes.Namespace, Name: attributes.Name, Subresource: attributes.Subresource,
		UserAgent: r.UserAgent(), Client: caller.Name(r.Context()), ContentType: r.Header.Get("Content-Type"),
		Body: bytes.Clone(data[:min(len(data), keepBody)]), BodySize: len(data),
	}
	switch {
	case req.Verb == "create" && attributes.IsResource:
		req.Name = nameIn(data, req.ContentType)
	case req.Verb == "patch" && strings.HasPrefix(req.ContentType, "application/apply-patch+"):
		req.Verb = "apply"
	}
	call := a.record.begin(req, data)
	if call != nil {
		served = served.WithContext(registry.WithOrigin(ctx, call.origin))
	}
	return req, served, call
}

// replay is a body of which the first part has been read.
type replay struct {
	data []byte
	rest io.Reader
	io.Closer
}

// Read returns the part that was read, then the rest.
func (b *replay) Read(p []byte) (int, error) {
	if len(b.data) == 0 {
		return b.rest.Read(p)
	}
	n := copy(p, b.data)
	b.data = b.data[n:]
	return n, nil
}

// failing is the rest of a body that could not be read.
type failing struct{ err error }

// Read returns the error.
func (f failing) Read([]byte) (int, error) { return 0, f.err }

// named is the part of an object that holds its name.
type named struct {
	Metadata struct {
		Name string `json:"name" protobuf:"1"`
	} `json:"metadata" protobuf:"1"`
}

var namedType = sync.OnceValue(func() *codec.Type { return codec.MustCompile(reflect.TypeFor[named](), "v1") })

// nameIn returns the name of the object in a body, or "" if there is none.
func nameIn(data []byte, contentType string) string {
	var n named
	mediaType, _, _ := mime.ParseMediaType(contentType)
	switch {
	case strings.HasSuffix(mediaType, "protobuf"):
		if e, err := codec.OpenEnvelope(data); err == nil {
			namedType().DecodeProto(e.Raw, &n) // as far as it goes
		}
	case strings.HasSuffix(mediaType, "yaml"):
		if text, _, err := yaml.ToJSON(data); err == nil {
			json.Unmarshal(text, &n)
		}
	default:
		json.Unmarshal(data, &n)
	}
	return n.Metadata.Name
}
