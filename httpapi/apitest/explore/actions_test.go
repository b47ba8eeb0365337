package explore

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
)

// lived returns what happened to the controllers in a run with a plan, and what is wrong with it.
func lived(t *testing.T, s Scenario, text string) (lines []string, found []verdict) {
	t.Helper()
	if s.API == nil {
		s.API = apitest.New(t)
	}
	x := newExplorer(t, s, Options{})
	require.NoError(t, x.prepare())
	require.NoError(t, x.refer())
	p, err := parsePlan(text)
	require.NoError(t, err)
	l := x.live(&p, 0, true)
	assert.NotZero(t, l.acted(), "%s hits nothing", text)
	for _, e := range l.timeline() {
		if e.Who != "user" {
			lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s %s: %s", e.At.Round(time.Second), e.Who, e.Text)))
		}
	}
	return lines, x.judge(l)
}

// label is a controller that gives the Lease a the label seen, by an update, after it has read it.
func label(ctx context.Context, c Conn) error {
	return onEach(func(ctx context.Context, c Conn) error {
		code, body, err := ask(ctx, c, http.MethodGet, leases+"/a", "")
		if err != nil || code == http.StatusNotFound || strings.Contains(body, `"seen"`) {
			return err
		}
		if code != http.StatusOK {
			return fmt.Errorf("get: %d", code)
		}
		code, _, err = ask(ctx, c, http.MethodPut, leases+"/a", strings.Replace(body, `"name":"a"`, `"name":"a","labels":{"seen":"yes"}`, 1))
		if err == nil && code != http.StatusOK {
			return fmt.Errorf("update: %d", code)
		}
		return err
	})(ctx, c)
}

func labels() Scenario {
	return Scenario{Controllers: []Controller{{Run: label}}, Steps: []Step{create("a")}}
}

func TestActionsOnARequest(t *testing.T) {
	const at = " update leases default/a #1"
	for action, want := range map[string][]string{
		crashBefore: {"1m0s controller: update leases default/a no answer", "1m0s controller: crash-before update leases default/a #1", "1m0s controller: crashes: its request has changed nothing",
			"1m5s controller.2: starts", "1m5s controller.2: get leases default/a 200", "1m5s controller.2: update leases default/a 200"},
		crashAfter: {"1m0s controller: update leases default/a no answer, carried out", "1m0s controller: crash-after update leases default/a #1", "1m0s controller: crashes: its request was carried out",
			"1m5s controller.2: starts", "1m5s controller.2: get leases default/a 200", "1m5s controller.2: list leases default/* 200"},
		crashTwice: {"1m0s controller: update leases default/a no answer, carried out", "1m0s controller: crashes: its request was carried out", "1m5s controller.2: starts"},
		lostAnswer: {"1m0s controller: update leases default/a no answer, carried out", "1m0s controller: lost-answer update leases default/a #1", "1m1s controller: get leases default/a 200",
			"1m1s controller: list leases default/* 200"},
		answer409: {"1m0s controller: update leases default/a 409", "1m0s controller: answer-409 update leases default/a #1", "1m1s controller: get leases default/a 200",
			"1m1s controller: update leases default/a 200"},
		answer429: {"1m0s controller: update leases default/a 429"},
		answer500: {"1m0s controller: update leases default/a 500"},
		answer504: {"1m0s controller: update leases default/a 504", "1m0s controller: answer-504 update leases default/a #1", "1m1s controller: get leases default/a 200",
			"1m1s controller: update leases default/a 200"},
		answer504After: {"1m0s controller: update leases default/a 504, carried out", "1m0s controller: answer-504-after update leases default/a #1", "1m1s controller: get leases default/a 200",
			"1m1s controller: list leases default/* 200"},
		interfere: {"1m0s controller: update leases default/a 409", "1m0s controller: interfere update leases default/a #1", "1m0s other: patch leases default/a 200",
			"1m1s controller: get leases default/a 200", "1m1s controller: update leases default/a 200"},
	} {
		t.Run(action, func(t *testing.T) {
			lines, found := lived(t, labels(), action+at)
			assert.Empty(t, found)
			i := slices.Index(lines, want[0])
			require.GreaterOrEqual(t, i, 0, "%q", lines)
			require.GreaterOrEqual(t, len(lines), i+len(want), "%q", lines)
			assert.Equal(t, want, lines[i:i+len(want)])
		})
	}
}

// A crash ends what is in flight, and the second crash of crash-twice comes after the first write of the fresh start.
func TestCrashTwice(t *testing.T) {
	s := Scenario{Controllers: []Controller{{Run: onEach(func(ctx context.Context, c Conn) error {
		for _, name := range []string{"x", "y", "z"} {
			if _, _, err := ask(ctx, c, http.MethodPost, endpoints, leaseNamed(name)); err != nil {
				return err
			}
		}
		return nil
	})}}}
	lines, found := lived(t, s, "crash-twice create endpoints default/y #1")
	assert.Empty(t, found)
	assert.Equal(t, []string{
		"0s controller: starts", "0s controller: create endpoints default/x 201", "0s controller: create endpoints default/y no answer, carried out", "0s controller: crashes: its request was carried out",
		"5s controller.2: starts", "5s controller.2: create endpoints default/x no answer", "5s controller.2: crashes: its request has changed nothing",
		"10s controller.3: starts", "10s controller.3: create endpoints default/x 409", "10s controller.3: create endpoints default/y 409", "10s controller.3: create endpoints default/z 201",
	}, lines[:11])
}

// A process that has crashed sends nothing any more, even if it does not look at its context.
func TestACrashIsTheEndOfAProcess(t *testing.T) {
	s := Scenario{Controllers: []Controller{{Run: func(ctx context.Context, c Conn) error {
		for _, name := range []string{"x", "y"} {
			ask(context.WithoutCancel(ctx), c, http.MethodPost, endpoints, leaseNamed(name))
			time.Sleep(2 * time.Second)
		}
		return idle(ctx, c)
	}}}}
	lines, found := lived(t, s, "crash-after create endpoints default/x #1")
	assert.Empty(t, found)
	assert.Equal(t, []string{"0s controller: starts", "0s controller: create endpoints default/x no answer, carried out", "0s controller: crash-after create endpoints default/x #1",
		"0s controller: crashes: its request was carried out", "9s controller.2: starts", "9s controller.2: create endpoints default/x 409", "11s controller.2: create endpoints default/y 201"}, lines[:7])
}

// A restart that reads an old state finds neither the Lease of the step nor the label, and what it does then is a finding.
func TestStaleRestart(t *testing.T) {
	s := Scenario{
		Steps: []Step{create("a")},
		Controllers: []Controller{{Run: onEach(func(ctx context.Context, c Conn) error {
			_, list, err := ask(ctx, c, http.MethodGet, leases+"?resourceVersion=0", "")
			if err != nil {
				return err
			}
			if strings.Contains(list, `"name":"a"`) {
				_, _, err = ask(ctx, c, http.MethodPost, endpoints, leaseNamed("a"))
			} else {
				_, _, err = ask(ctx, c, http.MethodDelete, endpoints+"/a", "") // it may be too old
			}
			return err
		})}},
	}
	lines, found := lived(t, s, "stale-restart 1 before create leases default/a #1")
	assert.Contains(t, lines, "2m5s controller.2: delete endpoints default/a 200")
	require.Len(t, found, 2)
	assert.Contains(t, found[0].text, "after the restart: endpoints default/a is missing")
	assert.Contains(t, found[1].text, "after the restart: endpoints default/a was deleted once, in the undisturbed run never")

	lines, found = lived(t, s, "restart 1")
	assert.Contains(t, lines, "2m0s controller: crashes")
	assert.Contains(t, lines, "2m5s controller.2: starts")
	assert.Empty(t, found)
	_, found = lived(t, s, "stale-restart 1 before create endpoints default/a #1") // a state in which it does the right thing
	assert.Empty(t, found)
}

// flicker creates a Lease, changes it and deletes it.
func flicker() Step {
	return Step{"flicker", func(ctx context.Context, c Conn) error {
		if err := create("a").Do(ctx, c); err != nil {
			return err
		}
		time.Sleep(5 * time.Second)
		_, _, err := ask(ctx, c, http.MethodDelete, leases+"/a", "")
		return err
	}}
}

// A controller that looks for the event of the Lease a sees none if the events of the step are hidden.
func TestCollapse(t *testing.T) {
	s := Scenario{Steps: []Step{flicker()}, Controllers: []Controller{{Run: func(ctx context.Context, c Conn) error {
		for ctx.Err() == nil {
			event, _, err := askUntil(ctx, c, leases+"?watch=true&resourceVersion=0&timeoutSeconds=300")
			if err != nil {
				sleep(ctx, time.Second)
			}
			if strings.Contains(event, "ADDED") {
				ask(ctx, c, http.MethodPost, endpoints, leaseNamed("a"))
			}
		}
		return nil
	}}}}
	lines, found := lived(t, s, "collapse 1 leases")
	assert.Contains(t, lines, "1m0s : events of leases are hidden")
	require.Len(t, found, 1) // no counts of the step
	assert.Contains(t, found[0].text, `after step 1 "flicker": endpoints default/a is missing`)
}

// The watches of one resource get their events late, or end with 410.
func TestActionsOnWatches(t *testing.T) {
	lines, found := lived(t, labels(), "slow-events leases")
	assert.Empty(t, found)
	assert.Contains(t, lines, "1m3s controller: update leases default/a 200")

	lines, found = lived(t, labels(), "expire-watch leases")
	assert.Empty(t, found)
	assert.Contains(t, lines, "1m0s controller: update leases default/a 200")
}

// The replica that leads is cut off with its write in flight, which arrives after the other has taken over.
func TestTakeover(t *testing.T) {
	s := Scenario{Steps: []Step{create("a")}, Controllers: []Controller{{Replicas: 2, Run: func(ctx context.Context, c Conn) error {
		if strings.HasPrefix(c.Name, "controller-b") {
			sleep(ctx, 90*time.Second) // as if it had won the election then
		}
		return onEach(func(ctx context.Context, c Conn) error {
			if _, list, err := ask(ctx, c, http.MethodGet, leases, ""); err != nil || !strings.Contains(list, `"name":"a"`) {
				return err
			}
			_, _, err := ask(ctx, c, http.MethodPost, endpoints, leaseNamed("a"))
			return err
		})(ctx, c)
	}}}}
	lines, found := lived(t, s, "takeover create endpoints default/a #1")
	assert.Empty(t, found)
	assert.Contains(t, lines, "1m0s controller-a: create endpoints default/a 409", "it arrives late")
	assert.Contains(t, lines, "1m30s controller-b: create endpoints default/a 201")
	assert.Contains(t, lines, "1m45s controller-a: 45s after it was sent, the answer to POST /api/v1/namespaces/default/endpoints is 409")
}

// A random plan disturbs requests until the last step is done, and is judged then.
func TestRandom(t *testing.T) {
	disturbed := 0
	for seed := range 20 {
		lines, found := lived(t, labels(), fmt.Sprint("random ", seed+1))
		assert.Empty(t, found)
		if slices.ContainsFunc(lines, func(s string) bool {
			return strings.Contains(s, "no answer") || strings.Contains(s, " 50") || strings.Contains(s, " 429")
		}) {
			disturbed++
		}
	}
	assert.NotZero(t, disturbed)
}
