package explore

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/store"
)

// A finding that no other run shows is set apart, with what the run wrote.
func TestAFindingThatDoesNotComeAgain(t *testing.T) {
	var checks atomic.Int64
	s := labels()
	s.Check = func(context.Context, Conn) error {
		if checks.Add(1) == undisturbed*3+2 {
			return errors.New("once")
		}
		return nil
	}
	r := exploring(t, s, Options{Plans: []string{"restart 1"}})
	assert.Empty(t, r.Findings)
	require.Len(t, r.Once, 1)
	f := r.Once[0]
	assert.Contains(t, f.Text, "the check fails: once")
	assert.Equal(t, []int{0, again + againMore}, []int{f.Again, f.Of})
	assert.Contains(t, f.String(), "create leases default/a")
	assert.Contains(t, r.Summary(), "0 findings, 1 seen once")
}

// What a controller makes in one undisturbed run and not in another is the first finding, and what a step makes is a fault of the scenario.
func TestUndisturbedRunsThatDiffer(t *testing.T) {
	var runs atomic.Int64
	s := Scenario{API: apitest.New(t), Steps: []Step{create("a")}, Controllers: once(func(ctx context.Context, c Conn) error {
		code, _, err := ask(ctx, c, http.MethodPost, endpoints, leaseNamed("x"))
		if err == nil && code == http.StatusCreated && runs.Add(1)%2 == 0 {
			_, _, err = ask(ctx, c, http.MethodPost, endpoints, leaseNamed("y"))
		}
		return err
	})}
	r := exploring(t, s, Options{})
	require.Len(t, r.Findings, 1)
	f := r.Findings[0]
	assert.Equal(t, `the undisturbed runs do not agree after step 1 "create a": endpoints default/y exists, in another it does not`, f.Text)
	assert.Equal(t, []string{none}, f.Plans)
	assert.Contains(t, f.String(), "+       1m0s  controller     create endpoints default/y 201")
	assert.NotZero(t, f.Again)
}

// A value on which the undisturbed runs agreed by chance is no finding.
func TestWhatDiffersByItselfIsNoFinding(t *testing.T) {
	var runs atomic.Int64
	s := Scenario{Steps: []Step{{"create a", func(ctx context.Context, c Conn) error {
		value := "same"
		if n := runs.Add(1); n > undisturbed {
			value = fmt.Sprint("other ", n%2)
		}
		_, _, err := ask(ctx, c, http.MethodPost, leases, `{"metadata":{"name":"a","annotations":{"x":"`+value+`"}}}`)
		return err
	}}}, Controllers: []Controller{{Run: idle}}}
	r := exploring(t, s, Options{Plans: []string{"restart 1"}})
	assert.Empty(t, r.Findings)
	assert.Empty(t, r.Once)
	assert.Equal(t, []string{"leases .metadata.annotations.x"}, r.Masked)
}

// A value that few undisturbed runs have, and a run with a perturbation had by chance, is no finding.
func TestWhatSeldomDiffersByItselfIsNoFinding(t *testing.T) {
	var runs atomic.Int64
	s := Scenario{Steps: []Step{{"create a", func(ctx context.Context, c Conn) error {
		value := "same"
		if n := runs.Add(1); n == undisturbed+1 || n > undisturbed+1+confirming {
			value = "other"
		}
		_, _, err := ask(ctx, c, http.MethodPost, leases, `{"metadata":{"name":"a","annotations":{"x":"`+value+`"}}}`)
		return err
	}}}, Controllers: []Controller{{Run: idle}}}
	r := exploring(t, s, Options{Plans: []string{"restart 1"}})
	assert.Empty(t, r.Findings)
	assert.Equal(t, []string{"leases .metadata.annotations.x"}, r.Masked)
}

// A Seed gives each undisturbed run other values, so that they are known to differ by themselves.
func TestRunsOfASeedDiffer(t *testing.T) {
	s := Scenario{API: apitest.New(t, apitest.Options{Store: store.Options{Seed: 7}}), Steps: []Step{create("a")}, Controllers: once(func(ctx context.Context, c Conn) error {
		_, body, err := ask(ctx, c, http.MethodGet, leases+"/a", "")
		if err != nil || strings.Contains(body, "labels") {
			return err
		}
		_, after, _ := strings.Cut(body, `"uid":"`)
		_, _, err = ask(ctx, c, http.MethodPatch, leases+"/a", `{"metadata":{"labels":{"part":"`+after[:8]+`"}}}`)
		return err
	})}
	r := exploring(t, s, Options{Plans: []string{"restart 1"}})
	assert.Equal(t, []string{"leases .metadata.labels.part"}, r.Masked)
	assert.Empty(t, r.Findings)
}

// An object that is wanted for a moment only need not be made by a process that was down. One that is to be replaced must be replaced.
func TestAPairThatIsMissing(t *testing.T) {
	mirror := []Controller{{Run: onEach(func(ctx context.Context, c Conn) error {
		code, _, err := ask(ctx, c, http.MethodGet, leases+"/a", "")
		switch {
		case err != nil:
			return err
		case code == http.StatusOK:
			_, _, err = ask(ctx, c, http.MethodPost, endpoints, leaseNamed("b")) // no name that tells what it is for
		case code == http.StatusNotFound:
			_, _, err = ask(ctx, c, http.MethodDelete, endpoints+"/b", "")
		}
		return err
	})}}
	assert.Empty(t, found(t, Scenario{Steps: []Step{flicker()}, Controllers: mirror}, Options{Plans: []string{"down 1"}}))

	replaces := once(func(ctx context.Context, c Conn) error {
		_, body, err := ask(ctx, c, http.MethodGet, leases+"/a", "")
		if err != nil {
			return err
		}
		if !strings.Contains(body, `"new"`) || strings.Contains(body, `"done"`) {
			_, _, err := ask(ctx, c, http.MethodPost, endpoints, leaseNamed("a"))
			return err
		}
		if _, _, err := ask(ctx, c, http.MethodPatch, leases+"/a", `{"metadata":{"labels":{"done":"yes"}}}`); err != nil {
			return err
		}
		if _, _, err = ask(ctx, c, http.MethodDelete, endpoints+"/a", ""); err != nil {
			return err
		}
		_, _, err = ask(ctx, c, http.MethodPost, endpoints, leaseNamed("a"))
		return err
	})
	renew := Step{"renew", func(ctx context.Context, c Conn) error {
		_, _, err := ask(ctx, c, http.MethodPatch, leases+"/a", `{"metadata":{"labels":{"new":"yes"}}}`)
		return err
	}}
	texts := found(t, Scenario{Steps: []Step{create("a"), renew}, Controllers: replaces}, Options{Plans: []string{"crash-before delete endpoints default/a #1"}})
	assert.Equal(t, []string{`after step 2 "renew": endpoints default/a was deleted never, in the undisturbed run once`}, texts)
}

// Plans of another action are tried before more plans of the same one.
func TestPlansOfEachActionAreTried(t *testing.T) {
	var got []string
	for _, p := range ofEachAction([]plan{{action: none}, {action: none, seed: 1}, {action: restart}, {action: restart, step: 1}, {action: down, step: 1}}) {
		got = append(got, p.String())
	}
	assert.Equal(t, []string{"none", "restart 0", "down 1", "none 1", "restart 1"}, got)
}

// A finding comes again though something else is wrong at a rest before it.
func TestFindingBehindAnother(t *testing.T) {
	s := Scenario{API: apitest.New(t), Steps: []Step{create("a"), create("b")}, Controllers: []Controller{{Run: func(ctx context.Context, c Conn) error {
		code, _, err := ask(ctx, c, http.MethodGet, leases+"/a", "")
		if err != nil {
			return err
		}
		late := code == http.StatusOK
		if late {
			ask(ctx, c, http.MethodPost, endpoints, leaseNamed("late"))
		}
		return onEach(func(ctx context.Context, c Conn) error {
			code, _, err := ask(ctx, c, http.MethodGet, leases+"/b", "")
			if err == nil && code == http.StatusOK && !late {
				_, _, err = ask(ctx, c, http.MethodPost, endpoints, leaseNamed("b"))
			}
			return err
		})(ctx, c)
	}}}}
	x := newExplorer(t, s, Options{})
	require.NoError(t, x.prepare())
	require.NoError(t, x.refer())
	p, err := parsePlan("restart 1")
	require.NoError(t, err)
	l := x.live(&p, 0, true)
	found := x.judge(l)
	require.NotEmpty(t, found)
	assert.Contains(t, found[0].text, "after the restart: endpoints default/late exists")
	behind := x.leadsTo(l, "state endpoints missing")
	require.NotEmpty(t, behind)
	assert.Contains(t, behind[0].text, `after step 2 "create b": endpoints default/b is missing`)
	assert.Equal(t, found[0].id(), x.leadsTo(l, found[0].id())[0].id())
	assert.Nil(t, x.leadsTo(l, "state leases missing"))
}
