package apitest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"net/url"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/internal/caller"
	"github.com/kubecoord/kubecoord/internal/codec"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/internal/yaml"
)

// Request is a request that the server received, and what became of it.
type Request struct {
	// Time is when it was there, by the clock of the store.
	Time time.Time
	// Verb is get, list, watch, create, update, patch, apply, delete or
	// deletecollection; where the path is no resource it is the method in lower
	// case. Apply is a patch of the type that server-side apply has.
	Verb  string
	Path  string
	Query url.Values
	// Group to Name are those of the path, empty where it is no resource. The
	// Name of a create is that in its body.
	Group, Version, Resource, Namespace, Name string
	// Subresource is "status" where the path says so, or "".
	Subresource string
	// UserAgent, Client and ContentType say who sent it, the second being the
	// name that was given to TransportFor, and of what type the body is.
	UserAgent, Client, ContentType string
	// Body is the body, or the beginning of it; BodySize tells how long it was.
	Body     []byte
	BodySize int
	// Status is the code that was sent, 0 as long as there is none. Done tells
	// that nothing more will come, Cut that the connection was cut.
	Status    int
	Done, Cut bool
	// Faults are those that it was hit by, in their order.
	Faults []*Injected
}

// String returns the request in one line, as Requests.Assert wants it: the verb,
// the resource, the namespace and the name, or the path, and what came of it,
// such as "update leases default/a 409" or "list leases * cut".
func (r Request) String() string {
	what := r.Path
	if r.Resource != "" {
		what = path.Join(r.Resource, r.Subresource) + " " + objectPath(r.Namespace, r.Name)
	}
	outcome := "pending"
	switch {
	case r.Status != 0:
		outcome = strconv.Itoa(r.Status)
		if r.Cut {
			outcome += " cut"
		}
	case r.Cut:
		outcome = "cut"
	}
	return r.Verb + " " + what + " " + outcome
}

func objectPath(namespace, name string) string {
	switch {
	case namespace == "" && name == "":
		return "*"
	case name == "":
		return namespace + "/*"
	case namespace == "":
		return name
	}
	return namespace + "/" + name
}

// Requests are requests in the order in which they came.
type Requests []Request

// Where returns those that keep is true for.
func (rs Requests) Where(keep func(Request) bool) Requests {
	var out Requests
	for _, r := range rs {
		if keep(r) {
			out = append(out, r)
		}
	}
	return out
}

// Requests returns the requests that were received, those under way included. Of
// many only the last are remembered.
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

// ForgetRequests makes Requests start afresh.
func (a *API) ForgetRequests() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.log.kept = nil
}

// requestLog holds the last requests. It is guarded by the mutex of the API.
type requestLog struct {
	kept           []*Request
	limit, perBody int
}

func newRequestLog(limit, perBody int) requestLog {
	if limit == 0 {
		limit = DefaultKeepRequests
	}
	if perBody == 0 {
		perBody = DefaultKeepBody
	}
	return requestLog{limit: max(limit, 0), perBody: max(perBody, 0)}
}

func (l *requestLog) add(r *Request) {
	if l.limit == 0 {
		return
	}
	if len(l.kept) >= l.limit {
		l.kept[0] = nil // append leaves it behind when it moves the others
		l.kept = l.kept[1:]
	}
	l.kept = append(l.kept, r)
}

// maxBody is as much of a body as is read before the faults are asked, a byte
// more than the API takes.
const maxBody = 3<<20 + 1

// receive reads the request up to the end of its body: only then does a server
// notice that a client has gone. It returns what to log, what to hand on, and what
// to remember for Verify.
func (a *API) receive(r *http.Request, ctx context.Context) (*Request, *http.Request, *call) {
	var data []byte
	rest := io.Reader(http.NoBody)
	if r.Body != nil && r.Body != http.NoBody {
		var err error
		data, err = io.ReadAll(io.LimitReader(r.Body, maxBody))
		if rest = r.Body; err != nil {
			rest = failing{err}
		}
	}
	served := r.WithContext(ctx)
	if r.Body != nil && r.Body != http.NoBody {
		served.Body = &replay{data: data, rest: rest, Closer: r.Body}
	}
	attributes := httpapi.AttributesOf(r)
	req := &Request{
		Time: a.st.Now(), Verb: attributes.Verb, Path: attributes.Path, Query: r.URL.Query(),
		Group: attributes.Group, Version: attributes.Version, Resource: attributes.Resource,
		Namespace: attributes.Namespace, Name: attributes.Name, Subresource: attributes.Subresource,
		UserAgent: r.UserAgent(), Client: caller.Name(r.Context()), ContentType: r.Header.Get("Content-Type"),
		Body: bytes.Clone(data[:min(len(data), a.log.perBody)]), BodySize: len(data),
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

// replay is a body whose beginning has been read.
type replay struct {
	data []byte
	rest io.Reader
	io.Closer
}

// Read returns what was read before, then the rest.
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

// named is as much of an object as is needed for its name.
type named struct {
	Metadata struct {
		Name string `json:"name" protobuf:"1"`
	} `json:"metadata" protobuf:"1"`
}

var namedType = sync.OnceValue(func() *codec.Type { return codec.Compile(reflect.TypeFor[named](), "v1") })

// nameIn returns the name of the object in a body, or "" where there is none to
// be found.
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
