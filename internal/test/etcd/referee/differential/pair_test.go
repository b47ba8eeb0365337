package differential

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
)

// pair sends the same requests to kubecoord and the reference.
type pair struct {
	st           *store.Store
	api          *httpapi.API
	reference    http.Handler
	ours, theirs uids
	history      []string // all requests, for the message of a failure
}

func newPair() *pair {
	st := store.New(store.Options{})
	return &pair{st: st, api: httpapi.New(st, httpapi.Options{Kinds: []kind.Kind{newWidgetKind()}}), reference: newReference()}
}

func (p *pair) close() {
	p.api.Close()
	p.st.Close()
}

// call is a request.
type call struct {
	method, path, contentType, accept, agent string
	query                                    url.Values
	body                                     string
}

func (c call) String() string {
	return fmt.Sprintf("%s %s?%s  %s  %s\n    %s", c.method, c.path, c.query.Encode(), c.contentType, c.agent, c.body)
}

// answer is the compared part of an answer.
type answer struct {
	code     int
	warnings []string
	body     string
}

func (a answer) String() string {
	return fmt.Sprintf("%d %q %s", a.code, a.warnings, a.body)
}

// send sends a request to both. It returns kubecoord's answer and its difference from the reference's.
func (p *pair) send(c call) (answer, string) {
	got := p.ours.answer(func(r *http.Request) *http.Response {
		resp, err := p.api.Transport().RoundTrip(r)
		if err != nil {
			panic(err)
		}
		return resp
	}, c)
	if c.method != http.MethodGet {
		p.history = append(p.history, fmt.Sprintf("%d %s", got.code, c))
	}
	var wrong string
	for range 1000 {
		want := p.theirs.answer(p.refer, c)
		if want.code == 0 && got.code >= http.StatusBadRequest {
			return got, "" // if upstream panics, kubecoord only has to refuse
		}
		wrong = p.explain(differs("the answers differ", got, want))
		if wrong == "" || want.code < http.StatusBadRequest {
			break
		}
		// Upstream reports the first of several errors in the random order of a map. Of ten errors, 50 attempts would miss one in 200 times.
	}
	return got, wrong
}

// refer sends a request to the reference. If that panics, the code is 0.
func (p *pair) refer(r *http.Request) *http.Response {
	w := httptest.NewRecorder()
	if panics(func() { p.reference.ServeHTTP(w, r) }) {
		return &http.Response{Body: http.NoBody}
	}
	return w.Result()
}

func panics(f func()) (yes bool) {
	defer func() { yes = recover() != nil }()
	f()
	return false
}

// explain puts the requests before a difference, if there is one.
func (p *pair) explain(wrong string) string {
	if wrong == "" {
		return ""
	}
	return strings.Join(p.history, "\n") + "\n\n" + wrong
}

// uids are the random uids of one server in the order of their appearance. Comparisons call them uid-0, uid-1 and so on.
type uids []string

// real replaces the names by the uids of the server.
func (u *uids) real(body string) string {
	for i, id := range *u {
		body = strings.ReplaceAll(body, fmt.Sprintf("uid-%d-", i), id)
	}
	return body
}

// named replaces the uids by their names.
func (u *uids) named(body string) string {
	return uid.ReplaceAllStringFunc(body, func(id string) string {
		at := slices.Index(*u, id)
		if at < 0 {
			at = len(*u)
			*u = append(*u, id)
		}
		return fmt.Sprintf("uid-%d-", at)
	})
}

var uid = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`)

func (u *uids) answer(send func(*http.Request) *http.Response, c call) answer {
	r := httptest.NewRequest(c.method, "http://test"+c.path+"?"+c.query.Encode(), strings.NewReader(u.real(c.body)))
	r.Header = http.Header{"Content-Type": {c.contentType}, "Accept": {c.accept}, "User-Agent": {c.agent}}
	resp := send(r)
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		panic(err)
	}
	return answer{resp.StatusCode, resp.Header.Values("Warning"), withoutChance(resp.StatusCode, u.named(string(text)))}
}

// widgetNames renames upstream's Go types of Widget to kubecoord's.
var widgetNames = strings.NewReplacer("Go struct field widget", "Go struct field Widget", "differential.widget", "v1.Widget",
	"differential.Widget", "v1.Widget", "handled as a widget", "handled as a Widget", "in struct widget", "in struct Widget")

var schemeName = regexp.MustCompile(`in scheme \\".*?\\"`)

// withoutChance returns a body without the parts that are random upstream: the order of causes and errors, and the name of the scheme.
func withoutChance(code int, body string) string {
	if code < 400 {
		return body
	}
	body = widgetNames.Replace(schemeName.ReplaceAllString(body, "in scheme"))
	var status metav1.Status
	if json.Unmarshal([]byte(body), &status) != nil {
		return body
	}
	if status.Details != nil {
		slices.SortFunc(status.Details.Causes, func(a, b metav1.StatusCause) int {
			return strings.Compare(a.Field+a.Message, b.Field+b.Message)
		})
	}
	if lines := strings.Split(status.Message, "\n  "); len(lines) > 2 {
		// Upstream stops at the first unknown field, in random order.
		if strings.Contains(status.Message, "field not declared in schema") {
			lines = lines[:1]
		}
		slices.Sort(lines[1:])
		status.Message = strings.Join(lines, "\n  ")
	}
	text, _ := json.Marshal(status)
	return string(text)
}
