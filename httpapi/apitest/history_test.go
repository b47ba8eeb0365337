package apitest_test

import (
	"cmp"
	"context"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/endpoints"
	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/admission"
	"github.com/kubecoord/kubecoord/store/meta"
)

// results returns the Results of the requests, without their uids.
func results(d *door) (out []string) {
	for _, r := range d.Requests() {
		text := ""
		if r.Result != (apitest.Result{}) {
			text = r.Result.Namespace + "/" + r.Result.Name + "@" + r.Result.ResourceVersion
		}
		out = append(out, text)
	}
	return out
}

func TestResultIsWhatAWriteDid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(t)
		d.create(t, "a")
		d.do(t, "PATCH", leasesA, `{"spec":{"holderIdentity":"x"}}`, "Content-Type", "application/merge-patch+json")
		d.do(t, "PATCH", leasesA, `{"spec":{"holderIdentity":"x"}}`, "Content-Type", "application/merge-patch+json")
		d.do(t, "PUT", leasesA, `{"metadata":{"name":"a","resourceVersion":"1"}}`)
		d.do(t, "POST", leases+"?dryRun=All", leaseNamed("b"))
		d.do(t, "GET", leasesA, "")
		d.Fault(apitest.CutAfter().First(1))
		d.do(t, "POST", leases, leaseNamed("b"))
		d.do(t, "DELETE", leases, "")
		assert.Equal(t, []string{"default/a@1001", "default/a@1002", "", "", "", "", "default/b@1003", "default/b@1005"}, results(d))
		uids := map[string]bool{}
		for _, r := range d.Requests() {
			uids[r.Result.UID] = true
		}
		assert.Len(t, uids, 3, "a, b and none")
	})
}

func TestResultHasTheGeneratedName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(t)
		require.Equal(t, http.StatusCreated, d.do(t, "POST", leases, `{"metadata":{"generateName":"g-"}}`).code)
		r := d.Requests()[0]
		assert.Empty(t, r.Name)
		assert.Regexp(t, "^g-.{5}$", r.Result.Name)
	})
}

// changes returns the changes after a version, each with the client that made it.
func changes(t testing.TB, api *apitest.API, since string) (out []string) {
	t.Helper()
	all, err := api.Changes(since)
	require.NoError(t, err)
	for _, c := range all {
		text := string(c.Type) + " " + c.Resource + " " + c.Namespace + "/" + c.Name + "@" + c.ResourceVersion
		if c.Request != nil {
			text += " " + c.Request.Verb + " by " + c.Request.Client
		}
		out = append(out, text)
	}
	return out
}

func TestChangesNameTheirRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := apitest.New(t)
		doorFor(api, "x").create(t, "a")
		d := doorTo(api)
		d.hold(t, "you")
		assert.Equal(t, []string{"ADDED leases default/a@1001 create by x", "MODIFIED leases default/a@1002"}, changes(t, api, ""))
		d.Store().ExpireHistory()
		doorFor(api, "y").do(t, "DELETE", leasesA, "")
		assert.Equal(t, []string{"MODIFIED leases default/a@1002", "DELETED leases default/a@1003 delete by y"}, changes(t, api, "1001"))
		assert.Empty(t, changes(t, api, "1003"))

		fork := api.Fork(t)
		doorFor(fork, "z").create(t, "b")
		assert.Equal(t, []string{"DELETED leases default/a@1003 delete by y", "ADDED leases default/b@1004 create by z"}, changes(t, fork, "1002"))
		assert.Empty(t, changes(t, api, "1003"), "nothing of the fork")

		_, err := api.Changes("new")
		require.EqualError(t, err, `apitest.Changes: got "new", want a resourceVersion`)
	})
}

func TestChangesThatAreNotKeptAreAnError(t *testing.T) {
	for _, keep := range []int{1, -1} {
		api := apitest.New(t, apitest.Options{KeepHistory: keep})
		for _, name := range []string{"a", "b", "c", "d"} {
			doorTo(api).create(t, name)
		}
		_, err := api.Changes("1001")
		require.EqualError(t, err, `apitest.Changes: the store had more changes than KeepHistory since "1001"`)
		assert.Equal(t, keep < 0, api.Requests()[3].Result == apitest.Result{})
	}
}

func TestKeepRequestsLimitsTheLog(t *testing.T) {
	for keep, want := range map[int]int{0: 5, 2: 2, -1: 0} {
		d := newDoor(t, apitest.Options{KeepRequests: keep})
		for _, name := range []string{"a", "b", "c", "d", "e"} {
			d.create(t, name)
		}
		assert.Len(t, d.Requests(), want)
		kept := 0
		all, err := d.Changes("")
		require.NoError(t, err)
		for _, c := range all {
			require.NotNil(t, c.Request)
			if c.Request.Body != nil {
				kept++
			}
		}
		assert.Equal(t, want, kept, "bodies")
	}
}

// counting is an admission that counts in an object of its own, as ResourceQuota does, and refuses the request.
type counting struct{ api *apitest.API }

func (c *counting) Admit(ctx context.Context, _ *admission.Attributes) error {
	_, err := endpoints.In(c.api.Store()).Create(admission.Below(ctx),
		&endpoints.Endpoints{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "count"}}, store.CreateOptions{})
	return cmp.Or(err, error(meta.NewStatusError(http.StatusForbidden, meta.ReasonForbidden, nil, "full")))
}

func (c *counting) Validate(context.Context, *admission.Attributes) error { return nil }

func TestResultIsNotAWriteOfAdmission(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		count := &counting{}
		d := newDoor(t, apitest.Options{API: httpapi.Options{Admission: count}})
		count.api = d.API
		assert.Equal(t, http.StatusForbidden, d.do(t, "POST", leases, leaseNamed("a")).code)
		assert.Equal(t, []string{""}, results(d))
		assert.Equal(t, []string{"ADDED endpoints default/count@1001 create by "}, changes(t, d.API, ""))
	})
}
