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
	exchange.Play
	player    *Player
	namespace string
	hooks     *hooks
	token     string
	port      string // of an APIService; answers have shownPort in its place
	cleanup   []string
}

// Play plays a scenario and returns the answers.
func (p *Player) Play(ctx context.Context, s Scenario) ([]exchange.Answer, error) {
	run := &play{player: p, namespace: "cluster-" + p.ID + "-" + s.Name}
	run.Play = exchange.Play{Context: ctx, Transport: p.Transport, URL: p.URL, Agent: "cluster", MediaType: yamlType, Norm: exchange.NewNormalizer(p.ID), Fill: run.text, Decode: run.decode}
	run.hooks = newHooks(run)
	defer run.hooks.close()
	run.Norm.Replace(regexp.MustCompile(`\b127\.0\.0\.1:\d{2,}\b`), "{address}")
	run.Norm.Replace(regexp.MustCompile(`\beyJ[\w.-]+`), "{token}")
	// How the library says that 30 seconds are over is a race of its two timers.
	run.Norm.Replace(regexp.MustCompile(`(context deadline exceeded|net/http: request canceled) \(Client\.Timeout exceeded while awaiting headers\)`), "context deadline exceeded")
	run.Norm.Replace(regexp.MustCompile(`in record \(\d+\)`), "in record ({version})")
	run.Norm.Replace(regexp.MustCompile(`"?[A-Za-z0-9+/]{200,}=*"?`), "{certificate}")
	run.Norm.Replace(regexp.MustCompile(`(-gen-)[a-z0-9]{5}\b`), "$1{suffix}")
	run.must(http.MethodPost, "/api/v1/namespaces", `{apiVersion: v1, kind: Namespace, metadata: {name: NAMESPACE, labels: {team: red}}}`)
	s.play(run)
	err := run.Err
	run.Err = nil
	for i := len(run.cleanup) - 1; i >= 0; i-- {
		_, _, _ = run.Send(http.MethodDelete, run.cleanup[i], "")
	}
	_, _, _ = run.Send(http.MethodDelete, "/api/v1/namespaces/"+run.namespace, "")
	return run.Answers, err
}

// text puts the id of the run, and what belongs to it, into a path or a body.
func (p *play) text(s string) string {
	return strings.NewReplacer("NAMESPACE", p.namespace, exchange.RunID, p.player.ID, "WEBHOOKS", p.hooks.server.URL, "HOOKPORT", p.hooks.port(), "OTHERCA", p.hooks.otherCA, "TOKEN", p.token, "CABUNDLE", p.hooks.ca).Replace(s)
}

// do plays one request and adds its answer, with the calls of webhooks that the request caused. Headers are "Name: value".
func (p *play) do(step, method, path, body string, headers ...string) {
	p.hooks.take()
	p.Do(step, method, path, body, headers...)
	if calls := p.hooks.take(); p.Err == nil {
		for _, call := range calls {
			a := &p.Answers[len(p.Answers)-1]
			a.Calls = append(a.Calls, p.Norm.Event(call))
		}
	}
}

// must plays a request that has to succeed, and adds no answer.
func (p *play) must(method, path, body string, headers ...string) {
	p.Must(method, path, body, headers...)
}

// decode reads the body of an answer.
func (p *play) decode(mediaType string, body []byte) (any, error) {
	if p.port != "" {
		body = bytes.ReplaceAll(body, []byte(p.port), []byte(shownPort))
	}
	if !strings.Contains(mediaType, "json") {
		return string(body), nil
	}
	tree, _, err := exchange.Parse(body)
	return tree, err
}

// patch plays a patch.
func (p *play) patch(step, path, contentType, body string) {
	p.do(step, http.MethodPatch, path, body, "Content-Type: "+contentType)
}

// until repeats a request until done reports true, for at most 20 seconds: a server reads configurations with a delay.
func (p *play) until(what, method, path, body string, done func(code int, body []byte) bool) {
	if p.Err != nil {
		return
	}
	last := ""
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		resp, data, err := p.Send(method, path, body)
		if err == nil && done(resp.StatusCode, data) {
			return
		}
		last = string(data)
	}
	p.Err = fmt.Errorf("%s has not come; last answer: %.500s", what, last)
}

// watch is a group of watches of collections.
type watch struct {
	p      *play
	cancel context.CancelFunc
	events chan any
}

// follow watches collections from now on.
func (p *play) follow(paths ...string) *watch {
	ctx, cancel := context.WithCancel(p.Context)
	w := &watch{p: p, cancel: cancel, events: make(chan any, 1000)}
	for _, path := range paths {
		p.must(http.MethodGet, path+"?limit=1", "")
		version := exchange.TextAt(p.Last, "metadata", "resourceVersion")
		if p.Err != nil {
			break
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.URL+p.text(path)+"?watch=1&resourceVersion="+version, nil)
		if err != nil {
			p.Err = err
			break
		}
		req.Header.Set("Accept", "application/json")
		resp, err := p.Transport.RoundTrip(req)
		if err != nil {
			p.Err = err
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
	if w.p.Err != nil {
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
			w.p.Err = fmt.Errorf("%s is still there", name)
			return
		}
	}
}

// settle ends the watches when all events are there, and adds them as an answer: by object, since the order between objects
// is not fixed.
func (w *watch) settle(step string) {
	defer w.cancel()
	p := w.p
	if p.Err != nil {
		return
	}
	a := exchange.Answer{Step: step, Request: "watch", Status: http.StatusOK}
	limit := 20 * time.Second
	if p.player.Events == nil {
		limit = p.player.Quiet
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for p.player.Events == nil || len(a.Events) < p.player.Events[step] {
		select {
		case e := <-w.events:
			a.Events = append(a.Events, p.Norm.Event(e))
			timer.Reset(limit)
			continue
		case <-timer.C:
		}
		break
	}
	sortEvents(a.Events)
	p.Answers = append(p.Answers, a)
}
