package apitest_test

import (
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
		fault apitest.Fault
		want  []string
	}{
		"everything":            {apitest.Fault{}, all},
		"get":                   {apitest.Fault{Verb: "get"}, []string{"get", "endpoints", "version"}},
		"list":                  {apitest.Fault{Verb: "list"}, []string{"list", "list everywhere"}},
		"watch":                 {apitest.Fault{Verb: "watch"}, []string{"watch", "old watch"}},
		"create":                {apitest.Fault{Verb: "create"}, []string{"create", "create from YAML", "create from protobuf", "create by prefix"}},
		"update":                {apitest.Fault{Verb: "update"}, []string{"update"}},
		"patch of every kind":   {apitest.Fault{Verb: "patch"}, []string{"patch", "apply"}},
		"apply":                 {apitest.Fault{Verb: "apply"}, []string{"apply"}},
		"delete":                {apitest.Fault{Verb: "delete"}, []string{"delete"}},
		"deletecollection":      {apitest.Fault{Verb: "deletecollection"}, []string{"deletecollection"}},
		"plural":                {apitest.Fault{Resource: "leases"}, onLeases},
		"Kind":                  {apitest.Fault{Resource: "Lease"}, onLeases},
		"resource with group":   {apitest.Fault{Resource: "leases.coordination.k8s.io"}, onLeases},
		"of the core group":     {apitest.Fault{Resource: "endpoints"}, []string{"endpoints"}},
		"another resource":      {apitest.Fault{Resource: "leasecandidates"}, nil},
		"namespace":             {apitest.Fault{Namespace: "other"}, []string{"endpoints"}},
		"name":                  {apitest.Fault{Name: "a", Namespace: "default"}, named},
		"another name":          {apitest.Fault{Name: "b"}, nil},
		"a part of user agent":  {apitest.Fault{UserAgent: "gent/1"}, all},
		"another user agent":    {apitest.Fault{UserAgent: "other"}, nil},
		"a client without name": {apitest.Fault{Client: "a"}, nil},
		"a function":            {apitest.Fault{When: func(r apitest.Request) bool { return r.Query.Get("fieldManager") == "m" }}, []string{"apply"}},
		"all of them":           {apitest.Fault{Verb: "update", Resource: "Lease", Namespace: "default", Name: "a", UserAgent: "agent"}, []string{"update"}},
		"all but one":           {apitest.Fault{Verb: "update", Resource: "Lease", Namespace: "default", Name: "b", UserAgent: "agent"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDoor(t)
			row.fault.Answer = meta.Status{Code: 418}
			f := d.Fault(row.fault)
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

func TestFaultsHitSomeOfTheRequestsThatMatch(t *testing.T) {
	for name, row := range map[string]struct {
		fault apitest.Fault
		want  []int
	}{
		"all":             {apitest.Fault{}, []int{1, 2, 3, 4, 5, 6, 7}},
		"the first three": {apitest.Fault{First: 3}, []int{1, 2, 3}},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDoor(t)
			row.fault.Verb, row.fault.Answer = "list", meta.Status{Code: 503}
			f := d.Fault(row.fault)
			var hit []int
			for i := range 7 {
				if d.do(t, "GET", leases, "").code == 503 {
					hit = append(hit, i+1)
				}
				d.do(t, "GET", leasesA, "") // does not count
			}
			assert.Equal(t, row.want, hit)
			assert.Equal(t, len(row.want), f.Hits())
			assert.Equal(t, 7, f.Matches())
		})
	}
}

func TestContradictoryFaultsAreRefused(t *testing.T) {
	busy := meta.Status{Code: 503}
	for want, f := range map[string]apitest.Fault{
		`Verb: got "put", want one of get, list, watch, create, update, patch, apply, delete, deletecollection`: {Verb: "put", Hang: true},
		`Name: got "a", want none: list has no name`:                                                            {Verb: "list", Name: "a", Hang: true},
		`First: got -1, want 0 or more`:                                                                         {First: -1, Hang: true},
		`Delay: got -1s, want 0 or more`:                                                                        {Delay: -time.Second},
		`SlowEvents: got -1ns, want 0 or more`:                                                                  {SlowEvents: -1},
		`got no action, want one of Delay, ExpireHistory, Answer, Hang, Cut, Partition, Tear, SlowEvents, Stale, Adversary`: {Verb: "get"},
		`Answer, Hang: got 2 of them, want one: each ends the request`:                                                      {Answer: busy, Hang: true},
		`Cut, Partition: got 2 of them, want one: each ends the request`:                                                    {Cut: apitest.CutAfter, Partition: apitest.Silent},
		`Answer: got it with Tear or SlowEvents, want one or the other: no watch starts`:                                    {Answer: busy, Tear: &apitest.Tear{}},
		`Cut: got "during", want "before" or "after"`:                                                                       {Cut: "during"},
		`Cut: got "after" for watch, want Tear: a watch commits nothing`:                                                    {Verb: "watch", Cut: apitest.CutAfter},
		`Partition: got "half", want "silent" or "refused"`:                                                                 {Partition: "half"},
		`Partition: got it with First, Delay or ExpireHistory, want it alone: it lasts until Remove`:                        {Partition: apitest.Silent, First: 2},
		`Verb: got "create" with Tear or SlowEvents, want "watch" or none`:                                                  {Verb: "create", Tear: &apitest.Tear{}},
		`Tear.After: got -1, want 0 or more`:                                                                                {Tear: &apitest.Tear{After: -1}},
		`Tear: got MidFrame and Error, want one of them`:                                                                    {Tear: &apitest.Tear{MidFrame: true, Error: busy}},
		`Tear.Error.Code: got 200, want 400 to 599`:                                                                         {Tear: &apitest.Tear{Error: meta.Status{Code: 200}}},
		`Answer.Details.RetryAfterSeconds: got -1, want 0 or more`:                                                          {Answer: meta.Status{Code: 429, Details: &meta.StatusDetails{RetryAfterSeconds: -1}}},
		`Answer.Code: got 100, want 200 to 599`:                                                                             {Answer: meta.Status{Code: 100}},
		`Answer.Code: got 0 in a Status with other fields, want 200 to 599`:                                                 {Answer: meta.Status{Message: "x"}, Delay: 1},
	} {
		t.Run(want, func(t *testing.T) {
			d := newDoor(t)
			assert.Equal(t, "apitest.Fault: "+want, failure(t, func(t testing.TB) { apitest.New(t).Fault(f) }))
			assert.Empty(t, d.Faults())
		})
	}
	assert.NotNil(t, apitest.New(t).Fault(apitest.Fault{Verb: "watch", First: 2, Delay: 1, ExpireHistory: true, SlowEvents: 1, Tear: &apitest.Tear{After: 3, MidFrame: true}}))
}

// refused returns the message of a new API that refuses a fault.
func refused(t *testing.T, options apitest.Options, f apitest.Fault) string {
	return failure(t, func(t testing.TB) { apitest.New(t, options).Fault(f) })
}

func TestFaultsWithANamespaceOfAClusterScopedKindAreRefused(t *testing.T) {
	kind := store.MustKind(store.Descriptor[store.Unstructured]{
		Group: "example.com", Name: "Hall", ClusterScoped: true, Versions: []store.Version[store.Unstructured]{{Name: "v1"}},
	})
	options := apitest.Options{API: httpapi.Options{Kinds: []store.AnyKind{kind}}}
	assert.Equal(t, `apitest.Fault: Namespace: got "ns", want none: halls are in no namespace`,
		refused(t, options, apitest.Fault{Resource: "halls", Namespace: "ns", Hang: true}))
	assert.Empty(t, refused(t, options, apitest.Fault{Resource: "halls", Name: "a", Hang: true}))
}

func TestFaultsOfAnUnknownResourceAreRefused(t *testing.T) {
	message := failure(t, func(t testing.TB) { apitest.New(t).Fault(apitest.Fault{Resource: "pods", Hang: true}) })
	assert.Equal(t, `apitest.Fault: Resource: got "pods", want one of leases, leasecandidates, endpoints`, message)
	message = failure(t, func(t testing.TB) { apitest.New(t).Fault(apitest.Fault{Resource: "leases.apps", Hang: true}) })
	assert.Contains(t, message, `got "leases.apps"`)
}

func TestFaultsDescribeThemselves(t *testing.T) {
	always := func(apitest.Request) bool { return true }
	for want, f := range map[string]apitest.Fault{
		"any *: hang": {Hang: true},
		"update leases default/a userAgent=me client=c when first=2: delay 1s, expire history, answer 409": {Verb: "update", Resource: "leases", Namespace: "default", Name: "a",
			UserAgent: "me", Client: "c", When: always, First: 2, Delay: time.Second, ExpireHistory: true, Answer: meta.Status{Code: 409}},
		"any *: cut after":                              {Cut: apitest.CutAfter},
		"any *: cut before":                             {Cut: apitest.CutBefore},
		"any ns/*: partition silent":                    {Namespace: "ns", Partition: apitest.Silent},
		"watch *: slow events 1s, tear after 2 cleanly": {Verb: "watch", SlowEvents: time.Second, Tear: &apitest.Tear{After: 2}},
		"watch *: tear after 0 in mid-frame":            {Verb: "watch", Tear: &apitest.Tear{MidFrame: true}},
		"watch *: tear after 1 with ERROR 410":          {Verb: "watch", Tear: &apitest.Tear{After: 1, Error: meta.Status{Code: 410}}},
	} {
		d := newDoor(t)
		in := d.Fault(f)
		assert.Equal(t, want, in.String())
		f.When = nil
		got := in.Fault()
		got.When = nil
		assert.Equal(t, f, got)
	}
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
			f := d.Fault(apitest.Fault{Verb: "list", First: 2, Answer: meta.Status{Code: 503}})
			p := d.Fault(apitest.Fault{Partition: apitest.Silent})
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

var smallHistory = store.Options{History: 8}

func clientOf(api *apitest.API) *http.Client { return &http.Client{Transport: api.Transport()} }

// withEngines are the options of a server with a kind that has a status.
func withEngines() apitest.Options {
	kind := store.MustKind(store.Descriptor[store.Unstructured]{
		Group: "example.com", Name: "Engine", Status: true, Versions: []store.Version[store.Unstructured]{{Name: "v1"}},
	})
	return apitest.Options{API: httpapi.Options{Kinds: []store.AnyKind{kind}}}
}

func TestFaultsCanMatchOnlyTheStatus(t *testing.T) {
	const engine, patch = "/apis/example.com/v1/namespaces/default/engines/a", "application/merge-patch+json"
	d := newDoor(t, withEngines())
	made := d.do(t, "POST", "/apis/example.com/v1/namespaces/default/engines", `{"apiVersion":"example.com/v1","kind":"Engine","metadata":{"name":"a"}}`)
	require.Equal(t, 201, made.code, made)
	both := d.Fault(apitest.Fault{Verb: "patch", Resource: "engines", Delay: 1})
	one := d.Fault(apitest.Fault{Verb: "patch", Resource: "Engine", Subresource: "status", Answer: meta.Status{Code: 409}})
	any := d.Fault(apitest.Fault{Subresource: "status", Delay: 1})
	assert.Equal(t, 200, d.do(t, "PATCH", engine, `{"spec":{"on":true}}`, "Content-Type", patch).code)
	assert.Equal(t, 409, d.do(t, "PATCH", engine+"/status", `{"status":{"on":true}}`, "Content-Type", patch).code)
	assert.Equal(t, 200, d.do(t, "GET", engine+"/status", "").code)
	assert.Equal(t, []int{2, 1, 1}, []int{both.Hits(), one.Hits(), any.Hits()})
	assert.Equal(t, "patch Engine/status *: answer 409", one.String())
	assert.Equal(t, "any */status *: delay 1ns", any.String())
}

func TestFaultsOfAMissingStatusAreRefused(t *testing.T) {
	for want, f := range map[string]apitest.Fault{
		`Subresource: got "scale", want "status" or none`:                             {Subresource: "scale", Hang: true},
		`Verb: got "list" with Subresource, want get, update, patch, apply or none`:   {Subresource: "status", Verb: "list", Hang: true},
		`Subresource: got "status", want none: the resource has no such subresource`:  {Subresource: "status", Resource: "leases", Hang: true},
		`Verb: got "create" with Subresource, want get, update, patch, apply or none`: {Subresource: "status", Verb: "create", Hang: true},
	} {
		assert.Equal(t, "apitest.Fault: "+want, failure(t, func(t testing.TB) { apitest.New(t, withEngines()).Fault(f) }))
	}
	assert.Contains(t, failure(t, func(t testing.TB) { apitest.New(t).Fault(apitest.Fault{Subresource: "status", Hang: true}) }), "the resource has no such subresource")
}
