package apitest_test

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
)

// Time passes when the test says so: no bubble is needed, and clients may come
// over a socket.
func ExampleAPI_FastForward() {
	t, end := exampleTest()
	defer end()
	api := apitest.New(t, apitest.Options{Store: store.Options{
		Clock: clock.NewManual(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)),
	}})
	resp, err := http.Get(api.URL() + "/apis/coordination.k8s.io/v1/leases?watch=true&resourceVersion=1000&timeoutSeconds=3600")
	if err != nil {
		t.Error(err)
	}
	defer resp.Body.Close()
	api.FastForward(time.Hour)
	n, err := resp.Body.Read(make([]byte, 1))
	fmt.Println(n, err, (*registry.Store)(api.Store()).Now().Format(time.DateTime))
	// Output:
	// 0 EOF 2026-01-01 01:00:00
}

// With a seed, and a clock that is moved by hand, a test may compare whole answers
// and whole states.
func ExampleOptions_seed() {
	t, end := exampleTest()
	defer end()
	api := apitest.New(t, apitest.Options{Store: store.Options{
		Seed:  42,
		Clock: clock.NewManual(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)),
	}})
	client := http.Client{Transport: api.Transport()}
	post(&client, api.Host()+path, `{"metadata":{"generateName":"worker-"}}`)
	list, err := lease.In(api.Store()).List(context.Background(), store.ListOptions{})
	if err != nil {
		t.Error(err)
	}
	l := list.Items[0]
	fmt.Println(l.Name, l.UID, l.CreationTimestamp.UTC().Format(time.RFC3339))
	// Output:
	// worker-64fdr 8f3fe9a6-e1cc-43ce-a9c3-96127c708658 2026-01-01T00:00:00Z
}
