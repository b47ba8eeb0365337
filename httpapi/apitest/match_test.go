package apitest_test

import (
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

var storeOptions store.CreateOptions

// leaseOf returns a Lease to create. Without a name it has a generateName.
func leaseOf(name string) *lease.Lease {
	l := &lease.Lease{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: name}}
	if name == "" {
		l.GenerateName = "l-"
	}
	return l
}

func TestFaultsMatchTheAttributesOfARequest(t *testing.T) {
	const patch = "application/merge-patch+json"
	type request struct{ method, target, body, contentType string }
	requests := map[string]request{
		"get":                  {"GET", leasesA, "", ""},
		"list":                 {"GET", leases, "", ""},
		"list everywhere":      {"GET", "/apis/coordination.k8s.io/v1/leases", "", ""},
		"watch":                {"GET", leases + "?watch=true&timeoutSeconds=-1", "", ""},
		"old watch":            {"GET", "/apis/coordination.k8s.io/v1/watch/namespaces/default/leases/a?timeoutSeconds=-1", "", ""},
		"create":               {"POST", leases, leaseNamed("a"), "application/json"},
		"create from YAML":     {"POST", leases, "metadata:\n  name: a\n", "application/yaml"},
		"create from protobuf": {"POST", leases, "k8s\x00\x0a\x00\x12\x05\x0a\x03\x0a\x01a", "application/vnd.kubernetes.protobuf"},
		"create by prefix":     {"POST", leases, `{"metadata":{"generateName":"a"}}`, "application/json"},
		"update":               {"PUT", leasesA, leaseNamed("a"), "application/json"},
		"patch":                {"PATCH", leasesA, "{}", patch},
		"apply":                {"PATCH", leasesA + "?fieldManager=m", leaseNamed("a"), "application/apply-patch+yaml"},
		"delete":               {"DELETE", leasesA, "", ""},
		"deletecollection":     {"DELETE", leases, "", ""},
		"endpoints":            {"GET", "/api/v1/namespaces/other/endpoints/a", "", ""},
		"version":              {"GET", "/version", "", ""},
	}
	all := []string{}
	for name := range requests {
		all = append(all, name)
	}
	onLeases := all[:0:0]
	for _, name := range all {
		if name != "endpoints" && name != "version" {
			onLeases = append(onLeases, name)
		}
	}
	named := []string{"get", "old watch", "create", "create from YAML", "create from protobuf", "update", "patch", "apply", "delete"}
	for name, row := range map[string]struct {
		on   apitest.Match
		want []string
	}{
		"everything":            {apitest.Match{}, all},
		"get":                   {apitest.Match{Verb: "get"}, []string{"get", "endpoints", "version"}},
		"list":                  {apitest.Match{Verb: "list"}, []string{"list", "list everywhere"}},
		"watch":                 {apitest.Match{Verb: "watch"}, []string{"watch", "old watch"}},
		"create":                {apitest.Match{Verb: "create"}, []string{"create", "create from YAML", "create from protobuf", "create by prefix"}},
		"update":                {apitest.Match{Verb: "update"}, []string{"update"}},
		"patch of every kind":   {apitest.Match{Verb: "patch"}, []string{"patch", "apply"}},
		"apply":                 {apitest.Match{Verb: "apply"}, []string{"apply"}},
		"delete":                {apitest.Match{Verb: "delete"}, []string{"delete"}},
		"deletecollection":      {apitest.Match{Verb: "deletecollection"}, []string{"deletecollection"}},
		"plural":                {apitest.Match{Resource: "leases"}, onLeases},
		"Kind":                  {apitest.Match{Resource: "Lease"}, onLeases},
		"resource with group":   {apitest.Match{Resource: "leases.coordination.k8s.io"}, onLeases},
		"of the core group":     {apitest.Match{Resource: "endpoints"}, []string{"endpoints"}},
		"any resource":          {apitest.Match{Resource: "*"}, append([]string{"endpoints"}, onLeases...)},
		"another resource":      {apitest.Match{Resource: "leasecandidates"}, nil},
		"namespace":             {apitest.Match{Namespace: "other"}, []string{"endpoints"}},
		"name":                  {apitest.Match{Name: "a", Namespace: "default"}, named},
		"another name":          {apitest.Match{Name: "b"}, nil},
		"a part of user agent":  {apitest.Match{UserAgent: "gent/1"}, all},
		"another user agent":    {apitest.Match{UserAgent: "other"}, nil},
		"a client without name": {apitest.Match{Client: "a"}, nil},
		"all of them":           {apitest.Match{Verb: "update", Resource: "Lease", Namespace: "default", Name: "a", UserAgent: "agent"}, []string{"update"}},
		"all but one":           {apitest.Match{Verb: "update", Resource: "Lease", Namespace: "default", Name: "b", UserAgent: "agent"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDoor(t)
			f := d.Fault(apitest.Answer(418), row.on)
			var hit []string
			for name, r := range requests {
				before := f.Hits()
				a := d.do(t, r.method, r.target, r.body, "User-Agent", "agent/1.0", "Content-Type", r.contentType)
				if f.Hits() > before {
					hit = append(hit, name)
				}
				assert.Equal(t, f.Hits() > before, a.code == 418, "%s: %s", name, a)
			}
			assert.ElementsMatch(t, row.want, hit)
		})
	}
}

func TestFaultsWithSeveralMatchesHitWhatAnyOfThemMatches(t *testing.T) {
	d := newDoor(t)
	f := d.Fault(apitest.Answer(418), apitest.Match{Verb: "get"}, apitest.Match{Verb: "list", Client: "none"}, apitest.Match{Verb: "delete", Name: "a"})
	got := []int{
		d.do(t, "GET", leasesA, "").code, d.do(t, "GET", leases, "").code,
		d.do(t, "DELETE", leasesA, "").code, d.do(t, "DELETE", leases+"/b", "").code,
	}
	assert.Equal(t, []int{418, 200, 418, 404}, got)
	assert.Equal(t, 2, f.Matches())
	assert.Equal(t, `get * or list * client=none or delete a: answer 418`, f.String())
}

func TestFaultsHitSomeOfTheRequestsThatMatch(t *testing.T) {
	third := 0
	busy := apitest.Answer(503)
	for name, row := range map[string]struct {
		effect apitest.Effect
		want   []int
	}{
		"all":             {busy, []int{1, 2, 3, 4, 5, 6, 7}},
		"the first three": {busy.First(3), []int{1, 2, 3}},
		"the fewer":       {busy.First(5).First(2), []int{1, 2}},
		"and the others":  {apitest.Answer(429).First(2).Then(busy), []int{3, 4, 5, 6, 7}},
		"a function": {apitest.Choose(func(apitest.Request) apitest.Effect {
			if third++; third%3 == 0 {
				return busy
			}
			return apitest.Effect{}
		}), []int{3, 6}},
		"the first of those": {apitest.Choose(func(r apitest.Request) apitest.Effect {
			if r.Query.Get("n") > "4" {
				return busy
			}
			return apitest.Effect{}
		}).First(2), []int{5, 6}},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDoor(t)
			f := d.Fault(row.effect, apitest.Match{Verb: "list"})
			var hit []int
			for i := range 7 {
				if d.do(t, "GET", fmt.Sprint(leases, "?n=", i+1), "").code == 503 {
					hit = append(hit, i+1)
				}
				d.do(t, "GET", leasesA, "") // does not count
			}
			assert.Equal(t, row.want, hit)
			assert.Equal(t, 7, f.Matches())
			if name != "and the others" {
				assert.Equal(t, len(row.want), f.Hits())
			}
		})
	}
}

func TestWrongFaultsAreRefused(t *testing.T) {
	get := apitest.Match{Verb: "get"}
	for want, row := range map[string]struct {
		effect apitest.Effect
		on     apitest.Match
	}{
		`Verb: got "put", want one of get, list, watch, create, update, patch, apply, delete, deletecollection`: {apitest.Hang(), apitest.Match{Verb: "put"}},
		`Resource: got "pods", want one of leases, leasecandidates, endpoints`:                                  {apitest.Hang(), apitest.Match{Resource: "pods"}},
		`Resource: got "leases.apps", want one of leases, leasecandidates, endpoints`:                           {apitest.Hang(), apitest.Match{Resource: "leases.apps"}},
		`Subresource: got "scale", want "status" or none`:                                                       {apitest.Hang(), apitest.Match{Subresource: "scale"}},
		`got no effect, want one such as Answer(503)`:                                                           {apitest.Effect{}, get},
		`First: got 0, want 1 or more`:                                                                          {apitest.Hang().First(0), get},
		`First: got -1, want 1 or more`:                                                                         {apitest.Delay(1).Then(apitest.Hang().First(-1)), get},
		`Delay: got -1s, want 0 or more`:                                                                        {apitest.Delay(-time.Second), get},
		`SlowEvents: got -1ns, want 0 or more`:                                                                  {apitest.SlowEvents(-1), apitest.Match{}},
		`EndWatch: got -1, want 0 or more`:                                                                      {apitest.EndWatch(-1), apitest.Match{}},
		`CutWatch: got -1, want 0 or more`:                                                                      {apitest.CutWatch(-1).First(1), apitest.Match{}},
		`FailWatch: got -1, want 0 or more`:                                                                     {apitest.FailWatch(-1, meta.Status{Code: 410}), apitest.Match{}},
		`FailWatch.Code: got 200, want 400 to 599`:                                                              {apitest.FailWatch(1, meta.Status{Code: 200}), apitest.Match{}},
		`Answer.Code: got 100, want 200 to 599`:                                                                 {apitest.Answer(100), get},
		`Answer.Code: got 0, want 200 to 599`:                                                                   {apitest.AnswerStatus(meta.Status{Message: "x"}), get},
		`Answer.Details.RetryAfterSeconds: got -1, want 0 or more`:                                              {apitest.AnswerStatus(meta.Status{Code: 429, Details: &meta.StatusDetails{RetryAfterSeconds: -1}}), get},
		`Verb: got "get", want another one for "slow events 1ns, end watch after 1"`:                            {apitest.SlowEvents(1).Then(apitest.EndWatch(1)), get},
		`Verb: got "watch", want another one for "cut after"`:                                                   {apitest.CutAfter(), apitest.Match{Verb: "watch"}},
		`Verb: got "update", want another one for "stale (stopped)"`:                                            {apitest.Stale(apitest.StaleOptions{}), apitest.Match{Verb: "update"}},
	} {
		t.Run(want, func(t *testing.T) {
			assert.Equal(t, "apitest.Fault: "+want, failure(t, func(t testing.TB) { apitest.New(t).Fault(row.effect, row.on) }))
		})
	}
}

func TestFaultsDescribeThemselves(t *testing.T) {
	none := func(apitest.Request) apitest.Effect { return apitest.Effect{} }
	for want, row := range map[string]struct {
		effect apitest.Effect
		on     apitest.Match
	}{
		"any *: hang": {apitest.Hang(), apitest.Match{}},
		"update leases default/a userAgent=me client=c: delay 1s, expire history, answer 409 (first 2)": {
			apitest.Delay(time.Second).Then(apitest.ExpireHistory()).Then(apitest.Answer(409).First(2)),
			apitest.Match{Verb: "update", Resource: "leases", Namespace: "default", Name: "a", UserAgent: "me", Client: "c"},
		},
		"any *: cut after":    {apitest.CutAfter(), apitest.Match{}},
		"any *: cut before":   {apitest.CutBefore(), apitest.Match{}},
		"any *: choose":       {apitest.Choose(none), apitest.Match{}},
		"any *: refuse":       {apitest.Refuse(), apitest.Match{}},
		"any ns/*: partition": {apitest.Partition(), apitest.Match{Namespace: "ns"}},
		"watch *: slow events 1s, end watch after 2": {apitest.SlowEvents(time.Second).Then(apitest.EndWatch(2)), apitest.Match{Verb: "watch"}},
		"watch *: cut watch after 0":                 {apitest.CutWatch(0), apitest.Match{Verb: "watch"}},
		"watch *: fail watch after 1 with 410":       {apitest.FailWatch(1, meta.Status{Code: 410}), apitest.Match{Verb: "watch"}},
		"patch Engine/status *: answer 409":          {apitest.Answer(409), apitest.Match{Verb: "patch", Resource: "Engine", Subresource: "status"}},
		"any */status *: delay 1ns":                  {apitest.Delay(1), apitest.Match{Subresource: "status"}},
	} {
		assert.Equal(t, want, newDoor(t, withEngines()).Fault(row.effect, row.on).String())
	}
}

func TestFaultThatMustHitFailsTheTestAtItsEnd(t *testing.T) {
	c := &checked{verdict: verdict{TB: t}}
	d := doorTo(apitest.New(c))
	d.Fault(apitest.Delay(0), apitest.Match{Verb: "get"}).MustHit().Remove()
	d.Fault(apitest.Delay(1), apitest.Match{Verb: "list"}).MustHit()
	d.Fault(apitest.CutAfter(), apitest.Match{Resource: "leases"}).MustHit()
	d.do(t, "GET", leases, "")
	assert.Empty(t, c.errors)
	for _, f := range c.cleanups {
		f()
	}
	assert.ElementsMatch(t, []string{
		"apitest: the fault hit none of 0 requests that matched: get *: delay 0s",
	}, c.errors)
}

// Faults and requests begin and end at the same time. Run it with -race.
func TestFaultsCanBeAddedAndRemovedDuringRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(t)
		done := make(chan struct{})
		for range 4 {
			go func() {
				defer func() { done <- struct{}{} }()
				for range 50 {
					d.do(t, "GET", leases, "")
					for _, r := range d.Requests() {
						_ = r.String()
					}
				}
			}()
		}
		for range 50 {
			f := d.Fault(apitest.Answer(503).First(2), apitest.Match{Verb: "list"})
			p := d.Fault(apitest.Partition())
			f.Hits()
			p.Remove()
			f.Remove()
		}
		for range 4 {
			<-done
		}
		assert.Len(t, d.Requests(), 200)
	})
}

func clientOf(api *apitest.API) *http.Client { return &http.Client{Transport: api.Transport()} }

// withEngines are the options of a server with a kind that has a status.
func withEngines() apitest.Options {
	engines := store.MustKind(kind.Descriptor[*store.Unstructured]{
		Resource: kind.Resource{Group: "example.com", Kind: "Engine", Status: true},
		Versions: []kind.Version[*store.Unstructured]{{Name: "v1"}},
	})
	return apitest.Options{API: httpapi.Options{Kinds: []kind.Kind{engines}}}
}

func TestFaultsCanMatchOnlyTheStatus(t *testing.T) {
	const engine, patch = "/apis/example.com/v1/namespaces/default/engines/a", "application/merge-patch+json"
	d := newDoor(t, withEngines())
	made := d.do(t, "POST", "/apis/example.com/v1/namespaces/default/engines", `{"apiVersion":"example.com/v1","kind":"Engine","metadata":{"name":"a"}}`)
	require.Equal(t, 201, made.code, made)
	both := d.Fault(apitest.Delay(1), apitest.Match{Verb: "patch", Resource: "engines"})
	one := d.Fault(apitest.Answer(409), apitest.Match{Verb: "patch", Resource: "Engine", Subresource: "status"})
	any := d.Fault(apitest.Delay(1), apitest.Match{Subresource: "status"})
	assert.Equal(t, 200, d.do(t, "PATCH", engine, `{"spec":{"on":true}}`, "Content-Type", patch).code)
	assert.Equal(t, 409, d.do(t, "PATCH", engine+"/status", `{"status":{"on":true}}`, "Content-Type", patch).code)
	assert.Equal(t, 200, d.do(t, "GET", engine+"/status", "").code)
	assert.Equal(t, []int{2, 1, 1}, []int{both.Hits(), one.Hits(), any.Hits()})
}
