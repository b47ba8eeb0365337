package apitest_test

import (
	"fmt"
	"net/http"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
)

// Who made each change, and what became of a create without an answer.
func ExampleAPI_Changes() {
	t, end := exampleTest()
	defer end()
	api := apitest.New(t)
	since := api.Store().ResourceVersion()
	api.Fault(apitest.CutAfter().First(1))
	post(&http.Client{Transport: api.TransportFor("worker")}, api.Host()+path, `{"metadata":{"name":"a"}}`)
	changes, err := api.Changes(since)
	show := func(c apitest.Change) { fmt.Println(c.Type, c.Resource, c.Name, "by", c.Request.Client, err) }
	for _, c := range changes {
		show(c)
	}
	for _, r := range api.Requests() {
		fmt.Println(r, r.Result != (apitest.Result{}), r.Result.Name, r.Result.ResourceVersion)
	}
	// Output:
	// ADDED leases a by worker <nil>
	// create leases default/a cut true a 1001
}
