package apitest_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
)

// lead writes a holder into the Lease a, in the name of a client, with the User-Agent of an election.
func lead(t testing.TB, api *apitest.API, client, holder string) {
	t.Helper()
	body := `{"spec":{"holderIdentity":"` + holder + `","leaseDurationSeconds":15}}`
	if holder == "" {
		body = `{"spec":{"holderIdentity":null}}`
	}
	a := doorFor(api, client).do(t, "PATCH", leasesA, body, "Content-Type", "application/merge-patch+json", "User-Agent", "x/leader-election")
	assert.Equal(t, http.StatusOK, a.code, a)
}

func TestWorkWithoutTheLeaseIsFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := apitest.New(t)
		work := func(client, name string) {
			time.Sleep(time.Second)
			doorFor(api, client).create(t, name)
		}
		work("setup", "a")
		work("x", "before-the-first-term")
		lead(t, api, "x", "x-1")
		work("x", "leads")
		work("y", "waits")
		work("setup", "another")
		lead(t, api, "x", "x-1")
		lead(t, api, "x", "")
		work("x", "released")
		work("y", "not-yet")
		lead(t, api, "y", "y-1")
		work("y", "leads-too")
		work("x", "late")
		lead(t, api, "x", "x-1")
		work("x", "again")

		var got []string
		for _, f := range api.WritesWithoutLease("default", "a") {
			got = append(got, f.Text)
		}
		assert.Equal(t, []string{
			`client "y" wrote leases default/waits without the Lease default/a, 2s after "x-1" took it`,
			`client "x" wrote leases default/released without the Lease default/a, which was released by "x-1"`,
			`client "x" wrote leases default/late without the Lease default/a, 2s after "y-1" took it`,
		}, got)
		assert.Empty(t, api.WritesWithoutLease("default", "b"))
	})
}
