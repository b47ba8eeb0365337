package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/kubecoord/kubecoord/internal/test/exchange"
)

// Media types of requests.
const (
	yamlType  = "application/yaml"
	jsonPatch = "application/json-patch+json"
	merge     = "application/merge-patch+json"
	strategic = "application/strategic-merge-patch+json"
	apply     = "application/apply-patch+yaml"
)

// Player plays a scenario to a server.
type Player struct {
	Transport http.RoundTripper
	URL       string
	// ID is the id of the run, which stands in each name, in the form of exchange.RunID.
	ID string
	// Events, if not nil, has how many events each watch waits for. Without it a watch ends when nothing has come for Quiet.
	Events map[string]int
	Quiet  time.Duration
	// Hung, if not nil, is called when a webhook begins to hang.
	Hung func()
}

// shownPort is a port that no server has.
const shownPort = "10"

// play is one run of a scenario. Texts have RUNID in place of the id, NAMESPACE in place of the scenario's own namespace.
type play struct {
	*Player
	ctx       context.Context
	namespace string
	hooks     *hooks
	norm      *exchange.Normalizer
	answers   []exchange.Answer
	last      any // body of the last answer, as it came
	code      int // its status
	token     string
	port      string // of an APIService; answers have shownPort in its place
	err       error  // of the first step that could not be carried out
	cleanup   []string
}

// Play plays a scenario and returns the answers.
func (p *Player) Play(ctx context.Context, s Scenario) ([]exchange.Answer, error) {
	run := &play{Player: p, ctx: ctx, namespace: "cluster-" + p.ID + "-" + s.Name, norm: exchange.NewNormalizer(p.ID)}
	run.hooks = newHooks(run)
	defer run.hooks.close()
	run.norm.Replace(regexp.MustCompile(`\b127\.0\.0\.1:\d{2,}\b`), "{address}")
	run.norm.Replace(regexp.MustCompile(`\beyJ[\w.-]+`), "{token}")
	// How the library says that 30 seconds are over is a race of its two timers.
	run.norm.Replace(regexp.MustCompile(`(context deadline exceeded|net/http: request canceled) \(Client\.Timeout exceeded while awaiting headers\)`), "context deadline exceeded")
	run.norm.Replace(regexp.MustCompile(`in record \(\d+\)`), "in record ({version})")
	run.norm.Replace(regexp.MustCompile(`"?[A-Za-z0-9+/]{200,}=*"?`), "{certificate}")
	run.norm.Replace(regexp.MustCompile(`(-gen-)[a-z0-9]{5}\b`), "$1{suffix}")
	run.must(http.MethodPost, "/api/v1/namespaces", `{apiVersion: v1, kind: Namespace, metadata: {name: NAMESPACE, labels: {team: red}}}`)
	s.play(run)
	err := run.err
	run.err = nil
	for i := len(run.cleanup) - 1; i >= 0; i-- {
		_, _, _ = run.send(http.MethodDelete, run.cleanup[i], "", nil)
	}
	_, _, _ = run.send(http.MethodDelete, "/api/v1/namespaces/"+run.namespace, "", nil)
	return run.answers, err
}

// text puts the id of the run, and what belongs to it, into a path or a body.
func (p *play) text(s string) string {
	return strings.NewReplacer("NAMESPACE", p.namespace, exchange.RunID, p.ID, "WEBHOOKS", p.hooks.server.URL, "HOOKPORT", p.hooks.port(), "OTHERCA", p.hooks.otherCA, "TOKEN", p.token, "CABUNDLE", p.hooks.ca).Replace(s)
}

// do plays one request and adds its answer, with the calls of webhooks that the request caused. Headers are "Name: value".
func (p *play) do(step, method, path, body string, headers ...string) {
	if p.err != nil {
		return
	}
	p.hooks.take()
	resp, data, err := p.send(method, path, body, headers)
	if err != nil {
		p.err = fmt.Errorf("%s: %s %s: %w", step, method, path, err)
		return
	}
	p.code = resp.StatusCode
	a := exchange.Answer{Step: step, Request: method + " " + path, Status: resp.StatusCode, Type: resp.Header.Get("Content-Type"), RetryAfter: resp.Header.Get("Retry-After")}
	for _, w := range resp.Header.Values("Warning") {
		a.Warning = append(a.Warning, p.norm.Text(w))
	}
	if p.port != "" {
		data = bytes.ReplaceAll(data, []byte(p.port), []byte(shownPort))
	}
	p.last = string(data)
	if strings.Contains(a.Type, "json") {
		if p.last, _, err = exchange.Parse(data); err != nil {
			p.err = fmt.Errorf("%s: status %d: %w: %.300s", step, resp.StatusCode, err, data)
			return
		}
	}
	a.Body = p.norm.Body(p.last)
	for _, call := range p.hooks.take() {
		a.Calls = append(a.Calls, p.norm.Event(call))
	}
	p.answers = append(p.answers, a)
}

// must plays a request that has to succeed, and adds no answer.
func (p *play) must(method, path, body string, headers ...string) {
	if p.err != nil {
		return
	}
	resp, data, err := p.send(method, path, body, headers)
	if err == nil && resp.StatusCode >= 300 {
		err = fmt.Errorf("status %d: %.500s", resp.StatusCode, data)
	}
	if err != nil {
		p.err = fmt.Errorf("%s %s: %w", method, path, err)
		return
	}
	p.last, _, _ = exchange.Parse(data)
}

func (p *play) send(method, path, body string, headers []string) (*http.Response, []byte, error) {
	ctx, cancel := context.WithTimeout(p.ctx, time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, p.URL+p.text(path), strings.NewReader(p.text(body)))
	if err != nil {
		return nil, nil, err
	}
	req.Header.Set("User-Agent", "cluster")
	req.Header.Set("Accept", "application/json")
	if body != "" {
		req.Header.Set("Content-Type", yamlType)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if strings.HasPrefix(name, "Impersonate-") {
			req.Header.Add(name, p.text(value))
			continue
		}
		req.Header.Set(name, p.text(value))
	}
	resp, err := p.Transport.RoundTrip(req)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if resp.StatusCode == http.StatusTooManyRequests && bytes.Contains(data, []byte(`"storage is (re)initializing"`)) && ctx.Err() == nil {
		return p.send(method, path, body, headers) // a server replaces the kind just now: clients repeat the request
	}
	return resp, data, err
}

// patch plays a patch.
func (p *play) patch(step, path, contentType, body string) {
	p.do(step, http.MethodPatch, path, body, "Content-Type: "+contentType)
}

// until repeats a request until done reports true, for at most 20 seconds: a server reads configurations with a delay.
func (p *play) until(what, method, path, body string, done func(code int, body []byte) bool) {
	if p.err != nil {
		return
	}
	last := ""
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		resp, data, err := p.send(method, path, body, nil)
		if err == nil && done(resp.StatusCode, data) {
			return
		}
		last = string(data)
	}
	p.err = fmt.Errorf("%s has not come; last answer: %.500s", what, last)
}

// watch is a group of watches of collections.
type watch struct {
	p      *play
	cancel context.CancelFunc
	events chan any
}

// follow watches collections from now on.
func (p *play) follow(paths ...string) *watch {
	ctx, cancel := context.WithCancel(p.ctx)
	w := &watch{p: p, cancel: cancel, events: make(chan any, 1000)}
	for _, path := range paths {
		p.must(http.MethodGet, path+"?limit=1", "")
		version := exchange.TextAt(p.last, "metadata", "resourceVersion")
		if p.err != nil {
			break
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.URL+p.text(path)+"?watch=1&resourceVersion="+version, nil)
		if err != nil {
			p.err = err
			break
		}
		req.Header.Set("Accept", "application/json")
		resp, err := p.Transport.RoundTrip(req)
		if err != nil {
			p.err = err
			break
		}
		go w.read(ctx, resp.Body)
	}
	return w
}

func (w *watch) read(ctx context.Context, body io.ReadCloser) {
	defer body.Close()
	d := json.NewDecoder(body)
	for {
		var raw json.RawMessage
		if d.Decode(&raw) != nil {
			return
		}
		tree, _, err := exchange.Parse(bytes.TrimSpace(raw))
		if err != nil {
			return
		}
		select {
		case w.events <- tree:
		case <-ctx.Done():
			return
		}
	}
}

// gone ends the watches when an object of a name is deleted, and adds no answer: for events whose number is not fixed.
func (w *watch) gone(name string) {
	defer w.cancel()
	if w.p.err != nil {
		return
	}
	timer := time.NewTimer(20 * time.Second)
	defer timer.Stop()
	for {
		select {
		case e := <-w.events:
			if exchange.TextAt(e, "type") == "DELETED" && exchange.TextAt(e, "object", "metadata", "name") == name {
				return
			}
		case <-timer.C:
			w.p.err = fmt.Errorf("%s is still there", name)
			return
		}
	}
}

// settle ends the watches when all events are there, and adds them as an answer: by object, since the order between objects
// is not fixed.
func (w *watch) settle(step string) {
	defer w.cancel()
	p := w.p
	if p.err != nil {
		return
	}
	a := exchange.Answer{Step: step, Request: "watch", Status: http.StatusOK}
	limit := 20 * time.Second
	if p.Events == nil {
		limit = p.Quiet
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for p.Events == nil || len(a.Events) < p.Events[step] {
		select {
		case e := <-w.events:
			a.Events = append(a.Events, p.norm.Event(e))
			timer.Reset(limit)
			continue
		case <-timer.C:
		}
		break
	}
	sortEvents(a.Events)
	p.answers = append(p.answers, a)
}
