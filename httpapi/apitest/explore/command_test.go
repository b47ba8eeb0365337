package explore

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/apitest"
)

// command is a Controller that is one of the programs of TestMain.
func command(name string) Controller {
	return Controller{Name: strings.ReplaceAll(name, " ", "-"), Command: []string{os.Args[0]}, Env: []string{"EXPLORE_PROGRAM=" + name}}
}

// comeAndGone are steps that create a Lease and delete it.
func comeAndGone() []Step {
	return []Step{create("a"), {"delete a", func(ctx context.Context, c Conn) error {
		_, _, err := ask(ctx, c, http.MethodDelete, leases+"/a", "")
		return err
	}}}
}

// searching returns what a search finds about a program, by these plans if there are any. It waits for less time than others do.
func searching(t *testing.T, c Controller, plans ...string) (*Report, error) {
	t.Helper()
	anonymous := func(r *http.Request) (httpapi.User, bool) { return httpapi.User{}, r.Header.Get("Authorization") == "" }
	api := apitest.New(t, apitest.Options{API: httpapi.Options{Authenticate: anonymous}})
	s := Scenario{API: api, Controllers: []Controller{c}, Steps: comeAndGone()}
	x := newExplorer(nil, s, Options{Plans: plans, Logf: t.Logf, Quiet: time.Second, Parallel: 16})
	x.ctx, x.pace.start, x.pace.term = t.Context(), 3*time.Second, 2*time.Second
	return x.search()
}

// atOnce calls functions that wait most of the time.
func atOnce(all ...func()) {
	var waits sync.WaitGroup
	for _, f := range all {
		waits.Go(f)
	}
	waits.Wait()
}

// Of three programs one is right, one forgets what was deleted while it did not run, and one takes no notice of SIGTERM: that is found by the plan that
// is about it, and the program is killed in other runs. A fourth has one address for all its runs: no two go on at the same time, undisturbed, with a plan,
// and to confirm a finding.
func TestPrograms(t *testing.T) {
	t.Parallel()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	alone, taken := command("alone"), filepath.Join(t.TempDir(), "taken")
	alone.Env = append(alone.Env, "ADDRESS="+free.Addr().String(), "TAKEN="+taken)
	require.NoError(t, free.Close())
	oneAtATime := Options{Plans: []string{"restart 1", "down 2"}, Quiet: 300 * time.Millisecond, Parallel: 1}
	plans := []string{
		"crash-before delete endpoints default/a #1", "crash-after create endpoints default/a #1", "down 2", "restart 1", "terminate 1", "stale-restart 2 before delete leases default/a #1",
		"lost-answer create endpoints default/a #1", "answer-429 delete endpoints default/a #1", "slow-events leases", "expire-watch leases", "interfere delete endpoints default/a #1",
	}
	right := command("mirror")
	right.TLS = true
	var rightly, carelessly, staying, alike *Report
	var errs [4]error
	atOnce(
		func() { rightly, errs[0] = searching(t, right, plans...) },
		func() { carelessly, errs[1] = searching(t, command("careless"), plans...) },
		func() { staying, errs[2] = searching(t, command("stays"), "terminate 1", "restart 1") },
		func() {
			alike, errs[3] = Search(t.Context(), Scenario{API: apitest.New(t), Controllers: []Controller{alone}, Steps: comeAndGone()}, oneAtATime)
		},
	)
	require.NoError(t, errors.Join(errs[:]...))
	assert.Equal(t, len(plans), rightly.Runs)
	assert.Empty(t, rightly.Findings)

	require.Len(t, carelessly.Findings, 1)
	f := carelessly.Findings[0]
	assert.Equal(t, `after step 2 "delete a": endpoints default/a exists, in the undisturbed run it does not`, f.Text)
	assert.Equal(t, "crash-before delete endpoints default/a #1", f.Plans[0])
	assert.Contains(t, f.Plans, "down 2")
	assert.Equal(t, 3, f.Again)
	require.NotEmpty(t, f.Outputs)
	assert.Contains(t, f.String(), "again 3 of 3 times by -plan='crash-before delete endpoints default/a #1'")
	assert.Contains(t, f.String(), "output of careless; its last lines:\n    careless begins")

	require.Len(t, staying.Findings, 1)
	assert.Contains(t, staying.Findings[0].Text, "stays: it does not end after SIGTERM within 2s")
	assert.Equal(t, []string{"terminate 1"}, staying.Findings[0].Plans)

	require.Len(t, alike.Findings, 1)
	assert.Equal(t, []string{"down 2"}, alike.Findings[0].Plans)
	assert.Equal(t, 3, alike.Findings[0].Again)
	assert.NoFileExists(t, taken)
}

// A program with which no search can begin is named, with its output.
func TestProgramsThatCannotBeExplored(t *testing.T) {
	missing := command("mirror")
	missing.Command = []string{"./no-such-program"}
	text := filepath.Join(t.TempDir(), "text")
	require.NoError(t, os.WriteFile(text, []byte("not a program"), 0o755))
	broken := command("mirror")
	broken.Command = []string{text}
	var all []func()
	for _, c := range []struct {
		name string
		Controller
		want []string
	}{
		{"missing", missing, []string{`Scenario.Controllers[0].Command: got "./no-such-program", want a program`}},
		{"broken", broken, []string{"Scenario.Controllers[0].Command: the command does not start"}},
		{"ends", command("ends"), []string{"ends ends by itself: exit status 1", "Error: the disk is full"}},
		{"panics", command("panics"), []string{"panics panics: exit status 2", "panic: no map"}},
		{"in a Pod only", command("pod"), []string{"it reads the configuration of a Pod: it must read $KUBECONFIG", "unable to load in-cluster configuration"}},
		{"no certificate", command("webhook"), []string{"it serves a webhook and has no certificate: switch the webhook off, or pass the port {webhook}"}},
		{"taken port", command("port"), []string{"give it an address with {port}, which is a free port of each run"}},
		{"another server", command("elsewhere"), []string{"elsewhere has sent no request to the server within 3s: it must read $KUBECONFIG", "connecting to 192.0.2.1"}},
		{"no watch", command("asks once"), []string{"asks-once has opened no watch and asks for nothing again within 3s, after 1 request"}},
		{"no change", command("looks"), []string{"the controllers change nothing in an undisturbed run", "output of looks; its last lines:\n    looks begins"}},
		{"writes without end", command("writes"), []string{"nothing comes to rest in the start: it writes without end", "update leases default/busy by writes", "output of writes"}},
	} {
		all = append(all, func() {
			_, err := searching(t, c.Controller)
			for _, want := range c.want {
				assert.ErrorContains(t, err, want, c.name)
			}
		})
	}
	atOnce(all...)
}

// A Command is checked before anything runs.
func TestCommandsAreChecked(t *testing.T) {
	for want, change := range map[string]func(c *Controller){
		`Command: got no program, want its name or path first`:                               func(c *Controller) { c.Command = []string{} },
		`Env[1]: got "A", want "NAME=value"`:                                                 func(c *Controller) { c.Env = append(c.Env, "A") },
		`Dir: got "nowhere", want a folder`:                                                  func(c *Controller) { c.Dir = "nowhere" },
		`Scenario.Controllers[0]: got Run and Command, want one of them`:                     func(c *Controller) { c.Run = idle },
		`Scenario.Controllers[0].Run: got nil, want a function, or a Command`:                func(c *Controller) { *c = Controller{} },
		`Scenario.Controllers[0].Command: got none, want one for Env, Dir, TLS and Webhooks`: func(c *Controller) { *c = Controller{Run: idle, TLS: true} },
	} {
		c := command("mirror")
		change(&c)
		_, err := searching(t, c)
		assert.ErrorContains(t, err, want)
	}
}

// At its request the process is cut off: nothing that it sends at the same time or later is carried out, and the process that follows has the same address.
func TestCrashOfAProgramIsExact(t *testing.T) {
	t.Parallel()
	s := Scenario{API: apitest.New(t), Controllers: []Controller{command("two at once")}, Steps: comeAndGone()[:1]}
	x := newExplorer(nil, s, Options{Quiet: 300 * time.Millisecond}) // states are not compared
	x.ctx, x.dir = t.Context(), t.TempDir()
	require.NoError(t, x.prepare())
	require.NoError(t, x.refer())
	for _, text := range []string{"crash-after create endpoints default/a #1", "crash-before create endpoints default/a #1"} {
		p, err := parsePlan(text)
		require.NoError(t, err)
		l := x.live(&p, 0, true)
		crashed, after := false, 0
		for _, e := range l.timeline() {
			switch {
			case e.Who == "two-at-once" && strings.HasPrefix(e.Text, "crashes"):
				crashed = true
			case crashed && e.Who == "two-at-once":
				t.Errorf("%s: after its crash: %s", text, e.Text)
			case e.Who == "two-at-once.2" && strings.HasPrefix(e.Text, "watch"):
				after++
			}
		}
		assert.True(t, crashed, text)
		assert.Equal(t, 1, after, text)
		for i := range l.changes {
			if c := &l.changes[i]; c.by != nil && c.by.name == "two-at-once" && c.target.object == "default/a" {
				assert.Equal(t, "crash-after", p.action)
			}
		}
	}
}

// The process does not see that its connection breaks before it is killed: it asks for nothing after the request at which it crashes.
func TestProcessDoesNotNoticeItsCrash(t *testing.T) {
	t.Parallel()
	s := Scenario{API: apitest.New(t), Controllers: []Controller{command("notices")}, Steps: comeAndGone()[:1]}
	x := newExplorer(nil, s, Options{Quiet: time.Second})
	x.ctx, x.dir = t.Context(), t.TempDir()
	require.NoError(t, x.prepare())
	require.NoError(t, x.refer())
	noticed := map[string]bool{}
	var mu sync.Mutex
	var all []func()
	for i, text := range []string{"lost-answer create endpoints default/a #1", "crash-after create endpoints default/a #1", "crash-before create endpoints default/a #1"} {
		p, err := parsePlan(text)
		require.NoError(t, err)
		for range 1 + 8*min(i, 1) { // many at once, so that goroutines wait for each other
			all = append(all, func() {
				l := x.live(&p, 0, true)
				mu.Lock()
				defer mu.Unlock()
				if slices.ContainsFunc(l.timeline(), func(e *entry) bool { return strings.HasPrefix(e.Text, "get leases default/noticed") }) {
					noticed[p.action] = true
				}
			})
		}
	}
	atOnce(all...)
	assert.Equal(t, map[string]bool{lostAnswer: true}, noticed)
}

func TestWatchesAreKnown(t *testing.T) {
	for query, want := range map[string]bool{"": false, "?watch=0": false, "?watch=False": false, "?watch=True": true, "?watch=1": true, "?watch": true} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://api/api/v1/pods"+query, http.NoBody)
		require.NoError(t, err)
		assert.Equal(t, want, isWatch(r), query)
	}
}
