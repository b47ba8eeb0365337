package wiretest

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Runner replays scenarios against one server. Its methods may be called from several goroutines at once, but the order of
// versions is only as recorded if nothing else writes to the server.
type Runner struct {
	Transport http.RoundTripper // nil means one of its own for each scenario, without proxy and compression
	BaseURL   string            // such as http://127.0.0.1:8080

	// Prepare is called for each namespace before a scenario runs in it. Set it for servers that require namespaces to exist.
	Prepare func(ctx context.Context, namespace string) error
}

// Check runs the scenario of a recording again and compares. It blocks until the last step is done, a step cannot be
// carried out, or ctx is cancelled.
func (r *Runner) Check(ctx context.Context, g Golden) Result {
	got, err := r.replay(ctx, g.Scenario)
	return compare(g, got, err)
}

// Record runs the scenario of a recording again. It returns the recording with the observed outcomes for the steps that
// differ, and the result. Differences for which accept returns true do not count. accept may be nil.
func (r *Runner) Record(ctx context.Context, g Golden, accept func(Difference) bool) (Golden, Result) {
	got, err := r.replay(ctx, g.Scenario)
	res := compare(g, got, err)
	if accept != nil {
		res.Differences = slices.DeleteFunc(res.Differences, accept)
	}
	if err != nil || len(res.Differences) == 0 {
		return g, res
	}
	g.Expect = slices.Clone(g.Expect)
	for _, d := range res.Differences {
		if d.Step >= 0 {
			g.Expect[d.Step] = got.Expect[d.Step]
		}
	}
	g.VersionOrder = got.VersionOrder
	return g, res
}

// replay runs the steps of a scenario and returns their normalised outcomes: all of them, or the ones before the error.
func (r *Runner) replay(ctx context.Context, s Scenario) (Golden, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	vars, err := namespaces()
	if err != nil {
		return Golden{}, err
	}
	for _, name := range []string{"ns", "ns2"} {
		if r.Prepare == nil {
			break
		}
		if err := r.Prepare(ctx, vars[name]); err != nil {
			return Golden{}, err
		}
	}
	x := &run{
		baseURL:   strings.TrimSuffix(r.BaseURL, "/"),
		transport: r.Transport,
		vars:      vars,
		norm:      newNormalizer(s, vars),
		streams:   map[string]*stream{},
	}
	if x.transport == nil {
		network := networkTransport()
		defer network.CloseIdleConnections()
		x.transport = network
	}
	defer x.closeStreams()
	g := Golden{Scenario: s}
	for i, step := range s.Steps {
		e, err := x.step(ctx, step)
		if err != nil {
			return g, fmt.Errorf("step %d (%s): %w", i, step.label(), err)
		}
		g.Expect = append(g.Expect, e)
	}
	g.VersionOrder = x.norm.versionOrder()
	return g, nil
}

// namespaces returns two names that no other run uses.
func namespaces() (map[string]string, error) {
	id := make([]byte, 5)
	if _, err := rand.Read(id); err != nil {
		return nil, err
	}
	ns := "c-" + hex.EncodeToString(id)
	return map[string]string{"ns": ns, "ns2": ns + "-second"}, nil
}

func networkTransport() *http.Transport {
	return &http.Transport{DisableCompression: true}
}

// run is the state of one running scenario.
type run struct {
	baseURL   string
	transport http.RoundTripper
	vars      map[string]string // the values of placeholders
	norm      *normalizer
	streams   map[string]*stream // every one opened so far, by its name
}

func (x *run) step(ctx context.Context, s Step) (Expected, error) {
	switch {
	case s.Collect != nil:
		return x.collect(ctx, *s.Collect)
	case s.Close != "":
		if st := x.streams[s.Close]; st != nil {
			st.close()
		}
		return Expected{}, nil
	}
	return x.request(ctx, s)
}

func (x *run) closeStreams() {
	for _, st := range x.streams {
		st.close()
	}
}

// expand replaces placeholders by their values.
func (x *run) expand(s string) string {
	for name, value := range x.vars {
		s = strings.ReplaceAll(s, "{{"+name+"}}", value)
	}
	return s
}
