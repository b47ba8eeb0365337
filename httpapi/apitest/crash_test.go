package apitest_test

import (
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
)

func TestCrashEndsOneClientAtOneRequest(t *testing.T) {
	for name, row := range map[string]struct {
		crash func(func()) apitest.Effect
		done  bool // the request is carried out
	}{
		"before": {apitest.CrashBefore, false},
		"after":  {apitest.CrashAfter, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDoor(t)
				crashes := 0
				f := d.Fault(row.crash(func() { crashes++ }).Nth(2), apitest.Match{Verb: "create", Client: "x"})
				x, y := doorFor(d.API, "x"), doorFor(d.API, "y")
				x.create(t, "a")
				mine, other := x.watch(t, leases+"?watch=true&resourceVersion=1001"), y.watch(t, leases+"?watch=true&resourceVersion=1001")
				assertCut(t, x, x.do(t, "POST", leases, leaseNamed("b")))
				assert.Equal(t, 1, crashes)
				if row.done {
					assert.Equal(t, "ADDED b", other.next())
				}
				for got := ""; got != "0 bytes, unexpected EOF"; got = mine.next() { // the event may have come before the end
					assert.Contains(t, []string{"", "ADDED b"}, got)
				}
				assertCut(t, x, x.do(t, "GET", leasesA, ""))
				assertCut(t, x, x.do(t, "POST", leases, leaseNamed("c")))
				y.create(t, "d")
				assert.Equal(t, "ADDED d", other.next())
				assert.Equal(t, 1, f.Hits())
				assert.Equal(t, "create * client=x: crash "+name+" (request 2)", f.String())

				f.Remove()
				assert.Equal(t, http.StatusOK, x.do(t, "GET", leasesA, "").code)
				assert.Equal(t, row.done, x.do(t, "GET", leases+"/b", "").code == http.StatusOK)
				x.create(t, "c")
				assert.Equal(t, 1, crashes)
			})
		})
	}
}

// Over a socket clients have no names. The fault names a part of the User-Agent, or else requests with that of the crashed one in theirs
// are of its client: client-go adds a word to the User-Agent of an elector.
func TestClientWithoutANameCrashesByItsUserAgent(t *testing.T) {
	for _, row := range []struct {
		match string
		cut   []string // the User-Agents of other requests that are cut
	}{
		{"worker", []string{"worker/1", "worker/1 elector", "worker/2"}},
		{"", []string{"worker/1", "worker/1 elector"}},
	} {
		d := newDoor(t)
		f := d.Fault(apitest.CrashBefore(func() {}), apitest.Match{Verb: "create", UserAgent: row.match})
		assertCut(t, d, d.do(t, "POST", leases, leaseNamed("a"), "User-Agent", "worker/1"))
		var cut []string
		for _, agent := range []string{"", "other/1", "worker/1", "worker/1 elector", "worker/2"} {
			if d.do(t, "GET", leasesA, "", "User-Agent", agent).err != nil {
				cut = append(cut, agent)
			}
		}
		assert.Equal(t, row.cut, cut)
		assert.Equal(t, http.StatusNotFound, doorFor(d.API, "x").do(t, "GET", leasesA, "", "User-Agent", "worker/1").code, "a client with a name")
		f.Remove()
		assert.Equal(t, http.StatusNotFound, d.do(t, "GET", leasesA, "", "User-Agent", "worker/1").code)
	}
}

// Several programs may have the credentials of one user.
func TestUserAgentOfTheFaultNarrowsAClientWithAName(t *testing.T) {
	x := doorFor(apitest.New(t), "x")
	x.Fault(apitest.CrashBefore(func() {}), apitest.Match{UserAgent: "worker"})
	for _, row := range []struct {
		agent string
		cut   bool
	}{{"other", false}, {"worker/1", true}, {"worker/2", true}, {"other", false}} {
		assert.Equal(t, row.cut, x.do(t, "GET", leasesA, "", "User-Agent", row.agent).err != nil, row.agent)
	}
}

func TestCrashNeedsAFunction(t *testing.T) {
	for _, crash := range []apitest.Effect{apitest.CrashBefore(nil), apitest.CrashAfter(nil)} {
		assert.Equal(t, "apitest.Fault: crash: got nil, want a function that ends the client",
			failure(t, func(t testing.TB) { apitest.New(t).Fault(crash) }))
	}
	assert.Equal(t, "apitest.Fault: Nth: got 0, want 1 or more",
		failure(t, func(t testing.TB) { apitest.New(t).Fault(apitest.CutBefore().Nth(0)) }))
}

func TestAnswerAfterTheWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(t)
		d.Fault(apitest.AnswerAfter(504).First(1), apitest.Match{Verb: "create"})
		a := d.do(t, "POST", leases, leaseNamed("a"))
		assert.Equal(t, http.StatusGatewayTimeout, a.code)
		assert.Contains(t, a.body, "but may still be processing the request")
		assert.Equal(t, http.StatusOK, d.do(t, "GET", leasesA, "").code)
		r := d.Requests()[0]
		assert.Equal(t, "create leases default/a 504", r.String())
		assert.Equal(t, "1001", r.Result.ResourceVersion)
	})
}

// The nth request is counted where the others of the fault are decided: one effect for the first, and one for the third.
func TestNthHitsOneRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(t)
		f := d.Fault(apitest.Answer(500).Nth(1).Then(apitest.Answer(503).Nth(2)), apitest.Match{Verb: "get"})
		var codes []int
		for range 4 {
			codes = append(codes, d.do(t, "GET", leasesA, "").code)
		}
		assert.Equal(t, []int{500, 404, 503, 404}, codes)
		assert.Equal(t, 2, f.Hits())
	})
}
