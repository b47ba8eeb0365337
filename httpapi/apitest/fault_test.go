package apitest_test

import (
	"context"
	"encoding/json"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store/meta"
)

func TestAnswersAreCompletedAsByARealServer(t *testing.T) {
	for name, row := range map[string]struct {
		answer  meta.Status
		method  string
		reason  string
		message string
		after   string
	}{
		"conflict":             {meta.Status{Code: 409}, "PUT", "Conflict", `Operation cannot be fulfilled on leases.coordination.k8s.io "a": the object has been modified; please apply your changes to the latest version and try again`, ""},
		"conflict at a create": {meta.Status{Code: 409}, "POST", "Conflict", `Operation cannot be fulfilled on resourcequotas "quota": the object has been modified; please apply your changes to the latest version and try again`, ""},
		"too many requests":    {meta.Status{Code: 429, Details: &meta.StatusDetails{RetryAfterSeconds: 7}}, "GET", "TooManyRequests", "the server has received too many requests and has asked us to try again later", "7"},
		"unauthorized":         {meta.Status{Code: 401}, "GET", "Unauthorized", "the server has asked for the client to provide credentials", ""},
		"internal error":       {meta.Status{Code: 500}, "GET", "InternalError", "Internal error occurred: a fault", ""},
		"unavailable":          {meta.Status{Code: 503}, "GET", "ServiceUnavailable", "the server is currently unable to handle the request", ""},
		"gateway timeout":      {meta.Status{Code: 504}, "GET", "Timeout", "the server was unable to return a response in the time allotted, but may still be processing the request", ""},
		"expired":              {meta.Status{Code: 410}, "GET", "Expired", "The resourceVersion for the provided get is too old.", ""},
		"not found":            {meta.Status{Code: 404}, "GET", "NotFound", `leases.coordination.k8s.io "a" not found`, ""},
		"of one's own":         {meta.Status{Code: 418, Reason: "Tea", Message: "short and stout"}, "GET", "Tea", "short and stout", ""},
	} {
		t.Run(name, func(t *testing.T) {
			eachDoor(t, func(t *testing.T, d *door) {
				f := d.Fault(apitest.AnswerStatus(row.answer))
				target := leasesA
				if row.method == "POST" {
					target = leases
				}
				a := d.do(t, row.method, target, leaseNamed("a"), "Accept", "application/json")
				require.Equal(t, int(row.answer.Code), a.code, a)
				var s struct {
					Kind, Status, Reason, Message string
					Details                       struct{ Name, Group, Kind string }
				}
				require.NoError(t, json.Unmarshal([]byte(a.body), &s))
				assert.Equal(t, []string{"Status", "Failure", row.reason, row.message}, []string{s.Kind, s.Status, s.Reason, s.Message})
				assert.Equal(t, row.after, a.header.Get("Retry-After"))
				assert.NotEmpty(t, a.header.Get("Audit-Id"), "as every answer has")
				assert.Equal(t, 1, f.Hits())
				assert.EqualValues(t, 1000, (*registry.Store)(d.Store()).ResourceVersion(), "the API did not see it")
				if row.method != "POST" && row.reason == "Conflict" || row.reason == "TooManyRequests" {
					assert.Equal(t, "a leases", s.Details.Name+" "+s.Details.Kind)
				}
			})
		})
	}
}

// A create of an object that exists is AlreadyExists; no client learns of an object that does not.
func TestConflictOfACreateIsTrue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(t)
		d.create(t, "a")
		d.Fault(apitest.Answer(409))
		for body, want := range map[string]string{
			leaseNamed("a"):                        `leases.coordination.k8s.io \"a\" already exists`,
			leaseNamed("b"):                        `Operation cannot be fulfilled on resourcequotas`,
			`{"metadata":{"generateName":"a"}}`:    `Operation cannot be fulfilled on resourcequotas`,
			`{"metadata":{"generateName":"a"},"x"`: `Operation cannot be fulfilled on resourcequotas`,
		} {
			a := d.do(t, "POST", leases, body)
			assert.Equal(t, http.StatusConflict, a.code)
			assert.Contains(t, a.body, want)
		}
	})
}

func TestCutBeforeTheCommitChangesNothing(t *testing.T) {
	eachDoor(t, func(t *testing.T, d *door) {
		d.create(t, "warm") // a connection that was used is cut in the same way
		for _, method := range []string{"POST", "GET"} {
			f := d.Fault(apitest.CutBefore())
			assertCut(t, d, d.do(t, method, leases, leaseNamed("a")))
			assert.Equal(t, 1, f.Hits(), "the client does not repeat the request")
			f.Remove()
		}
		assert.Equal(t, http.StatusNotFound, d.do(t, "GET", leasesA, "").code)
	})
}

func TestCutAfterTheCommitKeepsTheChange(t *testing.T) {
	eachDoor(t, func(t *testing.T, d *door) {
		f := d.Fault(apitest.CutAfter(), apitest.Match{Verb: "create"})
		assertCut(t, d, d.do(t, "POST", leases, leaseNamed("a")))
		assert.Equal(t, 1, f.Hits())
		assert.Equal(t, http.StatusOK, d.do(t, "GET", leasesA, "").code)
	})
}

func TestHangLastsUntilTheClientGivesUp(t *testing.T) {
	eachDoor(t, func(t *testing.T, d *door) {
		f := d.Fault(apitest.Hang(), apitest.Match{Verb: "update"})
		ctx, cancel := context.WithCancel(t.Context())
		req, err := http.NewRequestWithContext(ctx, "PUT", d.base+leasesA, strings.NewReader(leaseNamed("a")))
		require.NoError(t, err)
		end := make(chan error, 1)
		go func() {
			_, err := d.client.Do(req)
			end <- err
		}()
		for f.Hits() == 0 {
			runtime.Gosched()
		}
		cancel()
		require.ErrorIs(t, <-end, context.Canceled)
		for !d.Requests()[0].Done {
			runtime.Gosched() // the server notices, too
		}
		assert.Equal(t, "update leases default/a cut", d.Requests()[0].String())
		assert.Equal(t, http.StatusNotFound, d.do(t, "GET", leasesA, "").code, "it was not carried out")
	})
}

func TestDelayDelaysARequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(t)
		d.Fault(apitest.Delay(time.Minute), apitest.Match{Verb: "get"})
		d.Fault(apitest.Delay(time.Second).Then(apitest.Answer(503)), apitest.Match{Name: "a"})
		start := time.Now()
		assert.Equal(t, http.StatusServiceUnavailable, d.do(t, "GET", leasesA, "").code)
		assert.Equal(t, 61*time.Second, time.Since(start), "delays add up")
		assert.Equal(t, http.StatusOK, d.do(t, "GET", leases, "").code)
		assert.Equal(t, 61*time.Second, time.Since(start), "a list is no get")
	})
}

func TestRequestCancelledDuringADelayHasNoEffect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(t)
		d.Fault(apitest.Delay(time.Minute), apitest.Match{Verb: "create"})
		d.client.Timeout = time.Second
		require.ErrorIs(t, d.do(t, "POST", leases, leaseNamed("a")).err, context.DeadlineExceeded)
		synctest.Wait()
		assert.EqualValues(t, 1000, (*registry.Store)(d.Store()).ResourceVersion())
		assert.Equal(t, "create leases default/a cut", d.Requests()[0].String())
	})
}

func TestExpireHistoryComesBeforeTheRequest(t *testing.T) {
	eachDoor(t, func(t *testing.T, d *door) {
		d.create(t, "a")
		f := d.Fault(apitest.ExpireHistory().First(1), apitest.Match{Verb: "watch"})
		assert.Equal(t, "ERROR 410", d.watch(t, leases+"?watch=true&resourceVersion=1000").next())
		assert.Equal(t, 1, f.Hits())
		d.create(t, "b")
		assert.Equal(t, "ADDED b", d.watch(t, leases+"?watch=true&resourceVersion=1001").next(), "history goes on from there")
	})
}

func TestSilentPartitionDelaysNewAndRunningRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := apitest.New(t)
		a := doorFor(api, "a")
		b := doorFor(api, "b")
		watchA, watchB := a.watch(t, leases+"?watch=true"), b.watch(t, leases+"?watch=true")
		f := api.Fault(apitest.Partition(), apitest.Match{Client: "a"})
		assert.Equal(t, 1, f.Hits(), "the watch of a")
		assert.Equal(t, 1, f.Matches())
		got := make(chan string, 1)
		go func() { got <- watchA.next() }()
		answers := make(chan answer, 1)
		go func() { answers <- a.do(t, "GET", leases+"/x", "") }()
		b.create(t, "x")
		assert.Equal(t, "ADDED x", watchB.next())
		time.Sleep(20 * time.Minute) // less than the default timeout of a watch
		synctest.Wait()
		assert.Empty(t, got)
		assert.Empty(t, answers)
		a.client.Timeout = time.Second
		require.ErrorIs(t, a.do(t, "GET", leases, "").err, context.DeadlineExceeded)
		a.client.Timeout = 0

		f.Remove()
		assert.Equal(t, "ADDED x", <-got)
		assert.Equal(t, http.StatusOK, (<-answers).code)
		assert.Equal(t, 3, f.Hits())
	})
}

func TestRefusedPartitionCutsNewAndRunningRequests(t *testing.T) {
	eachDoor(t, func(t *testing.T, d *door) {
		w := d.watch(t, leases+"?watch=true", "User-Agent", "elector/1.0")
		other := d.watch(t, leases+"?watch=true", "User-Agent", "other/1.0")
		f := d.Fault(apitest.Refuse(), apitest.Match{UserAgent: "elector"})
		assert.Equal(t, "0 bytes, unexpected EOF", w.next())
		assertCut(t, d, d.do(t, "GET", leases, "", "User-Agent", "elector/1.0"))
		assert.Equal(t, 2, f.Hits())
		d.create(t, "a")
		assert.Equal(t, "ADDED a", other.next(), "others are none the wiser")
		f.Remove()
		assert.Equal(t, http.StatusOK, d.do(t, "GET", leases, "", "User-Agent", "elector/1.0").code)
		assert.Empty(t, d.Faults())
	})
}

func TestRefusedPartitionCutsAnUnreadAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(t)
		d.watch(t, leases+"?watch=true")
		for range 400 {
			_, err := lease.In(d.Store()).Create(t.Context(), leaseOf(""), storeOptions)
			require.NoError(t, err)
		}
		for i := range 40 {
			l := leaseOf("big")
			l.Name += string(rune('a'+i%26)) + string(rune('a'+i/26))
			l.Annotations = map[string]string{"a": strings.Repeat("v", 20_000)}
			_, err := lease.In(d.Store()).Create(t.Context(), l, storeOptions)
			require.NoError(t, err)
		}
		synctest.Wait()
		require.False(t, d.Requests()[0].Done, "it waits for its reader")
		d.Fault(apitest.Refuse())
		synctest.Wait()
		assert.True(t, d.Requests()[0].Done)
		assert.Equal(t, "watch leases default/* 200 cut", d.Requests()[0].String())
	})
}

func TestFaultsApplyInOrderUntilOneEndsTheRequest(t *testing.T) {
	eachDoor(t, func(t *testing.T, d *door) {
		first := d.Fault(apitest.Answer(503).First(1))
		second := d.Fault(apitest.Answer(500))
		assert.Equal(t, 503, d.do(t, "GET", leases, "").code)
		assert.Equal(t, []int{1, 0}, []int{first.Hits(), second.Matches()})
		assert.Equal(t, 500, d.do(t, "GET", leases, "").code)
		assert.Equal(t, []int{1, 1}, []int{first.Hits(), second.Hits()})
		assert.Equal(t, 2, first.Matches())
		assert.Equal(t, []*apitest.Fault{first, second}, d.Faults())
		second.Remove()
		second.Remove()
		assert.Equal(t, []*apitest.Fault{first}, d.Faults())
		assert.Equal(t, 200, d.do(t, "GET", leases, "").code)
		assert.Equal(t, 1, second.Hits(), "it counts no more")
		assert.Equal(t, []*apitest.Fault{second}, d.Requests()[1].Faults)
	})
}
