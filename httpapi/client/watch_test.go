package client_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/httpapi/client"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

func TestWatchSendsWhatTheWatchOfAStoreSends(t *testing.T) {
	for name, opts := range map[string]store.WatchOptions{
		"everything":             {},
		"with bookmarks":         {AllowWatchBookmarks: true},
		"one namespace":          {Namespace: "default"},
		"one name":               {Namespace: "default", Name: "a"},
		"one name and a label":   {Name: "a", LabelSelector: "color=blue"},
		"a label":                {LabelSelector: "color=red"},
		"a shard":                {ShardSelector: "shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')"},
		"after a version":        {ResourceVersion: "1001"},
		"with an end":            {Timeout: 30 * time.Second},
		"a long time":            {Timeout: time.Hour, AllowWatchBookmarks: true},
		"a version that expired": {ResourceVersion: "1"},
		"a bad version":          {ResourceVersion: "x"},
		"a bad selector":         {LabelSelector: "!!"},
		"a future version":       {ResourceVersion: "5000"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, apitest.Options{Store: store.Options{Seed: 1}}, func(t *testing.T, api *apitest.API, leases *client.Collection[lease.Lease]) {
				put(t, api.Store(), "a", "1")
				put(t, api.Store(), "b", "1")
				local, remote := record(t, lease.In(api.Store()).Watch, opts), record(t, leases.Watch, opts)
				synctest.Wait()
				colors := []string{"red", "blue"}
				for i := range 6 {
					_, err := lease.In(api.Store()).Modify(t.Context(), "default", "a", func(l *lease.Lease) error {
						l.Labels, l.Spec.HolderIdentity = map[string]string{"color": colors[i%2]}, new(fmt.Sprint(i))
						return nil
					}, store.UpdateOptions{})
					require.NoError(t, err)
				}
				remove(t, api.Store(), "b")
				put(t, api.Store(), "b", "2")
				time.Sleep(opts.Timeout + 10*time.Second)
				want, got := local.next(), remote.next()
				if opts.Timeout < time.Hour {
					assert.Equal(t, want, got)
				} else { // the bookmarks come at other times
					assert.Equal(t, want[:12], got[:12])
				}
				wantEnded, wantErr := local.end()
				ended, err := remote.end()
				assert.Equal(t, wantEnded, ended)
				assert.Equal(t, fmt.Sprint(wantErr), fmt.Sprint(err))
			})
		})
	}
}

// Each fault ends watches in another way. The client sees each change once.
func TestWatchGoesOnAfterItsConnectionIsLost(t *testing.T) {
	for name, fault := range map[string]struct {
		effect apitest.Effect
		verb   string
	}{
		"cut":                    {apitest.CutBefore().First(3), "watch"},
		"cut in mid-event":       {apitest.CutWatch(2), "watch"},
		"ended":                  {apitest.EndWatch(2), "watch"},
		"unavailable":            {apitest.Answer(http.StatusServiceUnavailable).First(5), "watch"},
		"too many requests":      {apitest.Answer(http.StatusTooManyRequests).First(5), "watch"},
		"an error as last event": {apitest.FailWatch(3, meta.Status{Code: http.StatusInternalServerError}), "watch"},
		"lists cut":              {apitest.CutBefore().First(20), "list"},
	} {
		t.Run(name, func(t *testing.T) {
			for way, follow := range map[string]bool{"watch": false, "follow": true} {
				t.Run(way, func(t *testing.T) {
					inBubble(t, apitest.Options{}, func(t *testing.T, api *apitest.API, leases *client.Collection[lease.Lease]) {
						put(t, api.Store(), "a", "0")
						f := api.Fault(fault.effect, apitest.Match{Verb: fault.verb})
						open := leases.Watch
						if follow {
							open = leases.Follow
						}
						w := record(t, open, store.WatchOptions{})
						time.Sleep(time.Minute)
						want := []string{"ADDED a 0"}
						for i := range 20 {
							put(t, api.Store(), "a", fmt.Sprint(i+1))
							want = append(want, fmt.Sprint("MODIFIED a ", i+1))
							if i%3 == 0 {
								time.Sleep(time.Second)
							}
						}
						time.Sleep(time.Minute)
						assert.Equal(t, want, w.next())
						assert.NotZero(t, f.Hits())
						assert.Empty(t, w.err)
					})
				})
			}
		})
	}
}

// The second attempt comes at once, and the pauses before the next ones double, up to 6.4 seconds and as much
// again by chance. An event makes the next failure the first one.
func TestPausesBetweenWatchesGrow(t *testing.T) {
	inBubble(t, apitest.Options{}, func(t *testing.T, api *apitest.API, leases *client.Collection[lease.Lease]) {
		var w *seen
		for range 2 {
			f := api.Fault(apitest.Refuse(), apitest.Match{Verb: "watch"})
			api.ForgetRequests()
			if w == nil {
				w = record(t, leases.Watch, store.WatchOptions{ResourceVersion: "1000"})
			}
			time.Sleep(time.Minute)
			sent := api.Requests()
			require.Greater(t, len(sent), 6)
			if sent[0].Verb == "watch" && sent[1].Time.Equal(sent[0].Time) {
				sent = sent[1:] // the first attempt of all, which nothing precedes
			}
			for n := range sent[1:] {
				pause, least := sent[n+1].Time.Sub(sent[n].Time), 800*time.Millisecond<<min(n, 3)
				assert.True(t, least <= pause && pause < 2*least, "pause %d: %v", n, pause)
			}
			f.Remove()
			put(t, api.Store(), "a", time.Now().String())
			for len(w.next()) == 0 {
				time.Sleep(100 * time.Millisecond)
			}
		}
	})
}

func TestWatchGoesOnAfterALongInterruption(t *testing.T) {
	for _, how := range []apitest.Effect{apitest.Partition(), apitest.Refuse()} {
		t.Run(how.String(), func(t *testing.T) {
			inBubble(t, apitest.Options{}, func(t *testing.T, api *apitest.API, leases *client.Collection[lease.Lease]) {
				w := record(t, leases.Watch, store.WatchOptions{})
				put(t, api.Store(), "a", "1")
				assert.Equal(t, []string{"ADDED a 1"}, w.next())
				f := api.Fault(how, apitest.Match{Client: "client"})
				put(t, api.Store(), "a", "2")
				time.Sleep(time.Hour)
				put(t, api.Store(), "a", "3")
				assert.Empty(t, w.next())
				f.Remove()
				mended := time.Now()
				for len(w.events) < 2 {
					time.Sleep(100 * time.Millisecond)
				}
				assert.Equal(t, []string{"MODIFIED a 2", "MODIFIED a 3"}, w.next())
				assert.Less(t, time.Since(mended), 15*time.Second)
			})
		})
	}
}

// Idle watches are renewed by the client after five to ten minutes, without a new list.
func TestIdleWatchesAreRenewed(t *testing.T) {
	inBubble(t, apitest.Options{}, func(t *testing.T, api *apitest.API, leases *client.Collection[lease.Lease]) {
		w := record(t, leases.Watch, store.WatchOptions{})
		time.Sleep(10 * time.Hour)
		assert.Empty(t, w.next())
		counts := map[string]int{}
		for _, r := range api.Requests() {
			counts[r.Verb]++
		}
		assert.Equal(t, 1, counts["list"])
		assert.InDelta(t, 80, counts["watch"], 20)
		assert.Len(t, counts, 2)
	})
}

// Changes of other objects leave the history. After a quiet time a watch goes on where its last bookmark was.
func TestWatchGoesOnAfterItsLastBookmark(t *testing.T) {
	for name, opts := range map[string]store.WatchOptions{"with bookmarks": {AllowWatchBookmarks: true}, "without": {}} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, apitest.Options{}, func(t *testing.T, api *apitest.API, leases *client.Collection[lease.Lease]) {
				opts.Namespace = "default"
				w := record(t, leases.Watch, opts)
				for i := range 3 {
					other := newLease(fmt.Sprint(i), "1")
					other.Namespace = "other"
					_, err := lease.In(api.Store()).Create(t.Context(), other, store.CreateOptions{})
					require.NoError(t, err)
					time.Sleep(2 * time.Minute) // for a bookmark
					api.Store().ExpireHistory()
					time.Sleep(20 * time.Minute) // for another request
				}
				put(t, api.Store(), "a", "1")
				events := w.next()
				ended, err := w.end()
				assert.False(t, ended, err)
				require.NotEmpty(t, events)
				assert.Equal(t, "ADDED a 1", events[len(events)-1])
			})
		})
	}
}

// readFunc is an io.Reader.
type readFunc func(p []byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }

// What failed before a watch that lasted does not delay the next one.
func TestPauseIsShortAfterAWatchThatLasted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const failing, all = 5, 20
		var pauses []time.Duration // before each request after the first
		last := time.Now()         // the end of the answer before
		leases := leasesAt(t, client.Config{Server: "http://other", Transport: roundTrip(func(*http.Request) (*http.Response, error) {
			pauses = append(pauses, time.Since(last))
			last = time.Now()
			if len(pauses) <= failing {
				return &http.Response{StatusCode: http.StatusServiceUnavailable, Header: http.Header{}, Body: http.NoBody}, nil
			}
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(readFunc(func([]byte) (int, error) {
				time.Sleep(30 * time.Second)
				last = time.Now()
				return 0, io.EOF
			}))}, nil
		})})
		ctx, cancel := context.WithTimeout(t.Context(), all*time.Minute)
		defer cancel()
		for range leases.Watch(ctx, store.WatchOptions{ResourceVersion: "1000"}) {
		}
		require.Greater(t, len(pauses), all)
		assert.Greater(t, pauses[failing], 5*time.Second, "after failures")
		for _, pause := range pauses[failing+1:] {
			assert.Less(t, pause, 2*time.Second)
		}
	})
}

func TestWatchEndsIfHistoryIsLostAndFollowListsAgain(t *testing.T) {
	inBubble(t, apitest.Options{}, func(t *testing.T, api *apitest.API, leases *client.Collection[lease.Lease]) {
		st := api.Store()
		for _, name := range []string{"kept", "changed", "deleted", "replaced"} {
			put(t, st, name, "1")
		}
		w, f := record(t, leases.Watch, store.WatchOptions{}), record(t, leases.Follow, store.WatchOptions{})
		initial := []string{"ADDED changed 1", "ADDED deleted 1", "ADDED kept 1", "ADDED replaced 1"}
		assert.Equal(t, initial, w.next())
		assert.Equal(t, initial, f.next())
		cut := api.Fault(apitest.Refuse(), apitest.Match{Client: "client"})
		put(t, st, "changed", "2")
		put(t, st, "changed", "3")
		remove(t, st, "deleted")
		remove(t, st, "replaced")
		put(t, st, "replaced", "2")
		put(t, st, "new", "1")
		st.ExpireHistory()
		cut.Remove()
		time.Sleep(time.Minute)
		ended, err := w.end()
		assert.True(t, ended)
		assert.ErrorIs(t, err, store.ErrExpired)
		assert.Empty(t, w.next())
		assert.Equal(t, []string{"MODIFIED changed 3", "ADDED new 1", "DELETED replaced 1", "ADDED replaced 2", "DELETED deleted 1"}, f.next())
		put(t, st, "new", "2")
		assert.Equal(t, []string{"MODIFIED new 2"}, f.next())
	})
}

// The consumer of a Follow may change the objects that it gets.
func TestFollowKeepsItsOwnCopies(t *testing.T) {
	inBubble(t, apitest.Options{}, func(t *testing.T, api *apitest.API, leases *client.Collection[lease.Lease]) {
		put(t, api.Store(), "a", "1")
		var got []string
		for ev, err := range leases.Follow(t.Context(), store.WatchOptions{}) {
			require.NoError(t, err)
			got = append(got, text(ev))
			*ev.Object = lease.Lease{}
			if len(got) > 1 {
				break
			}
			api.Fault(apitest.ExpireHistory().Then(apitest.CutBefore()).First(1), apitest.Match{Verb: "watch"})
			remove(t, api.Store(), "a")
		}
		assert.Equal(t, []string{"ADDED a 1", "DELETED a 1"}, got)
	})
}

// Without a version a watch begins with the present state, not with one that a replica may still have.
func TestWatchAsksForTheStateThatItsVersionNames(t *testing.T) {
	for version, want := range map[string][]string{"": {""}, "0": {"0"}, "1000": nil} {
		inBubble(t, apitest.Options{}, func(t *testing.T, api *apitest.API, leases *client.Collection[lease.Lease]) {
			record(t, leases.Watch, store.WatchOptions{ResourceVersion: version})
			synctest.Wait()
			var got []string
			for _, r := range api.Requests() {
				if r.Verb == "list" {
					got = append(got, r.Query.Get("resourceVersion"))
				}
			}
			assert.Equal(t, want, got, "lists of a watch with version %q", version)
		})
	}
}

func TestWatchEndsWithAnErrorThatLasts(t *testing.T) {
	for name, row := range map[string]struct {
		code int32
		want error
	}{
		"forbidden": {http.StatusForbidden, meta.ReasonForbidden}, "unauthorized": {http.StatusUnauthorized, meta.ReasonUnauthorized},
		"expired": {http.StatusGone, store.ErrExpired}, "no such kind": {http.StatusNotFound, store.ErrNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, apitest.Options{}, func(t *testing.T, api *apitest.API, leases *client.Collection[lease.Lease]) {
				w := record(t, leases.Watch, store.WatchOptions{})
				synctest.Wait()
				api.Fault(apitest.Answer(int(row.code)))
				time.Sleep(10 * time.Minute)
				ended, err := w.end()
				assert.True(t, ended)
				assert.ErrorIs(t, err, row.want)
			})
		})
	}
}

func TestWatchThatCannotListEnds(t *testing.T) {
	leases := leasesAt(t, client.Config{Server: "http://other", Transport: roundTrip(func(req *http.Request) (*http.Response, error) {
		code, body := http.StatusForbidden, `{"kind":"Status","status":"Failure","reason":"Forbidden","details":{"kind":"leases"},"code":403}`
		if req.URL.Query().Get("watch") == "true" {
			code, body = http.StatusOK, `{"type":"ERROR","object":{"kind":"Status","status":"Failure","code":404}}`
		}
		return &http.Response{StatusCode: code, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}, nil
	})})
	for _, err := range leases.Watch(t.Context(), store.WatchOptions{}) {
		assert.ErrorIs(t, err, meta.ReasonForbidden)
	}
}

func TestWatchOfANameAndAField(t *testing.T) {
	inBubble(t, apitest.Options{}, func(t *testing.T, api *apitest.API, leases *client.Collection[lease.Lease]) {
		w := record(t, leases.Watch, store.WatchOptions{Name: "a", FieldSelector: "metadata.namespace!=default", Timeout: time.Minute})
		put(t, api.Store(), "a", "1")
		time.Sleep(time.Hour)
		assert.Empty(t, w.next())
	})
}

// When only the context ends, the error is the error of the context.
func TestWatchOfAContextThatEnds(t *testing.T) {
	inBubble(t, apitest.Options{}, func(t *testing.T, _ *apitest.API, leases *client.Collection[lease.Lease]) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var last error
		for _, err := range leases.Watch(ctx, store.WatchOptions{ResourceVersion: "1000"}) {
			last = err
		}
		assert.Equal(t, context.DeadlineExceeded, last)
	})
}

func TestWatchTellsWhyItWaitedUntilTheEndOfItsContext(t *testing.T) {
	inBubble(t, apitest.Options{}, func(t *testing.T, api *apitest.API, leases *client.Collection[lease.Lease]) {
		api.Fault(apitest.Answer(http.StatusServiceUnavailable))
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		var last error
		for _, err := range leases.Watch(ctx, store.WatchOptions{}) {
			last = err
		}
		assert.ErrorIs(t, last, context.DeadlineExceeded)
		assert.ErrorIs(t, last, meta.ReasonServiceUnavailable)
		assert.InDelta(t, 380, len(api.Requests()), 60, "a pause of 6.4 to 12.8 seconds")
	})
}

func TestLoopThatEndsClosesItsWatch(t *testing.T) {
	inBubble(t, apitest.Options{}, func(t *testing.T, api *apitest.API, leases *client.Collection[lease.Lease]) {
		for _, open := range []watchFunc{leases.Watch, leases.Follow} {
			put(t, api.Store(), "a", "1")
			put(t, api.Store(), "b", "1")
			for range open(t.Context(), store.WatchOptions{}) {
				break
			}
			n := 0
			for range open(t.Context(), store.WatchOptions{}) {
				if n++; n == 3 {
					break
				}
				if n == 2 {
					put(t, api.Store(), "a", "2")
				}
			}
			synctest.Wait()
			assert.Zero(t, api.Store().Watchers())
		}
	})
}
