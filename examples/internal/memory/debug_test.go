package memory

import (
	"bufio"
	"encoding/json"
	"fmt"
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

type object = map[string]any

// offer creates a candidate for the Lease "main" that has renewed just now, and renews it when it is pinged, as the machine may be too
// slow for the election that comes at once. It ends with the server or the test.
func (d tester) offer(name, binary, emulation string) {
	d.t.Helper()
	d.must(201, "POST", candidates, fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"leaseName":"main","binaryVersion":%q,"emulationVersion":%q,
		"strategy":"OldestEmulationVersion","renewTime":%q}}`, name, binary, emulation, now()), nil)
	pings := d.open(candidates+"?watch=true&fieldSelector=metadata.name="+name, "").Body
	var answering sync.WaitGroup
	answering.Go(func() {
		for events := json.NewDecoder(pings); ; {
			var event struct{ Object candidate.LeaseCandidate }
			if events.Decode(&event) != nil {
				return
			}
			spec := event.Object.Spec
			if spec.PingTime != nil && !spec.RenewTime.After(spec.PingTime.Time) {
				d.code("PATCH", candidates+"/"+name, fmt.Sprintf(`{"spec":{"renewTime":%q}}`, now()))
			}
		}
	})
	d.t.Cleanup(func() {
		pings.Close()
		answering.Wait()
	})
}

// hold writes the Lease "main" as its holder does, once there is one.
func (d tester) hold(name string) {
	d.t.Helper()
	d.awaitLease("")
	d.must(200, "PATCH", mainLease, fmt.Sprintf(`{"spec":{"holderIdentity":%q,"leaseDurationSeconds":3600,"renewTime":%q}}`, name, now()), nil)
}

// awaitLease waits until the Lease "main" is there and its JSON contains a text.
func (d tester) awaitLease(text string) {
	d.t.Helper()
	body := d.open(group+"/v1/leases?watch=true&fieldSelector=metadata.name=main", "").Body
	defer body.Close()
	for events := bufio.NewReader(body); ; {
		event, err := events.ReadString('\n')
		require.NoError(d.t, err)
		if strings.Contains(event, text) {
			return
		}
	}
}

// open sends a GET whose answer may have no end.
func (d tester) open(path, accept string) *http.Response {
	d.t.Helper()
	req, err := http.NewRequestWithContext(d.t.Context(), "GET", d.url+path, nil)
	require.NoError(d.t, err)
	req.Header.Set("Accept", accept)
	resp, err := http.DefaultClient.Do(req)
	require.NoError(d.t, err)
	return resp
}

func now() string { return time.Now().UTC().Format("2006-01-02T15:04:05.000000Z") }

// stream is an open /debug/elections/events.
type stream struct {
	t    *testing.T
	body io.Closer
	in   *bufio.Reader
}

// content is the part of the page that an event changes.
type content struct{ Leaders, Picture, Tables string }

func (d tester) events() *stream {
	d.t.Helper()
	resp := d.open("/debug/elections/events", "")
	require.Equal(d.t, "text/event-stream", resp.Header.Get("Content-Type"))
	return &stream{d.t, resp.Body, bufio.NewReader(resp.Body)}
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

func TestDebugPagesAreOffUnlessAskedFor(t *testing.T) {
	d := startDebug(t, func(c *config) { c.debug = false })
	for _, path := range []string{
		"/debug/elections", "/debug/elections.json", "/debug/elections.svg", "/debug/elections.txt", "/debug/elections/events", "/debug/", "/debug/events",
	} {
		assert.Equal(t, 404, d.code("GET", path, ""), path)
	}
}

func TestDebugPagesAnswerInTheFormAskedFor(t *testing.T) {
	d := startDebug(t)
	events := d.events()
	defer events.body.Close()
	d.offer("a", "1.37.0", "1.36.0")
	d.hold("a")
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
			code, header, text := d.do("GET", row.path, "", "Accept", row.accept)
			assert.Equal(t, 200, code)
			assert.Equal(t, row.mediaType, header.Get("Content-Type"))
			assert.Contains(t, text, row.holds)
			assert.Equal(t, "nosniff", header.Get("X-Content-Type-Options"))
			assert.Contains(t, header.Get("Content-Security-Policy"), "default-src 'none'; style-src 'sha256-")
			assert.NotContains(t, header.Get("Content-Security-Policy"), "unsafe")
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
		assert.Equal(t, row.code, d.code(row.method, row.path, ""), row.method+" "+row.path)
	}
}

func TestStreamOfAServerHasWhatHasChanged(t *testing.T) {
	_, stop, url, done := start(t, debugConfig())
	d := tester{t, url}
	resp := d.open("/debug/events?filter=main", "")
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
	assert.Equal(t, 404, d.code("GET", mainLease, ""))
	second := next()
	assert.Contains(t, second["requests"], "get leases default/main 404")
	assert.NotContains(t, second, "faults", "nothing has changed there")
	stop()
	_, err := io.Copy(io.Discard, in)
	require.NoError(t, err, "the stream ends cleanly")
	require.NoError(t, <-done)
}
