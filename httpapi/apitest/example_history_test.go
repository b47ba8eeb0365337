package apitest_test

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
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

// A watch ends at its timeout; the timeline shows who did what.
func ExampleRequests_Timeline() {
	t, end := exampleTest()
	defer end()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	api := apitest.New(t, apitest.Options{Store: store.Options{Clock: clock.Func(func() time.Time { return now })}})
	api.Fault(apitest.EndWatch(1), apitest.Match{Verb: "watch"})
	post(&http.Client{Transport: api.TransportFor("worker")}, api.Host()+path, `{"metadata":{"name":"a"}}`)
	now = now.Add(2500 * time.Millisecond)
	client := &http.Client{Transport: api.TransportFor("informer")}
	if resp, err := client.Get(api.Host() + path + "?watch=true"); err == nil {
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
	fmt.Println(strings.Join(api.Requests().Timeline(), "\n"))
	watch := api.Requests()[1]
	fmt.Println(watch.Ended(), watch.Watch == (apitest.WatchEnd{Events: 1}))
	// Output:
	//   0s  worker    create leases default/a 201
	// 2.5s  informer  watch leases default/* 200, ended after 1 events, 0s  <- watch *: end watch after 1
	// watch leases default/* 200, ended after 1 events, 0s true
}

// A worker still writes after another one has taken its Lease.
func ExampleAPI_WritesWithoutLease() {
	t, end := exampleTest()
	defer end()
	now := func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }
	api := apitest.New(t, apitest.Options{Store: store.Options{Clock: clock.Func(now)}})
	as := func(who string) *http.Client { return &http.Client{Transport: api.TransportFor(who)} }
	take := func(who string) {
		req, _ := http.NewRequest("PATCH", api.Host()+path+"/leader", strings.NewReader(`{"spec":{"holderIdentity":"`+who+`"}}`))
		req.Header.Set("Content-Type", "application/merge-patch+json")
		as(who).Transport.RoundTrip(req)
	}
	post(as("setup"), api.Host()+path, `{"metadata":{"name":"leader"}}`)
	take("a")
	post(as("a"), api.Host()+path, `{"metadata":{"name":"work"}}`)
	take("b")
	post(as("a"), api.Host()+path, `{"metadata":{"name":"more"}}`)
	for _, f := range api.WritesWithoutLease("default", "leader") {
		fmt.Println(f.Text)
	}
	// Output:
	// client "a" wrote leases default/more without the Lease default/leader, 0s after "b" took it
}

// Two servers on which the same was done, after the client has come to rest.
func ExampleAPI_State() {
	t, end := exampleTest()
	defer end()
	api := apitest.New(t)
	again := api.Fork(t)
	for _, run := range []*apitest.API{api, again} {
		post(&http.Client{Transport: run.TransportFor("worker")}, run.Host()+path, `{"metadata":{"generateName":"web-"}}`)
		err := run.WaitQuiet(context.Background(), time.Millisecond, apitest.Match{Client: "worker"}.Matches)
		if err != nil {
			fmt.Println(err)
		}
	}
	state := api.State()
	fmt.Print(state["leases.coordination.k8s.io default/web-<1>"])
	fmt.Println(len(state), maps.Equal(state, again.State()))
	// Output:
	// {
	//   "metadata": {
	//     "creationTimestamp": "<time>",
	//     "generateName": "web-",
	//     "name": "web-<1>",
	//     "namespace": "default",
	//     "resourceVersion": "<version>"
	//   },
	//   "spec": {}
	// }
	// 1 true
}
