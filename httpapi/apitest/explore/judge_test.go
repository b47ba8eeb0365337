package explore

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	kinds "github.com/kubecoord/kubecoord/endpoints"
	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/fixture"
)

// found returns the texts of the findings of a scenario.
func found(t *testing.T, s Scenario, o Options) (texts []string) {
	for _, f := range exploring(t, s, o).Findings {
		texts = append(texts, f.Text)
	}
	return texts
}

// once is a controller that does something when the Lease a is there, until it succeeds.
func once(do func(ctx context.Context, c Conn) error) []Controller {
	return []Controller{{Run: onEach(func(ctx context.Context, c Conn) error {
		switch code, _, err := ask(ctx, c, http.MethodGet, leases+"/a", ""); {
		case err != nil || code == http.StatusNotFound:
			return err
		case code != http.StatusOK:
			return fmt.Errorf("get: %d", code)
		}
		return do(ctx, c)
	})}}
}

// An Endpoints with a new name for each try is left when an answer is lost.
func TestObjectsTooMany(t *testing.T) {
	s := Scenario{Steps: []Step{create("a")}, Controllers: once(func(ctx context.Context, c Conn) error {
		if _, list, err := ask(ctx, c, http.MethodGet, leases+"/a", ""); err != nil || strings.Contains(list, `"done"`) {
			return err
		}
		code, _, err := ask(ctx, c, http.MethodPost, endpoints, `{"metadata":{"generateName":"child-"}}`)
		if err != nil || code != http.StatusCreated {
			return fmt.Errorf("create: %d %w", code, err)
		}
		_, _, err = ask(ctx, c, http.MethodPatch, leases+"/a", `{"metadata":{"labels":{"done":"yes"}}}`)
		return err
	})}
	r := exploring(t, s, Options{})
	require.NotEmpty(t, r.Findings)
	f := r.Findings[0]
	assert.Equal(t, `after step 1 "create a": there are 2 endpoints default/child-*, in the undisturbed run 1`, f.Text)
	assert.Equal(t, []string{`after step 1 "create a": endpoints default/child-* was created twice, in the undisturbed run once`}, f.Details)
	assert.Equal(t, "crash-after create endpoints default/child-* #1", f.Plans[0], "the simplest")
	assert.Contains(t, f.Plans, "lost-answer create endpoints default/child-* #1")
	assert.Contains(t, f.Plans, "crash-before patch leases default/a #1")
	assert.Equal(t, again, f.Again)
	assert.Contains(t, f.String(), "again 3 of 3 times by -explore.plan='crash-after create endpoints default/child-* #1'")
	assert.Contains(t, f.String(), "! ")
}

// A client may choose the name of an object with a generateName, as for the Pods of a StatefulSet. Another name is another object.
func TestNamesBesideAGenerateName(t *testing.T) {
	s := Scenario{Steps: []Step{create("a")}, Controllers: once(func(ctx context.Context, c Conn) error {
		for _, name := range []string{"a-0", "a-1"} {
			code, _, err := ask(ctx, c, http.MethodPost, endpoints, `{"metadata":{"generateName":"a-","name":"`+name+`"}}`)
			if err != nil || code == http.StatusCreated || code == http.StatusConflict {
				return err
			}
		}
		return nil
	})}
	assert.Equal(t, []string{`after step 1 "create a": endpoints default/a-0 is missing`}, found(t, s, Options{Plans: []string{"answer-500 create endpoints default/a-0 #1"}}))
}

// A value that is added again after a lost answer.
func TestMembersThatDiffer(t *testing.T) {
	s := Scenario{Steps: []Step{create("a")}, Controllers: once(func(ctx context.Context, c Conn) error {
		code, body, err := ask(ctx, c, http.MethodGet, leases+"/a", "")
		switch {
		case err != nil || strings.Contains(body, `"done"`):
			return err
		case code != http.StatusOK:
			return fmt.Errorf("get: %d", code)
		}
		n := strings.Count(body, "try-")
		for _, patch := range []string{fmt.Sprintf(`{"metadata":{"annotations":{"try-%d":"x"}}}`, n), `{"metadata":{"labels":{"done":"yes"}}}`} {
			if code, _, err := ask(ctx, c, http.MethodPatch, leases+"/a", patch); err != nil || code != http.StatusOK {
				return fmt.Errorf("patch: %d %w", code, err)
			}
		}
		return nil
	})}
	texts := found(t, s, Options{Runs: 60})
	require.NotEmpty(t, texts)
	assert.Equal(t, `after step 1 "create a": leases default/a: .metadata.annotations.try-1 is "x", in the undisturbed run absent`, texts[0])
	assert.Empty(t, found(t, Scenario{Steps: s.Steps, Controllers: s.Controllers, Mask: []string{"leases .metadata.annotations"}}, Options{Runs: 60}))
}

// collectAll deletes Endpoints whose owner is gone, as a garbage collector does.
func collectAll(ctx context.Context, a *httpapi.API) {
	children := kinds.In(a.Store())
	for {
		sleep(ctx, 10*time.Second)
		if ctx.Err() != nil {
			return
		}
		for child, err := range children.All(ctx, "default") {
			if err == nil && len(child.OwnerReferences) > 0 {
				if _, err := lease.In(a.Store()).Get(ctx, "default", child.Name); err != nil {
					children.Delete(ctx, "default", child.Name, store.DeleteOptions{})
				}
			}
		}
	}
}

// What is made for an owner that is gone, and what is made for that, does not count if another client deletes it, and counts if nobody does.
func TestOrphansThatAreCollected(t *testing.T) {
	remove := Step{"delete a", func(ctx context.Context, c Conn) error {
		if _, _, err := ask(ctx, c, http.MethodDelete, leases+"/a", ""); err != nil {
			return err
		}
		if _, _, err := ask(ctx, c, http.MethodDelete, endpoints+"/a", ""); err != nil {
			return err
		}
		_, _, err := ask(ctx, c, http.MethodDelete, endpoints+"/b", "")
		return err
	}}
	s := Scenario{Steps: []Step{create("a"), remove}, Controllers: []Controller{{Run: onEach(func(ctx context.Context, c Conn) error {
		_, list, err := ask(ctx, c, http.MethodGet, leases+"?resourceVersion=0", "")
		_, after, found := strings.Cut(list, `"uid":"`)
		if err != nil || !found {
			return err
		}
		code, made, err := ask(ctx, c, http.MethodPost, endpoints, `{"metadata":{"name":"a","ownerReferences":[{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","name":"a","uid":"`+after[:36]+`"}]}}`)
		if err != nil || code != http.StatusCreated {
			return err
		}
		_, after, _ = strings.Cut(made, `"uid":"`)
		_, _, err = ask(ctx, c, http.MethodPost, endpoints, `{"metadata":{"name":"b","ownerReferences":[{"apiVersion":"v1","kind":"Endpoints","name":"a","uid":"`+after[:36]+`"}]}}`)
		return err
	})}}}
	plan := Options{Plans: []string{"stale-restart 2 before delete leases default/a #1"}}
	assert.Equal(t, []string{"after the restart: endpoints default/a exists, in the undisturbed run it does not"}, found(t, s, plan))
	s.API = apitest.New(t, apitest.Options{API: httpapi.Options{Parts: []httpapi.Part{httpapi.Controller(collectAll)}}})
	assert.Empty(t, found(t, s, plan))
	s.API, s.World = nil, func(ctx context.Context, c Conn) error { // as a kubelet that lets the Pods go
		for ctx.Err() == nil {
			if code, _, err := ask(ctx, c, http.MethodGet, leases+"/a", ""); err == nil && code == http.StatusNotFound {
				ask(ctx, c, http.MethodDelete, endpoints+"/a", "")
				ask(ctx, c, http.MethodDelete, endpoints+"/b", "")
			}
			sleep(ctx, 7*time.Second)
		}
		return nil
	}
	assert.Empty(t, found(t, s, plan))
}

// The controller changes an object that it leaves alone otherwise, and changes it back.
func TestForeignObjects(t *testing.T) {
	api := apitest.New(t, apitest.Options{Fixtures: []fixture.Source{fixture.Stream("f.yaml", strings.NewReader(
		"apiVersion: v1\nkind: Endpoints\nmetadata: {name: foreign, namespace: default}\n"))}})
	s := Scenario{API: api, Steps: []Step{create("a")}, Controllers: once(func(ctx context.Context, c Conn) error {
		code, _, err := ask(ctx, c, http.MethodPatch, leases+"/a", `{"metadata":{"labels":{"done":"yes"}}}`)
		if err == nil && code == http.StatusInternalServerError {
			for _, value := range []string{`"x"`, "null"} {
				if _, _, err := ask(ctx, c, http.MethodPatch, endpoints+"/foreign", `{"metadata":{"labels":{"mine":`+value+`}}}`); err != nil {
					return err
				}
			}
			return errors.New("again")
		}
		return err
	})}
	assert.Equal(t, []string{"endpoints default/foreign was changed by the controller, which leaves it alone undisturbed"},
		found(t, s, Options{Plans: []string{"answer-500 patch leases default/a #1", "crash-after patch leases default/a #1"}}))
}

// A put of the whole object without a resourceVersion loses what another client has written in between.
func TestLostUpdates(t *testing.T) {
	both := Step{"create both", func(ctx context.Context, c Conn) error {
		if _, _, err := ask(ctx, c, http.MethodPost, endpoints, leaseNamed("a")); err != nil {
			return err
		}
		return create("a").Do(ctx, c)
	}}
	s := Scenario{Steps: []Step{both}, Controllers: once(func(ctx context.Context, c Conn) error {
		_, body, err := ask(ctx, c, http.MethodGet, endpoints+"/a", "")
		if err != nil || strings.Contains(body, "done") {
			return err
		}
		_, _, err = ask(ctx, c, http.MethodPut, endpoints+"/a", `{"metadata":{"name":"a","labels":{"done":"yes"}}}`)
		return err
	})}
	texts := found(t, s, Options{Plans: []string{"interfere update endpoints default/a #1"}})
	assert.Equal(t, []string{`in step 1 "create both": endpoints default/a has lost the annotation that another client wrote just before update endpoints default/a #1`}, texts)
}

// A controller that writes whenever it starts is found without a perturbation.
func TestARestartThatWrites(t *testing.T) {
	s := Scenario{Steps: []Step{create("a")}, Controllers: []Controller{{Run: func(ctx context.Context, c Conn) error {
		if _, _, err := ask(ctx, c, http.MethodPatch, leases+"/a", `{"metadata":{"annotations":{"started-by":"`+c.Name+`x"}}}`); err != nil {
			return err
		}
		return idle(ctx, c)
	}}}}
	r := exploring(t, s, Options{Runs: 1})
	require.NotEmpty(t, r.Findings)
	assert.Equal(t, "a restart at the end writes: update leases default/a by controller.2", r.Findings[0].Text)
	assert.Equal(t, []string{"none"}, r.Findings[0].Plans[:1])
	s.Mask = []string{"leases default/a"}
	assert.Empty(t, found(t, s, Options{Runs: 5}))
}

// What the checks, the API and the processes say by themselves.
func TestWhatIsWrongByItself(t *testing.T) {
	controllers := once(func(ctx context.Context, c Conn) error {
		code, _, err := ask(ctx, c, http.MethodPatch, leases+"/a", `{"metadata":{"labels":{"done":"yes"}}}`)
		switch {
		case err != nil:
			return err
		case code == http.StatusGatewayTimeout:
			panic("cannot happen")
		case code == http.StatusTooManyRequests:
			for ctx.Err() == nil {
				ask(ctx, c, http.MethodGet, leases, "")
			}
		}
		return nil
	})
	s := Scenario{Steps: []Step{create("a")}, Controllers: controllers, Check: func(ctx context.Context, c Conn) error {
		_, body, err := ask(ctx, c, http.MethodGet, leases, "")
		if err == nil && strings.Contains(body, touched) {
			return errors.New("touched")
		}
		return err
	}}
	const request = " patch leases default/a #1"
	assert.Contains(t, found(t, s, Options{Plans: []string{"answer-504" + request}})[0], "controller panics: panic: cannot happen")
	assert.Contains(t, found(t, s, Options{Plans: []string{"answer-429" + request}})[0], "controller sends requests without end")
	assert.Equal(t, []string{`in step 1 "create a": the check fails: touched`}, found(t, s, Options{Plans: []string{"interfere" + request}}))
}

// A controller may try again at once for as long as an event is late: time goes on meanwhile.
func TestAHurryThatEnds(t *testing.T) {
	for seconds, want := range map[int]int{30: 0, 60: 1} {
		s := Scenario{Steps: []Step{create("a")}, Controllers: once(func(ctx context.Context, c Conn) error {
			const done = `{"metadata":{"labels":{"done":"yes"}}}`
			code, _, err := ask(ctx, c, http.MethodPatch, leases+"/a", done)
			if err != nil || code != http.StatusTooManyRequests {
				return err
			}
			for began := time.Now(); ctx.Err() == nil && time.Since(began) < time.Duration(seconds)*time.Second; {
				ask(ctx, c, http.MethodGet, leases, "")
			}
			_, _, err = ask(ctx, c, http.MethodPatch, leases+"/a", done)
			return err
		})}
		assert.Len(t, found(t, s, Options{Plans: []string{"answer-429 patch leases default/a #1"}}), want, "%d s", seconds)
	}
}

// The budgets end an exploration, and the report says what was not run.
func TestBudgets(t *testing.T) {
	s := labels()
	s.API = apitest.New(t)
	r := exploring(t, s, Options{Runs: 3})
	assert.Equal(t, 3, r.Runs)
	assert.NotEmpty(t, r.NotRun)
	assert.Contains(t, r.Summary(), fmt.Sprintf("%d plans were not run", len(r.NotRun)))
	r = exploring(t, s, Options{Budget: 1})
	assert.Zero(t, r.Runs)
	all := exploring(t, s, Options{})
	assert.Empty(t, all.NotRun)
	more := exploring(t, s, Options{Runs: all.Runs + 10})
	assert.Equal(t, all.Runs+10, more.Runs, "random plans fill the rest")
}

// Findings have pages.
func TestPagesOfFindings(t *testing.T) {
	dir := t.TempDir()
	s := labels()
	s.Check = func(ctx context.Context, c Conn) error {
		_, body, err := ask(ctx, c, http.MethodGet, leases, "")
		if err == nil && strings.Contains(body, touched) {
			return errors.New("an annotation <b>too much</b>")
		}
		return err
	}
	r := exploring(t, s, Options{Dir: dir, Plans: []string{"interfere update leases default/a #1"}})
	require.Len(t, r.Findings, 1)
	page, err := os.ReadFile(r.Findings[0].Page)
	require.NoError(t, err)
	assert.Contains(t, string(page), "an annotation &lt;b&gt;too much&lt;/b&gt;")
	assert.Contains(t, string(page), `<tr class="mark">`)
	assert.Contains(t, r.Findings[0].String(), r.Findings[0].Page)
}

// A controller that renews a Lease for ever is at rest: nothing changes but times.
func TestHeartbeatsAreRest(t *testing.T) {
	s := Scenario{Steps: []Step{create("a")}, Controllers: []Controller{{Run: func(ctx context.Context, c Conn) error {
		for ctx.Err() == nil {
			ask(ctx, c, http.MethodPatch, leases+"/a", `{"spec":{"renewTime":"`+time.Now().UTC().Format("2006-01-02T15:04:05.000000Z")+`"}}`)
			sleep(ctx, 10*time.Second)
		}
		return nil
	}}}}
	assert.Empty(t, found(t, s, Options{Plans: []string{"restart 1"}}))
}
