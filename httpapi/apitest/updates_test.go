package apitest_test

import (
	"regexp"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
)

// writers is an API and clients of it by their names.
type writers struct {
	t   *testing.T
	api *apitest.API
}

// does sends a request of a client.
func (w *writers) does(client, method, path, body string, headers ...string) answer {
	d := doorFor(w.api, client)
	return d.do(w.t, method, path, body, headers...)
}

// patches sends a merge patch of the Lease a.
func (w *writers) patches(client, body string) answer {
	return w.does(client, "PATCH", leasesA, body, "Content-Type", "application/merge-patch+json")
}

const (
	heldBy = `{"spec":{"holderIdentity":"`
	endOf  = `"}}`
)

func TestVerifyShowsUpdatesThatWereLost(t *testing.T) {
	for name, tt := range map[string]struct {
		do   func(w *writers)
		want string // "" for nothing
	}{
		"an update that was not seen is undone": {func(w *writers) {
			w.does("x", "GET", leasesA, "")
			w.patches("y", heldBy+"y"+endOf)
			w.patches("x", heldBy+"x"+endOf)
		}, `patch leases default/a by client "x" at 1003, without a resourceVersion, overwrote an update that it had not seen: it knew 1001 and replaced 1002: spec.holderIdentity was not there, then "y", and is "x"
  0s  1001 ADDED leases default/a by create of client "z", 201, held by nobody
  0s  1002 MODIFIED leases default/a by patch of client "y", 200, held by "y"
  0s  1003 MODIFIED leases default/a by patch of client "x", 200, held by "x"`},
		"what was removed is there again": {func(w *writers) {
			w.patches("x", heldBy+"x"+endOf)
			w.patches("y", `{"spec":null}`)
			w.patches("x", heldBy+"x"+endOf)
		}, `patch leases default/a by client "x" at 1004, without a resourceVersion, overwrote an update that it had not seen: it knew 1002 and replaced 1003: spec.holderIdentity was "x", then removed, and is "x"`},
		"it was seen in a list": {func(w *writers) {
			w.does("x", "GET", leasesA, "")
			w.patches("y", heldBy+"y"+endOf)
			w.does("x", "GET", leases, "")
			w.patches("x", heldBy+"x"+endOf)
		}, ""},
		"it was seen by a watch": {func(w *writers) {
			w.does("x", "GET", leasesA, "")
			w.patches("y", heldBy+"y"+endOf)
			w.does("x", "GET", leases+"?watch=true&resourceVersion=1001&timeoutSeconds=1", "")
			w.patches("x", heldBy+"x"+endOf)
		}, ""},
		"a list with a selector shows nothing else": {func(w *writers) {
			w.does("x", "GET", leasesA, "")
			w.patches("y", heldBy+"y"+endOf)
			w.does("x", "GET", leases+"?labelSelector=app%3Dx", "")
			w.patches("x", heldBy+"x"+endOf)
		}, `it knew 1001 and replaced 1002`},
		"a resourceVersion elsewhere is none": {func(w *writers) {
			w.does("x", "GET", leasesA, "")
			w.patches("y", heldBy+"y"+endOf)
			w.patches("x", `{"metadata":{"annotations":{"resourceVersion":"1002"}},"spec":{"holderIdentity":"x"}}`)
		}, `it knew 1001 and replaced 1002`},
		"a writer at another server is unknown": {func(w *writers) {
			other := &writers{w.t, apitest.New(w.t, apitest.Options{Over: w.api.Store()})}
			w.does("x", "GET", leasesA, "")
			other.patches("y", heldBy+"y"+endOf)
			w.patches("y", heldBy+"z"+endOf)
			w.patches("x", heldBy+"x"+endOf)
		}, ""},
		"the watch ends before it": {func(w *writers) {
			w.does("x", "GET", leasesA, "")
			w.patches("y", heldBy+"y"+endOf)
			w.api.Fault(apitest.EndWatch(0))
			w.does("x", "GET", leases+"?watch=true&resourceVersion=1001&timeoutSeconds=1", "")
			w.patches("x", heldBy+"x"+endOf)
		}, `it knew 1001 and replaced 1002`},
		"only the event before it is sent": {func(w *writers) {
			w.does("x", "GET", leasesA, "")
			w.patches("y", heldBy+"y"+endOf)
			w.patches("y", heldBy+"z"+endOf)
			w.api.Fault(apitest.EndWatch(1))
			w.does("x", "GET", leases+"?watch=true&resourceVersion=1001&timeoutSeconds=1", "")
			w.patches("x", heldBy+"x"+endOf)
		}, `it knew 1002 and replaced 1003`},
		"another member is changed": {func(w *writers) {
			w.does("x", "GET", leasesA, "")
			w.patches("y", heldBy+"y"+endOf)
			w.patches("x", `{"metadata":{"labels":{"app":"x"}}}`)
		}, ""},
		"the same is wanted": {func(w *writers) {
			w.does("x", "GET", leasesA, "")
			w.patches("y", heldBy+"y"+endOf)
			w.patches("x", `{"metadata":{"labels":{"app":"x"}},"spec":{"holderIdentity":"y"}}`)
		}, ""},
		"the writer has never seen it": {func(w *writers) {
			w.patches("y", heldBy+"y"+endOf)
			w.patches("x", heldBy+"x"+endOf)
		}, ""},
		"the writer names a version": {func(w *writers) {
			w.does("x", "GET", leasesA, "")
			w.patches("y", heldBy+"y"+endOf)
			w.patches("x", `{"metadata":{"resourceVersion":"1002"},"spec":{"holderIdentity":"x"}}`)
		}, ""},
		"an update names a version": {func(w *writers) {
			w.does("x", "GET", leasesA, "")
			w.patches("y", heldBy+"y"+endOf)
			body := `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"a","resourceVersion":"1002"},"spec":{"holderIdentity":"x"}}`
			require.Equal(w.t, 200, w.does("x", "PUT", leasesA, body).code)
		}, ""},
		"an update names none": {func(w *writers) {
			const all = "/api/v1/namespaces/default/endpoints"
			at := func(ip string) string {
				return `{"apiVersion":"v1","kind":"Endpoints","metadata":{"name":"e"},"subsets":[{"addresses":[{"ip":"` + ip + `","targetRef":{"resourceVersion":"1"}}]}]}`
			}
			w.does("z", "POST", all, at("10.0.0.1"))
			w.does("x", "GET", all+"/e", "")
			w.does("y", "PUT", all+"/e", at("10.0.0.2"))
			require.Equal(w.t, 200, w.does("x", "PUT", all+"/e", at("10.0.0.3")).code)
		}, `update endpoints default/e by client "x" at 1004, without a resourceVersion, overwrote an update that it had not seen: it knew 1002 and replaced 1003`},
		"it is its own, and it does not know": {func(w *writers) {
			w.does("x", "GET", leasesA, "")
			cut := w.api.Fault(apitest.CutAfter())
			w.patches("x", heldBy+"1"+endOf)
			cut.Remove()
			w.patches("x", heldBy+"2"+endOf)
		}, ""},
		"it is another object of the same name": {func(w *writers) {
			w.does("x", "GET", leasesA, "")
			w.does("y", "DELETE", leasesA, "")
			w.does("y", "POST", leases, leaseNamed("a"))
			w.patches("x", heldBy+"x"+endOf)
		}, ""},
		"an apply takes by force": {func(w *writers) {
			config := func(holder string) string {
				return `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"a"},"spec":{"holderIdentity":"` + holder + `"}}`
			}
			apply := []string{"Content-Type", "application/apply-patch+yaml"}
			w.does("x", "PATCH", leasesA+"?fieldManager=x", config("x"), apply...)
			w.does("y", "PATCH", leasesA+"?fieldManager=y&force=true", config("y"), apply...)
			w.does("x", "PATCH", leasesA+"?fieldManager=x", config("x"), apply...) // a conflict
			w.does("x", "PATCH", leasesA+"?fieldManager=x&force=true", config("x"), apply...)
		}, `apply leases default/a by client "x" at 1004, without a resourceVersion, overwrote an update that it had not seen: it knew 1002 and replaced 1003: spec.holderIdentity was "x", then "y", and is "x"`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &writers{t, apitest.New(t)}
				require.Equal(t, 201, w.does("z", "POST", leases, leaseNamed("a")).code)
				tt.do(w)
				findings := w.api.Verdict().LostUpdates
				if tt.want == "" {
					assert.Empty(t, findings)
					return
				}
				require.Len(t, findings, 1)
				assert.Contains(t, withoutTimes.ReplaceAllString(findings[0].String(), "  0s  "), tt.want)
			})
		})
	}
}

// withoutTimes matches the times in an excerpt.
var withoutTimes = regexp.MustCompile(` +\S+s  `)

func TestLostUpdatesAreLoggedAndFailNoTest(t *testing.T) {
	w := &writers{t, apitest.New(t)}
	w.does("x", "POST", leases, leaseNamed("a"))
	w.patches("y", heldBy+"y"+endOf)
	w.patches("x", heldBy+"x"+endOf)
	var v verdict
	assert.True(t, w.api.Verify(&v))
	assert.Empty(t, v.errors)
	require.Len(t, v.logs, 1)
	assert.Contains(t, v.logs[0], `apitest: patch leases default/a by client "x" at 1003, without a resourceVersion, overwrote an update that it had not seen`)
}
