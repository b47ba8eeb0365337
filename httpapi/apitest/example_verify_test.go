package apitest_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
	"github.com/kubecoord/kubecoord/store/meta"
)

// A client takes a Lease that another one still holds.
func ExampleAPI_Verify() {
	t, end := exampleTest()
	defer end()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	api := apitest.New(t, apitest.Options{Store: store.Options{Clock: clock.Func(func() time.Time { return now })}})
	leases := lease.In(api.Store())
	_, err := leases.Create(context.Background(), &lease.Lease{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "leader"}}, store.CreateOptions{})
	if err != nil {
		fmt.Println(err)
	}
	for _, who := range []string{"a", "a", "b"} {
		now = now.Add(5 * time.Second)
		leases.Modify(context.Background(), "default", "leader", func(l *lease.Lease) error {
			l.Spec.HolderIdentity, l.Spec.LeaseDurationSeconds = &who, new(int32(15))
			l.Spec.RenewTime = new(meta.NewMicroTime(now))
			return nil
		}, store.UpdateOptions{})
	}
	fmt.Println(api.Verify(t))
	// Output:
	// apitest: two held the Lease default/leader at once: "b" took the Lease at 2026-01-02T03:04:20Z, 10s before the Lease of "a" ran out
	//           0s  1001 ADDED leases default/leader through the Store, held by nobody
	//           5s  1002 MODIFIED leases default/leader through the Store, held by "a" for 15s
	//          10s  1003 MODIFIED leases default/leader through the Store, held by "a" for 15s
	//          15s  1004 MODIFIED leases default/leader through the Store, held by "b" for 15s
	// false
}

// A client patches an object that another client has changed meanwhile.
func ExampleAPI_Verdict() {
	t, end := exampleTest()
	defer end()
	now := func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }
	api := apitest.New(t, apitest.Options{Store: store.Options{Clock: clock.Func(now)}})
	patch := func(who, text string) {
		req, _ := http.NewRequest("PATCH", api.Host()+path+"/a", strings.NewReader(text))
		req.Header.Set("Content-Type", "application/merge-patch+json")
		api.TransportFor(who).RoundTrip(req)
	}
	post(&http.Client{Transport: api.TransportFor("slow")}, api.Host()+path, `{"metadata":{"name":"a"}}`)
	patch("fast", `{"spec":{"holderIdentity":"fast"}}`)
	patch("slow", `{"spec":{"holderIdentity":"slow"}}`)

	var lost []apitest.Finding = api.Verdict().LostUpdates
	for _, f := range lost {
		fmt.Println(f)
	}
	// Output:
	// patch leases default/a by client "slow" at 1003, without a resourceVersion, overwrote an update that it had not seen: it knew 1001 and replaced 1002: spec.holderIdentity was not there, then "fast", and is "slow"
	//           0s  1001 ADDED leases default/a by create of client "slow", 201, held by nobody
	//           0s  1002 MODIFIED leases default/a by patch of client "fast", 200, held by "fast"
	//           0s  1003 MODIFIED leases default/a by patch of client "slow", 200, held by "slow"
}
