package apitest_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/store/meta"
)

func TestRequestsTellHowWatchesEnded(t *testing.T) {
	const protobuf = "application/vnd.kubernetes.protobuf;stream=watch"
	for name, row := range map[string]struct {
		query  string
		effect apitest.Effect
		end    func(d *door, cancel func())
		want   string
	}{
		"timeout":    {"&timeoutSeconds=7", apitest.Effect{}, nil, "200, ended after 2 events, 7s"},
		"the client": {"", apitest.Effect{}, func(_ *door, cancel func()) { cancel() }, "200, left after 2 events, 2s"},
		"expired":    {"", apitest.FailWatch(2, meta.Status{Code: 410}), nil, "200, 410 after 2 events, 0s"},
		"cut":        {"", apitest.CutWatch(1), nil, "200, cut after 1 events, 0s"},
		"refused":    {"", apitest.Effect{}, func(d *door, _ func()) { d.Fault(apitest.Refuse()) }, "200, cut after 2 events, 2s"},
		"history":    {"&resourceVersion=999", apitest.Effect{}, nil, "200, 410 after 0 events, 0s"},
		"the API":    {"", apitest.Effect{}, func(d *door, _ func()) { d.Close() }, "200, ended after 2 events, 2s"},
		"open":       {"", apitest.Effect{}, func(*door, func()) {}, "200, open after 2 events"},
	} {
		for _, accept := range []string{"application/json", protobuf} {
			t.Run(name+" "+accept, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					d := newDoor(t)
					d.create(t, "a")
					d.create(t, "b")
					if row.effect.String() != "" {
						d.Fault(row.effect, apitest.Match{Verb: "watch"})
					}
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					req, err := http.NewRequestWithContext(ctx, "GET", d.base+leases+"?watch=true"+row.query, nil)
					require.NoError(t, err)
					req.Header.Set("Accept", accept)
					done := make(chan struct{})
					go func() {
						defer close(done)
						if resp, err := d.client.Do(req); err == nil {
							defer resp.Body.Close()
							for b := make([]byte, 100); err == nil; {
								_, err = resp.Body.Read(b)
							}
						}
					}()
					time.Sleep(2 * time.Second)
					if row.end != nil {
						row.end(d, cancel)
					}
					if name != "open" {
						<-done
					}
					synctest.Wait()
					watches := d.Requests().Where(apitest.Match{Verb: "watch"}.Matches)
					assert.Equal(t, "watch leases default/* "+row.want, watches[0].Ended())
					watches.Assert(t, "watch leases default/* "+row.want)
				})
			})
		}
	}
}

func TestAssertTakesEitherForm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(t)
		d.do(t, "GET", leases+"?watch=true&timeoutSeconds=1", "")
		rs := d.Requests()
		assert.True(t, rs.Assert(t, "watch leases default/* 200"))
		assert.True(t, rs.Assert(t, "watch leases default/* 200, ended after 0 events, 1s"))
		message := failure(t, func(t testing.TB) { rs.Assert(t, "watch leases default/* 200, ended after 1 events, 1s") })
		assert.Contains(t, message, "- watch leases default/* 200, ended after 1 events, 1s\n  + watch leases default/* 200\n")
	})
}

func TestTimelineShowsWhoDidWhat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := apitest.New(t)
		doorFor(api, "worker").do(t, "POST", leases, `{"metadata":{"generateName":"g-"}}`)
		time.Sleep(1500 * time.Millisecond)
		api.Fault(apitest.CutAfter(), apitest.Match{Verb: "create"})
		doorFor(api, "x").do(t, "POST", leases, leaseNamed("a"))
		doorTo(api).do(t, "GET", "/version", "")
		name := api.Requests()[0].Result.Name
		assert.Equal(t, []string{
			"  0s  worker  create leases default/" + name + " 201",
			"1.5s  x       create leases default/a cut  <- create *: cut after",
			"1.5s          get /version 200",
		}, api.Requests().Timeline())
		assert.Empty(t, apitest.Requests{}.Timeline())
	})
}

// failed is a TB of a test that has failed, or not.
type failed struct {
	testing.TB
	is       bool
	cleanups []func()
	log      []string
}

func (f *failed) Failed() bool      { return f.is }
func (f *failed) Cleanup(do func()) { f.cleanups = append(f.cleanups, do) }
func (f *failed) Logf(text string, args ...any) {
	f.log = append(f.log, strings.TrimSpace(args[2].(string)))
}

func TestFailedTestShowsItsTimeline(t *testing.T) {
	for _, is := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			f := &failed{TB: t, is: is}
			doorFor(apitest.New(f), "x").create(t, "a")
			f.cleanups[0]()
			want := []string(nil)
			if is {
				want = []string{"0s  x  create leases default/a 201"}
			}
			assert.Equal(t, want, f.log)
		})
	}
}
