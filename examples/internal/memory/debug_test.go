package memory

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/candidate"
	"github.com/kubecoord/kubecoord/examples/internal/serve"
)

// debugConfig is the config of a server with -debug.
func debugConfig() config {
	return config{Options: serve.Options{Address: "127.0.0.1:0", History: 100, Elect: true}, debug: true}
}

const (
	group      = "/apis/coordination.k8s.io"
	candidates = group + "/v1beta1/namespaces/default/leasecandidates"
	mainLease  = group + "/v1/namespaces/default/leases/main"
)

// client drives the API as candidates do.
type client struct {
	t   *testing.T
	url string
}

func (c client) do(method, path, mediaType string, body any) (*http.Response, error) {
	data, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(c.t.Context(), method, c.url+path, bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", mediaType)
	return http.DefaultClient.Do(req)
}

func (c client) send(method, path, mediaType string, body any) {
	c.t.Helper()
	resp, err := c.do(method, path, mediaType, body)
	require.NoError(c.t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(c.t, err)
	require.Less(c.t, resp.StatusCode, 300, "%s", text)
}

type object = map[string]any

// offer creates a candidate for the Lease "main" that has renewed just now, and answers its pings
// until the server or the test ends.
func (c client) offer(name, binary, emulation string) {
	c.t.Helper()
	c.send("POST", candidates, "application/json", object{
		"metadata": object{"name": name},
		"spec": object{
			"leaseName": "main", "binaryVersion": binary, "emulationVersion": emulation,
			"strategy": "OldestEmulationVersion", "renewTime": now(),
		},
	})
	c.answerPings(name)
}

// answerPings renews a candidate when it is pinged, as the machine may be too slow for the election
// that comes at once.
func (c client) answerPings(name string) {
	c.t.Helper()
	pings := c.open(candidates+"?watch=true&fieldSelector=metadata.name="+name, "").Body
	var answering sync.WaitGroup
	answering.Go(func() {
		for events := json.NewDecoder(pings); ; {
			var event struct{ Object candidate.LeaseCandidate }
			if events.Decode(&event) != nil {
				return
			}
			spec := event.Object.Spec
			if spec.PingTime == nil || spec.RenewTime.After(spec.PingTime.Time) {
				continue
			}
			resp, err := c.do("PATCH", candidates+"/"+name, "application/merge-patch+json", object{"spec": object{"renewTime": now()}})
			if err != nil {
				return // the server has ended
			}
			resp.Body.Close()
		}
	})
	c.t.Cleanup(func() {
		pings.Close()
		answering.Wait()
	})
}

// hold writes the Lease "main" as its holder does, once there is one.
func (c client) hold(name string) {
	c.t.Helper()
	c.awaitLease("")
	c.send("PATCH", mainLease, "application/merge-patch+json", object{
		"spec": object{"holderIdentity": name, "leaseDurationSeconds": 3600, "renewTime": now()},
	})
}

// awaitLease waits until the Lease "main" is there and its JSON contains a text.
func (c client) awaitLease(text string) {
	c.t.Helper()
	body := c.open(group+"/v1/leases?watch=true&fieldSelector=metadata.name=main", "").Body
	defer body.Close()
	for events := bufio.NewReader(body); ; {
		event, err := events.ReadString('\n')
		require.NoError(c.t, err)
		if strings.Contains(event, text) {
			return
		}
	}
}

// open sends a GET whose answer may have no end.
func (c client) open(path, accept string) *http.Response {
	c.t.Helper()
	req, err := http.NewRequestWithContext(c.t.Context(), "GET", c.url+path, nil)
	require.NoError(c.t, err)
	req.Header.Set("Accept", accept)
	resp, err := http.DefaultClient.Do(req)
	require.NoError(c.t, err)
	return resp
}

// release lets go of it, as client-go does.
func (c client) release() {
	c.t.Helper()
	c.send("PATCH", mainLease, "application/merge-patch+json", object{
		"spec": object{"holderIdentity": "", "leaseDurationSeconds": 1, "renewTime": now(), "strategy": nil, "preferredHolder": nil},
	})
}

func now() string { return time.Now().UTC().Format("2006-01-02T15:04:05.000000Z") }

func (c client) get(path, accept string) (*http.Response, string) {
	c.t.Helper()
	resp := c.open(path, accept)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(c.t, err)
	return resp, string(text)
}

// stream is an open /debug/elections/events.
type stream struct {
	t    *testing.T
	body io.Closer
	in   *bufio.Reader
}

// content is the part of the page that an event changes.
type content struct{ Leaders, Picture, Tables string }

func (c client) events() *stream {
	c.t.Helper()
	resp := c.open("/debug/elections/events", "")
	require.Equal(c.t, "text/event-stream", resp.Header.Get("Content-Type"))
	return &stream{c.t, resp.Body, bufio.NewReader(resp.Body)}
}

// until reads events until one tells that somebody leads, and returns it.
func (s *stream) until(leaders string) (c content) {
	s.t.Helper()
	for c.Leaders != leaders {
		line, err := s.in.ReadString('\n')
		require.NoError(s.t, err)
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			require.NoError(s.t, json.Unmarshal([]byte(data), &c))
		}
	}
	return c
}

var debugPaths = []string{
	"/debug/elections", "/debug/elections.json", "/debug/elections.svg", "/debug/elections.txt", "/debug/elections/events", "/debug/", "/debug/events",
}

func TestDebugPagesAreOffUnlessAskedFor(t *testing.T) {
	c := debugConfig()
	c.debug = false
	_, stop, url, done := start(t, c)
	defer func() { stop(); require.NoError(t, <-done) }()
	for _, path := range debugPaths {
		resp, _ := client{t, url}.get(path, "")
		assert.Equal(t, 404, resp.StatusCode, path)
	}
}

func TestDebugPagesAnswerInTheFormAskedFor(t *testing.T) {
	_, stop, url, done := start(t, debugConfig())
	defer func() { stop(); require.NoError(t, <-done) }()
	c := client{t, url}
	events := c.events()
	defer events.body.Close()
	c.offer("a", "1.37.0", "1.36.0")
	c.hold("a")
	events.until("default/main: a leads.")
	const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8"
	for _, row := range []struct{ path, accept, mediaType, holds string }{
		{"/debug/elections", browser, "text/html; charset=utf-8", `<th scope="row"><a href="elections?lease=default%2Fmain">default/main</a></th><td>a leads</td>`},
		{"/debug/elections", "", "text/html; charset=utf-8", "<svg"},
		{"/debug/elections", "application/json", "application/json", `"holder": "a"`},
		{"/debug/elections", "image/svg+xml", "image/svg+xml", "<svg"},
		{"/debug/elections", "text/plain;q=1", "text/plain; charset=utf-8", "default/main, OldestEmulationVersion, 1 candidate, a leads"},
		{"/debug/elections.json", browser, "application/json", `"binaryVersion": "1.37.0"`},
		{"/debug/elections.svg", browser, "image/svg+xml", "1.37.0 as 1.36.0"},
		{"/debug/elections.txt", browser, "text/plain; charset=utf-8", "is a candidate: 1.37.0 as 1.36.0"},
		{"/debug/elections.json?lease=default/main&last=1h", "", "application/json", `"holder": "a"`},
		{"/debug/elections.json?lease=default/other", "", "application/json", `"leases": []`},
	} {
		t.Run(row.path+" "+row.mediaType, func(t *testing.T) {
			resp, text := c.get(row.path, row.accept)
			assert.Equal(t, 200, resp.StatusCode)
			assert.Equal(t, row.mediaType, resp.Header.Get("Content-Type"))
			assert.Contains(t, text, row.holds)
			assert.Equal(t, "nosniff", resp.Header.Get("X-Content-Type-Options"))
			assert.Contains(t, resp.Header.Get("Content-Security-Policy"), "default-src 'none'; style-src 'sha256-")
			assert.NotContains(t, resp.Header.Get("Content-Security-Policy"), "unsafe")
		})
	}
	for _, row := range []struct {
		method, path string
		code         int
	}{
		{"GET", "/debug/elections?last=soon", 400},
		{"GET", "/debug/elections/events?last=-1s", 400},
		{"GET", "/debug/elections.json?lease=main", 400},
		{"POST", "/debug/elections", 405},
		{"GET", "/debug/none", 404},
		{"GET", group + "/v1/namespaces//leases", 200}, // unclean, and the API's to answer
	} {
		t.Run(row.method+" "+row.path, func(t *testing.T) {
			req, err := http.NewRequestWithContext(t.Context(), row.method, url+row.path, nil)
			require.NoError(t, err)
			resp, err := http.DefaultClient.Do(req)
			require.NoError(t, err)
			resp.Body.Close()
			assert.Equal(t, row.code, resp.StatusCode)
		})
	}
}

func TestEventsEndWithTheServer(t *testing.T) {
	_, stop, url, done := start(t, debugConfig())
	events := client{t, url}.events()
	events.until("No elections yet")
	stop()
	_, err := io.Copy(io.Discard, events.in)
	require.NoError(t, err, "the stream ends cleanly")
	require.NoError(t, <-done)
}

func TestStreamOfAServerHasWhatHasChanged(t *testing.T) {
	_, stop, url, done := start(t, debugConfig())
	c := client{t, url}
	resp := c.open("/debug/events?filter=main", "")
	require.Equal(t, "text/event-stream", resp.Header.Get("Content-Type"))
	defer resp.Body.Close()
	in := bufio.NewReader(resp.Body)
	next := func() (parts map[string]string) {
		t.Helper()
		for {
			line, err := in.ReadString('\n')
			require.NoError(t, err)
			if data, ok := strings.CutPrefix(line, "data: "); ok {
				require.NoError(t, json.Unmarshal([]byte(data), &parts))
				return parts
			}
		}
	}
	first := next()
	for _, part := range []string{"summary", "faults", "requests", "history"} {
		assert.NotEmpty(t, first[part], part)
	}
	missing, _ := c.get(mainLease, "")
	assert.Equal(t, 404, missing.StatusCode)
	second := next()
	assert.Contains(t, second["requests"], "get leases default/main 404")
	assert.NotContains(t, second, "faults", "nothing has changed there")
	stop()
	_, err := io.Copy(io.Discard, in)
	require.NoError(t, err, "the stream ends cleanly")
	require.NoError(t, <-done)
}
