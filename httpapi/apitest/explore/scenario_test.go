package explore

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

// poll reads each second until its context ends.
func poll(ctx context.Context, c Conn) error {
	for ctx.Err() == nil {
		ask(ctx, c, http.MethodGet, leases, "")
		sleep(ctx, time.Second)
	}
	return nil
}

// A fault of the scenario is said before anything goes wrong, and is never a finding.
func TestScenariosThatCannotBeExplored(t *testing.T) {
	one := []Controller{{Run: idle}}
	var calls atomic.Int64
	for name, row := range map[string]struct {
		s    Scenario
		o    Options
		want string
	}{
		"no API":                  {Scenario{Controllers: one}, Options{}, "Scenario.API: got nil"},
		"no controller":           {Scenario{API: apitest.New(t)}, Options{}, "Scenario.Controllers: got none"},
		"no Run":                  {Scenario{API: apitest.New(t), Controllers: []Controller{{}}}, Options{}, "Scenario.Controllers[0].Run: got nil"},
		"negative replicas":       {Scenario{API: apitest.New(t), Controllers: []Controller{{Run: idle, Replicas: -1}}}, Options{}, "Scenario.Controllers[0].Replicas: got -1"},
		"one name twice":          {Scenario{API: apitest.New(t), Controllers: []Controller{{Run: idle}, {Run: idle}}}, Options{}, `Scenario.Controllers[1].Name: got "controller", want a name that no other part has`},
		"name of the user":        {Scenario{API: apitest.New(t), Controllers: []Controller{{Run: idle, Name: "user"}}}, Options{}, `Scenario.Controllers[0].Name: got "user", which is reserved, as are user, world, other, check`},
		"two words":               {Scenario{API: apitest.New(t), Controllers: []Controller{{Run: idle, Name: "a b"}}}, Options{}, "want one word"},
		"no Do":                   {Scenario{API: apitest.New(t), Controllers: one, Steps: []Step{{Name: "x"}}}, Options{}, "Scenario.Steps[0].Do: got nil"},
		"mask":                    {Scenario{API: apitest.New(t), Controllers: one, Mask: []string{"pods", "a b c"}}, Options{}, "Scenario.Mask[1]: got \"a b c\""},
		"negative budget":         {Scenario{API: apitest.New(t), Controllers: one}, Options{Budget: -1}, "Options.Budget: got -1"},
		"negative runs":           {Scenario{API: apitest.New(t), Controllers: one}, Options{Runs: -2}, "Options.Runs: got -2"},
		"plan":                    {Scenario{API: apitest.New(t), Controllers: one}, Options{Plans: []string{"x"}}, `plan "x": got the action "x"`},
		"plan of a step":          {Scenario{API: apitest.New(t), Controllers: one}, Options{Plans: []string{"restart 1"}}, "got step 1, want one up to 0"},
		"plan of another":         {Scenario{API: apitest.New(t), Controllers: one}, Options{Plans: []string{"restart 0 by x"}}, `there is no controller "x"`},
		"no request":              {Scenario{API: apitest.New(t), Controllers: []Controller{{Run: func(ctx context.Context, _ Conn) error { <-ctx.Done(); return nil }}}}, Options{}, "the controllers send no request: their clients must use Conn.Transport"},
		"plan without hit":        {Scenario{API: apitest.New(t), Controllers: one}, Options{Plans: []string{"crash-after create endpoints a #1"}}, `hits nothing: the controllers do not send "create endpoints a" in an undisturbed run`},
		"plan that hits too late": {Scenario{API: apitest.New(t), Controllers: one}, Options{Plans: []string{"answer-500 list leases default/* #9"}}, "hits nothing"},
		"plan of no resource":     {Scenario{API: apitest.New(t), Controllers: one}, Options{Plans: []string{"slow-events pods"}}, `the server has no resource "pods"`},
		"a step fails": {Scenario{API: apitest.New(t), Controllers: one, Steps: []Step{{"boom", func(context.Context, Conn) error { return errors.New("no way") }}}}, Options{},
			`the scenario fails undisturbed, in step 1 "boom": step 1 "boom" fails: no way`},
		"the check fails": {Scenario{API: apitest.New(t), Controllers: one, Check: func(context.Context, Conn) error { return errors.New("not well") }}, Options{}, "in the start: the check fails: not well"},
		"the world fails": {Scenario{API: apitest.New(t), Controllers: one, World: func(context.Context, Conn) error { return errors.New("it ends") }}, Options{}, "Scenario.World: it ends"},
		"the start fails": {Scenario{API: apitest.New(t), Controllers: []Controller{{Run: func(context.Context, Conn) error { return errors.New("no start") }}}}, Options{}, "controller ends by itself: no start"},
		"a panic":         {Scenario{API: apitest.New(t), Controllers: []Controller{{Run: func(context.Context, Conn) error { panic("oh") }}}}, Options{}, "controller panics: panic: oh"},
		"a goroutine": {Scenario{API: apitest.New(t), Controllers: []Controller{{Run: func(ctx context.Context, c Conn) error {
			go func() { <-make(chan int) }()
			return idle(ctx, c)
		}}}}, Options{}, "goroutines are left when the controllers have ended: github.com/kubecoord/kubecoord/httpapi/apitest/explore.TestScenariosThatCannotBeExplored"},
		"it stays": {Scenario{API: apitest.New(t), Controllers: []Controller{{Run: func(ctx context.Context, c Conn) error {
			time.Sleep(100 * time.Hour)
			return nil
		}}}}, Options{}, "controller does not return within 1m0s after its context has ended"},
		"no rest": {Scenario{API: apitest.New(t), Controllers: []Controller{{Run: func(ctx context.Context, c Conn) error {
			for n := 0; ctx.Err() == nil; n++ {
				ask(ctx, c, http.MethodPost, leases, leaseNamed(fmt.Sprint("n", n)))
				sleep(ctx, 10*time.Second)
			}
			return nil
		}}}}, Options{}, "nothing comes to rest in the start; the last change was: create leases default/n"},
		"requests without end": {Scenario{API: apitest.New(t), Controllers: []Controller{{Run: func(ctx context.Context, c Conn) error {
			for ctx.Err() == nil {
				ask(ctx, c, http.MethodGet, leases, "")
			}
			return nil
		}}}}, Options{}, "controller sends requests without end, 5001 in the start"},
		"a step panics": {Scenario{API: apitest.New(t), Controllers: one, Steps: []Step{{"boom", func(context.Context, Conn) error { panic("oh") }}}}, Options{},
			`step 1 "boom" panics: panic: oh`},
		"the check panics": {Scenario{API: apitest.New(t), Controllers: one, Check: func(context.Context, Conn) error { panic("oh") }}, Options{}, "the check panics: panic: oh"},
		"the world panics": {Scenario{API: apitest.New(t), Controllers: one, World: func(context.Context, Conn) error { panic("oh") }}, Options{}, "Scenario.World: panic: oh"},
		"a step ends its goroutine": {Scenario{API: apitest.New(t), Controllers: one, Steps: []Step{{"boom", func(context.Context, Conn) error { runtime.Goexit(); return nil }}}}, Options{},
			`step 1 "boom" fails: it has ended its goroutine, as FailNow does`},
		"a step that never returns beside a controller that polls": {Scenario{API: apitest.New(t), Controllers: []Controller{{Run: poll}}, Steps: []Step{{"wait", poll}}}, Options{},
			`step 1 "wait" fails: it does not return within 40m0s of virtual time`},
		"a step that does not look at its context": {Scenario{API: apitest.New(t), Controllers: []Controller{{Run: poll}}, Steps: []Step{{"wait", func(context.Context, Conn) error { <-make(chan int); return nil }}}}, Options{},
			`step 1 "wait" fails: it does not return within 40m0s of virtual time`},
		"a world that never rests": {Scenario{API: apitest.New(t), Controllers: one, World: func(ctx context.Context, c Conn) error {
			for n := 0; ctx.Err() == nil; n++ {
				ask(ctx, c, http.MethodPost, leases, leaseNamed(fmt.Sprint("n", n)))
				sleep(ctx, 10*time.Second)
			}
			return nil
		}}, Options{}, "Scenario.World never rests in the start; the last change was: create leases default/n"},
		"other objects in each run": {Scenario{API: apitest.New(t), Controllers: one, Steps: []Step{{"odd", func(ctx context.Context, c Conn) error {
			return create(fmt.Sprint("x", calls.Add(1))).Do(ctx, c)
		}}}}, Options{}, `the undisturbed runs do not agree after step 1 "odd": leases default/x`},
		"other numbers in each run": {Scenario{API: apitest.New(t), Controllers: one, Steps: []Step{{"odd", func(ctx context.Context, c Conn) error {
			if err := create("a").Do(ctx, c); err != nil || calls.Add(1)%2 == 0 {
				return err
			}
			_, _, err := ask(ctx, c, http.MethodDelete, leases+"/a", "")
			if err != nil {
				return err
			}
			return create("a").Do(ctx, c)
		}}}}, Options{}, "leases default/a was created"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Explore(t, row.s, row.o)
			assert.ErrorContains(t, err, row.want)
		})
	}
	_, err := Explore(t, Scenario{}, Options{}, Options{})
	assert.ErrorContains(t, err, "got 2 Options, want one at most")
}

// What the undisturbed runs do not agree on is not compared, and the report names it.
func TestMembersThatDifferByThemselvesAreMasked(t *testing.T) {
	var calls atomic.Int64
	s := Scenario{Controllers: []Controller{{Run: idle}}, Steps: []Step{{"odd", func(ctx context.Context, c Conn) error {
		_, _, err := ask(ctx, c, http.MethodPost, leases, fmt.Sprintf(`{"metadata":{"name":"a","labels":{"same":"x","other":"v%d"}}}`, calls.Add(1)))
		return err
	}}}}
	r := exploring(t, s, Options{})
	assert.Equal(t, []string{"leases .metadata.labels.other"}, r.Masked)
	assert.Empty(t, r.Findings)
	assert.NotZero(t, r.Runs)
}

// A controller of the prepared server that is not ready yet makes no difference: what it makes is there before the runs, or in all of them.
func TestThePreparedServerMaySettle(t *testing.T) {
	var once sync.Once
	api := apitest.New(t)
	late := func(ctx context.Context, c Conn) error {
		if _, _, err := ask(ctx, c, http.MethodPost, leases, leaseNamed("late")); err != nil { // unless it is there
			return err
		}
		once.Do(func() {
			_, err := lease.In(api.Store()).Create(ctx, &lease.Lease{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "late"}}, store.CreateOptions{})
			assert.NoError(t, err)
		})
		return idle(ctx, c)
	}
	assert.Empty(t, found(t, Scenario{API: api, Controllers: []Controller{{Run: late}}}, Options{Runs: 5}))
}
