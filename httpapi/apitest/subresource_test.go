package apitest_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/store"
)

// withEngines are the options of a server that has a kind with a status.
func withEngines() apitest.Options {
	kind := store.MustKind(store.Descriptor[store.Unstructured]{
		Group: "example.com", Name: "Engine", Status: true, Versions: []store.Version[store.Unstructured]{{Name: "v1"}},
	})
	return apitest.Options{API: httpapi.Options{Kinds: []store.AnyKind{kind}}}
}

func TestFaultsMayBeMeantForTheStatusAlone(t *testing.T) {
	const engine, patch = "/apis/example.com/v1/namespaces/default/engines/a", "application/merge-patch+json"
	d := newDoor(t, withEngines())
	made := d.do(t, "POST", "/apis/example.com/v1/namespaces/default/engines", `{"apiVersion":"example.com/v1","kind":"Engine","metadata":{"name":"a"}}`)
	require.Equal(t, 201, made.code, made)
	both := d.Fault(apitest.Fault{Verb: "patch", Resource: "engines", Delay: 1})
	one := d.Fault(apitest.Fault{Verb: "patch", Resource: "Engine", Subresource: "status", Answer: apitest.Conflict()})
	any := d.Fault(apitest.Fault{Subresource: "status", Delay: 1})
	assert.Equal(t, 200, d.do(t, "PATCH", engine, `{"spec":{"on":true}}`, "Content-Type", patch).code)
	assert.Equal(t, 409, d.do(t, "PATCH", engine+"/status", `{"status":{"on":true}}`, "Content-Type", patch).code)
	assert.Equal(t, 200, d.do(t, "GET", engine+"/status", "").code)
	assert.Equal(t, []int{2, 1, 1}, []int{both.Hits(), one.Hits(), any.Hits()})
	assert.Equal(t, "patch Engine/status *: answer 409", one.String())
	assert.Equal(t, "any */status *: delay 1ns", any.String())
}

func TestFaultsOfAStatusThatIsNotThereAreRefused(t *testing.T) {
	for want, f := range map[string]apitest.Fault{
		`Subresource: got "scale", want "status" or none`:                             {Subresource: "scale", Hang: true},
		`Verb: got "list" with Subresource, want get, update, patch, apply or none`:   {Subresource: "status", Verb: "list", Hang: true},
		`Subresource: got "status", want none: no such resource has one`:              {Subresource: "status", Resource: "leases", Hang: true},
		`Verb: got "create" with Subresource, want get, update, patch, apply or none`: {Subresource: "status", Verb: "create", Hang: true},
	} {
		assert.Equal(t, "apitest.Fault: "+want, failure(t, func(t testing.TB) { apitest.New(t, withEngines()).Fault(f) }))
	}
	assert.Contains(t, failure(t, func(t testing.TB) { apitest.New(t).Fault(apitest.Fault{Subresource: "status", Hang: true}) }), "no such resource has one")
}
