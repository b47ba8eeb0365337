package differential

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/internal/test/etcd/referee/reference"
	"github.com/kubecoord/kubecoord/internal/test/wiretest"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
)

// accepted lists what kube-apiserver answers otherwise, in the format of ../reference/accepted.txt.
//
//go:embed accepted.txt
var accepted string

// TestRandomRequestsEqualKubeAPIServer sends random requests to the kube-apiserver that KUBE_APISERVER names, and to
// kubecoord. It fails with the shortest scenario that it has found, which can be stored in httpapi/testdata/wire.
func TestRandomRequestsEqualKubeAPIServer(t *testing.T) {
	binary := os.Getenv("KUBE_APISERVER")
	if binary == "" {
		t.Skip("KUBE_APISERVER names no binary of kube-apiserver")
	}
	server, err := reference.Start(t.Context(), binary)
	require.NoError(t, err)
	defer func() { assert.NoError(t, server.Close()) }()
	list, err := reference.ParseAccepted(accepted)
	require.NoError(t, err)
	d := &duel{t, &wiretest.Runner{Transport: server, BaseURL: server.URL(), Prepare: server.CreateNamespace}, list}
	eachCase(t, 100, func(g generator) string {
		s := randomScenario(g)
		recorded, wrong, err := d.differs(s)
		if errors.Is(err, io.EOF) {
			t.Logf("kube-apiserver has closed the connection: %v", err)
			return ""
		}
		require.NoError(t, err)
		if wrong == "" {
			return ""
		}
		for i := len(s.Steps) - 1; i >= 0; i-- {
			fewer := s
			fewer.Steps = slices.Delete(slices.Clone(s.Steps), i, i+1)
			// Without the step that opens a stream, its events cannot be read.
			if r, w, err := d.differs(fewer); err == nil && w != "" {
				s, recorded, wrong = fewer, r, w
			}
		}
		return wrong + "\n" + recorded.Text()
	})
}

// duel plays scenarios to kube-apiserver and to kubecoord.
type duel struct {
	t        *testing.T
	theirs   *wiretest.Runner
	accepted reference.Accepted
}

// runs is how often a difference must be seen. A second may begin between two writes of managed fields on one of the servers,
// and another writer of kube-apiserver may take a version.
const runs = 3

// differs returns the answers of kube-apiserver and the differences of kubecoord from them, "" if there are none. The error says that
// the scenario could not be carried out.
func (d *duel) differs(s wiretest.Scenario) (recorded wiretest.Golden, wrong string, err error) {
	for range runs {
		if recorded, wrong, err = d.play(s); err != nil || wrong == "" {
			break
		}
	}
	return recorded, wrong, err
}

func (d *duel) play(s wiretest.Scenario) (recorded wiretest.Golden, wrong string, err error) {
	recorded, res := d.theirs.Record(d.t.Context(), wiretest.Golden{Scenario: s, Expect: make([]wiretest.Expected, len(s.Steps))}, nil)
	if res.Err != nil {
		return recorded, "", res.Err
	}
	st := store.New(store.Options{})
	defer st.Close()
	api := httpapi.New(st, httpapi.Options{})
	defer api.Close()
	_, res = (&wiretest.Runner{Transport: api.Transport(), BaseURL: "http://test"}).Record(d.t.Context(), recorded, func(found wiretest.Difference) bool {
		return d.accepted.Accepts(s.Name, found)
	})
	for _, found := range res.Differences {
		wrong += found.String() + "\n"
	}
	return recorded, wrong, res.Err
}

// script writes a scenario. It sends each request to a kubecoord of its own first, so that later requests can use what is stored.
type script struct {
	*writers
	api      *httpapi.API
	scenario wiretest.Scenario
	values   map[string]string // the placeholder of each uid and version, which differ between servers
	versions []string
}

func randomScenario(g generator) wiretest.Scenario {
	st := store.New(store.Options{Clock: clock.NewManual(time.Unix(1e9, 0))}) // no time of it is one of the compared servers
	defer st.Close()
	s := &script{
		writers: &writers{generator: g, resource: pick(g, resources[:3]...)}, api: httpapi.New(st, httpapi.Options{}),
		scenario: wiretest.Scenario{Name: "random", About: "random requests"}, values: map[string]string{},
	}
	defer s.api.Close()
	for _, name := range some(g, "b", "c", "a-b") {
		s.version = s.resource.versions[0]
		o := s.whole(false)
		o["metadata"].(object)["name"] = name
		s.send(s.write(http.MethodPost, s.path(false), o))
	}
	for range 2 + g.IntN(8) {
		s.version = pick(g, s.resource.versions...)
		switch n := g.IntN(100); {
		case n < 25:
			s.send(s.read())
		case n < 35:
			s.send(s.removal())
		default:
			s.send(s.request())
		}
		s.look()
	}
	if g.percent(30) && len(s.versions) > 0 {
		s.watch()
	}
	return s.scenario
}

// look reads the object and keeps it.
func (s *script) look() {
	s.current = s.send(call{method: http.MethodGet, path: s.path(true), accept: typeJSON})
}

func (s *script) write(method, path string, body any) call {
	text, _ := json.Marshal(body)
	return call{method: method, path: path, accept: typeJSON, contentType: typeJSON, query: url.Values{}, body: string(text)}
}

// read returns a random get or list.
func (s *script) read() call {
	c := call{method: http.MethodGet, path: s.path(s.percent(20)), query: s.selection(), accept: pick(s.generator, typeJSON, typeJSON,
		"application/vnd.kubernetes.protobuf", "application/json;as=Table;g=meta.k8s.io;v=v1",
		"application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1", "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1")}
	if s.percent(40) {
		c.query.Set("resourceVersion", s.anyVersion())
	}
	if s.percent(20) {
		c.query.Set("resourceVersionMatch", pick(s.generator, "Exact", "NotOlderThan", "Other"))
	}
	if s.percent(30) {
		c.query.Set("limit", pick(s.generator, "1", "2", "0", "-1", "x"))
	}
	return c
}

// removal returns a random deletion of the object or of the collection.
func (s *script) removal() call {
	body := object{}
	switch s.IntN(4) {
	case 0:
		body["preconditions"] = object{"resourceVersion": s.anyVersion()}
	case 1:
		body["preconditions"] = object{"uid": pick(s.generator, at(s.current, "metadata", "uid"), "other")}
	}
	if s.percent(30) {
		body["propagationPolicy"] = pick(s.generator, "Foreground", "Orphan", "Background", "Other")
	}
	if s.percent(20) {
		body["dryRun"] = []any{pick(s.generator, "All", "all")}
	}
	c := s.write(http.MethodDelete, s.path(s.percent(70)), body)
	if !strings.HasSuffix(c.path, "/a") {
		c.query = s.selection()
	}
	return c
}

// selection returns random selectors.
func (s *script) selection() url.Values {
	q := url.Values{}
	if s.percent(40) {
		q.Set("labelSelector", pick(s.generator, "a", "!a", "a=1", "a in (1,2)", "b notin (1),a", "x/d!=2", "a>1", "a=", "a b", "=", "-a"))
	}
	if s.percent(25) {
		q.Set("fieldSelector", pick(s.generator, "metadata.name=a", "metadata.name!=a", "metadata.namespace=other", "spec.holderIdentity=h1", "a"))
	}
	return q
}

// anyVersion returns a known version, or what is none.
func (s *script) anyVersion() string {
	if len(s.versions) > 0 && s.percent(70) {
		return pick(s.generator, s.versions...)
	}
	return pick(s.generator, "0", "00", "1", "x", "", "-1")
}

// watch watches all changes since the first version.
func (s *script) watch() {
	q := url.Values{
		"watch": {"true"}, "timeoutSeconds": {"1"}, "resourceVersion": {s.versions[0]}, "allowWatchBookmarks": {"true"},
		"labelSelector": {pick(s.generator, "", "a", "!a", "a=1", "b notin (1)")},
	}
	step := s.step(call{method: http.MethodGet, path: s.path(false), query: q, accept: typeJSON})
	step.Open = "w"
	s.scenario.Steps = append(s.scenario.Steps, step, wiretest.Step{Collect: &wiretest.Collect{Stream: "w", UntilClosed: true}})
}

// send adds a request to the scenario, and returns the object of the answer, or nil.
func (s *script) send(c call) object {
	step := s.step(c)
	r := httptest.NewRequest(c.method, "http://test"+c.path+"?"+c.query.Encode(), strings.NewReader(c.body))
	r.Header = http.Header{"Content-Type": {c.contentType}, "Accept": {c.accept}, "User-Agent": {c.agent}}
	resp, err := s.api.Transport().RoundTrip(r)
	if err != nil {
		panic(err)
	}
	defer resp.Body.Close()
	var o object
	if json.NewDecoder(resp.Body).Decode(&o) != nil || resp.StatusCode >= 300 {
		o = nil
	}
	step.Capture = map[string]string{}
	for _, member := range []string{"uid", "resourceVersion"} {
		value, _ := at(o, "metadata", member).(string)
		if value == "" || value == "0" || s.values[value] != "" || o["kind"] == "Table" || o["items"] != nil {
			continue
		}
		name := fmt.Sprintf("v%d?", len(s.values))
		s.values[value], step.Capture[name] = "{{"+name+"}}", "/metadata/"+member
		if member == "resourceVersion" {
			s.versions = append(s.versions, value)
		}
	}
	s.scenario.Steps = append(s.scenario.Steps, step)
	return o
}

// step returns a request with placeholders.
func (s *script) step(c call) wiretest.Step {
	step := wiretest.Step{Method: c.method, Path: strings.Replace(c.path, "/default/", "/{{ns}}/", 1), Query: map[string]string{}, BodyText: c.body, Headers: map[string]string{"Accept": c.accept}}
	if c.contentType != "" {
		step.Headers["Content-Type"] = c.contentType
	}
	if c.agent != "" {
		step.Headers["User-Agent"] = c.agent
	}
	step.BodyText = strings.ReplaceAll(step.BodyText, `"namespace":"default"`, `"namespace":"{{ns}}"`)
	for value, name := range s.values {
		step.BodyText = strings.ReplaceAll(step.BodyText, `"`+value+`"`, `"`+name+`"`)
	}
	for name := range c.query {
		value := c.query.Get(name)
		step.Query[name] = value
		if known := s.values[value]; known != "" {
			step.Query[name] = known
		}
	}
	return step
}
