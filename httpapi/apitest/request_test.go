package apitest_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
)

func TestRequestsAreRecordedInOrder(t *testing.T) {
	eachDoor(t, func(t *testing.T, d *door) {
		d.do(t, "POST", leases, leaseNamed("a"), "User-Agent", "me/1.0")
		d.do(t, "GET", leases+"?limit=5&labelSelector=a%3Db", "")
		d.do(t, "PUT", leasesA, "{")
		f := d.Fault(apitest.CutAfter(), apitest.Match{Verb: "delete"})
		d.do(t, "DELETE", leasesA, "")
		d.watch(t, watchLeases)
		d.do(t, "GET", "/version", "")
		got := d.Requests()
		got.Assert(t,
			"create leases default/a 201",
			"list leases default/* 200",
			"update leases default/a 400",
			"delete leases default/a cut",
			"watch leases default/* 200",
			"get /version 200",
		)
		created := got[0]
		assert.Equal(t, "me/1.0", created.UserAgent)
		assert.Equal(t, leaseNamed("a"), string(created.Body))
		assert.Equal(t, len(created.Body), created.BodySize)
		assert.Equal(t, "application/json", created.ContentType)
		assert.Equal(t, [2]string{"coordination.k8s.io", "v1"}, [2]string{created.Group, created.Version})
		assert.Equal(t, leases, created.Path)
		assert.Equal(t, url.Values{"limit": {"5"}, "labelSelector": {"a=b"}}, got[1].Query)
		assert.Equal(t, []*apitest.Fault{f}, got[3].Faults)
		assert.False(t, got[4].Done, "the watch is open")
		writes := got.Where(func(r apitest.Request) bool { return r.Verb == "create" || r.Verb == "delete" })
		writes.Assert(t, "create leases default/a 201", "delete leases default/a cut")

		d.ForgetRequests()
		assert.Empty(t, d.Requests())
		d.do(t, "GET", "/nope", "")
		d.Requests().Assert(t, "get /nope 404")
	})
}

func TestOnlyTheLastRequestsAndTheBeginningOfBodiesAreKept(t *testing.T) {
	long := `{"metadata":{"name":"a","annotations":{"a":"` + strings.Repeat("v", 3<<20) + `"}}}`
	d := newDoor(t)
	f := d.Fault(apitest.Delay(1), apitest.Match{Verb: "get"})
	for i := range 1000 {
		d.do(t, "GET", fmt.Sprint(leases, "/", i), "")
	}
	assert.Equal(t, http.StatusRequestEntityTooLarge, d.do(t, "POST", leases, long).code, "the API gets the whole body")
	got := d.Requests()
	require.Len(t, got, 1000)
	assert.Equal(t, "1", got[0].Name)
	assert.Equal(t, long[:16<<10], string(got[999].Body))
	assert.Equal(t, 3<<20+1, got[999].BodySize, "no more is read")
	assert.Equal(t, 1000, f.Hits())
}

func TestAssertShowsTheDifference(t *testing.T) {
	d := newDoor(t)
	d.do(t, "GET", leasesA, "")
	d.create(t, "a")
	d.do(t, "GET", leases, "")
	var same bool
	message := failure(t, func(t testing.TB) {
		same = d.Requests().Assert(t, "get leases default/a 404", "get leases default/b 404", "create leases default/a 201", "delete leases default/a 200")
	})
	assert.False(t, same)
	assert.Equal(t, `apitest: requests: got 3, want 4 (- wanted, + got):
    get leases default/a 404
  - get leases default/b 404
    create leases default/a 201
  - delete leases default/a 200
  + list leases default/* 200
`, message)
	assert.Contains(t, failure(t, func(t testing.TB) { d.Requests().Assert(t) }), "got 3, want 0")
	assert.Contains(t, failure(t, func(t testing.TB) {
		d.Requests().Assert(t, "create leases default/a 201", "list leases default/* 200")
	}), "  + get leases default/a 404\n    create leases default/a 201\n    list leases default/* 200\n")
}
