package explore

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
)

// spin is a controller that begins a loop without requests when a patch is answered with an error, until end is set.
func spin(end *atomic.Bool) []Controller {
	return once(func(ctx context.Context, c Conn) error {
		code, _, err := ask(ctx, c, http.MethodPatch, leases+"/a", `{"metadata":{"labels":{"done":"yes"}}}`)
		for code == http.StatusGatewayTimeout && !end.Load() {
		}
		return err
	})
}

// A loop without requests lets no time go on. It is named, with the plan, and ends the search, as it cannot be ended.
func TestALoopWithoutRequests(t *testing.T) {
	var end atomic.Bool
	defer end.Store(true)
	x := newExplorer(t, Scenario{API: apitest.New(t), Steps: []Step{create("a")}, Controllers: spin(&end)}, Options{})
	x.patience = 1
	require.NoError(t, x.prepare())
	require.NoError(t, x.refer())
	p, err := parsePlan("answer-504 patch leases default/a #1")
	require.NoError(t, err)
	x.chosen = true
	r := x.explore([]plan{p, p, p})
	require.Len(t, r.Findings, 1)
	assert.Contains(t, r.Findings[0].Text, `in step 1 "create a": neither time nor requests go on any more after step 1 "create a" was called`)
	assert.Contains(t, r.Findings[0].Text, "spin.func", "inlined or not")
	assert.Equal(t, []string{p.String()}, r.Findings[0].Plans[:1])
	assert.Less(t, r.Runs, 3)
}

// A panic of a step is a finding with its plan, and so is one of the check.
func TestPanicsOfTheScenario(t *testing.T) {
	look := func(ctx context.Context, c Conn) error {
		_, body, err := ask(ctx, c, http.MethodGet, leases, "")
		if strings.Contains(body, touched) {
			panic("touched")
		}
		return err
	}
	s := labels()
	s.Steps = append(s.Steps, Step{"look", look})
	r := exploring(t, s, Options{Plans: []string{"interfere update leases default/a #1"}})
	require.Len(t, r.Findings, 1)
	assert.Contains(t, r.Findings[0].Text, `step 2 "look" panics: panic: touched`)
	assert.Equal(t, []string{"interfere update leases default/a #1"}, r.Findings[0].Plans)

	s = labels()
	s.Check = look
	assert.Contains(t, found(t, s, Options{Plans: []string{"interfere update leases default/a #1"}})[0], "the check panics: panic: touched")
}

// The process does not run while a step happens, or from a request of the step before on.
func TestDown(t *testing.T) {
	remove := Step{"delete a", func(ctx context.Context, c Conn) error {
		_, _, err := ask(ctx, c, http.MethodDelete, leases+"/a", "")
		return err
	}}
	s := Scenario{Steps: []Step{create("a"), remove}, Controllers: once(func(ctx context.Context, c Conn) error {
		_, body, err := ask(ctx, c, http.MethodGet, leases+"/a", "")
		if err != nil || strings.Contains(body, "done") {
			return err
		}
		if _, _, err := ask(ctx, c, http.MethodPost, endpoints, leaseNamed("a")); err != nil {
			return err
		}
		_, _, err = ask(ctx, c, http.MethodPatch, leases+"/a", `{"metadata":{"labels":{"done":"yes"}}}`)
		return err
	})}
	lines, found := lived(t, s, "down 1")
	assert.Empty(t, found)
	assert.Contains(t, lines, "1m10s controller.2: starts")
	assert.Contains(t, lines, "1m10s controller.2: create endpoints default/a 201")

	lines, found = lived(t, s, "down 2 after create endpoints default/a #1")
	assert.Empty(t, found)
	assert.Contains(t, lines, "1m0s controller: crashes: its request was carried out")
	assert.Contains(t, lines, "2m10s controller.2: starts")

	// The Endpoints are left undisturbed. Nobody asks for them any more when the process comes back.
	slow := func(makesAgain bool, children ...string) []Controller {
		return once(func(ctx context.Context, c Conn) error {
			code, body, err := ask(ctx, c, http.MethodGet, leases+"/a", "")
			if err != nil || code != http.StatusOK || strings.Contains(body, "done") || strings.Contains(body, "again") && !makesAgain {
				return err
			}
			for _, label := range []string{"begun", "done"} {
				if _, _, err := ask(ctx, c, http.MethodPatch, leases+"/a", `{"metadata":{"labels":{"`+label+`":"yes"}}}`); err != nil {
					return err
				}
				for _, child := range children {
					if _, _, err := ask(ctx, c, http.MethodPost, endpoints, leaseNamed(child)); err != nil {
						return err
					}
				}
			}
			return nil
		})
	}
	again := Step{"create a again", func(ctx context.Context, c Conn) error {
		_, _, err := ask(ctx, c, http.MethodPost, leases, `{"metadata":{"name":"a","annotations":{"again":"yes"}}}`)
		return err
	}}
	const plan = "down 2 after patch leases default/a #1"
	_, found = lived(t, Scenario{Steps: s.Steps, Controllers: slow(true, "a", "for-b")}, plan)
	for _, v := range found {
		assert.Equal(t, "default/for-b", v.key.object, v.text)
	}
	require.Len(t, found, 2)
	assert.Contains(t, found[0].text, `after step 2 "delete a": endpoints default/for-b is missing`)

	// A later step may ask for them again: then they must be there.
	steps := []Step{create("a"), remove, again}
	lines, found = lived(t, Scenario{Steps: steps, Controllers: slow(true, "a")}, plan)
	assert.Empty(t, found)
	assert.Contains(t, lines, "3m10s controller.2: create endpoints default/a 201")
	_, found = lived(t, Scenario{Steps: steps, Controllers: slow(false, "a")}, plan)
	require.NotEmpty(t, found)
	assert.Contains(t, found[0].text, `after step 3 "create a again": endpoints default/a is missing`)

	wait := Step{"wait for the Endpoints", func(ctx context.Context, c Conn) error {
		for ctx.Err() == nil {
			if code, _, _ := ask(ctx, c, http.MethodGet, endpoints+"/a", ""); code == http.StatusOK {
				return nil
			}
			sleep(ctx, 1e9)
		}
		return ctx.Err()
	}}
	waits := s
	waits.Steps = append([]Step{}, s.Steps...)
	waits.Steps[1] = wait
	waits.API = apitest.New(t)
	_, err := Explore(t, waits, Options{Plans: []string{"down 2 after create endpoints default/a #1", "down 1"}})
	assert.NoError(t, err)
	waits.Steps[0] = Step{"create a, and wait", func(ctx context.Context, c Conn) error {
		if err := create("a").Do(ctx, c); err != nil {
			return err
		}
		return wait.Do(ctx, c)
	}}
	_, err = Explore(t, waits, Options{Plans: []string{"down 1"}})
	assert.ErrorContains(t, err, `plan "down 1" can judge nothing: step 1 "create a, and wait" fails: it does not return`)
}
