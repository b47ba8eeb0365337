package client_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"os"
	"time"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/client"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

// serve starts a server on a loopback port.
func serve() (url string, end func()) {
	st := store.New(store.Options{})
	api := httpapi.New(st, httpapi.Options{})
	server := httptest.NewServer(api)
	return server.URL, func() { api.Close(); server.Close(); st.Close() }
}

// A Collection has the methods of store.Collection, and the same errors.
func ExampleIn() {
	ctx := context.Background()
	url, end := serve()
	defer end()
	c, err := client.New(client.Config{Server: url})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	leases := client.In(c, lease.Kind())

	created, err := leases.Create(ctx, &lease.Lease{
		ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "hello"},
		Spec:       lease.LeaseSpec{HolderIdentity: new("me")},
	}, store.CreateOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = leases.Modify(ctx, "default", "hello", func(l *lease.Lease) error {
		l.Spec.HolderIdentity = new("you")
		return nil
	}, store.UpdateOptions{})
	fmt.Println("modify:", err)
	_, err = leases.Update(ctx, created, store.UpdateOptions{})
	fmt.Println("conflict:", errors.Is(err, store.ErrConflict))
	_, err = leases.Patch(ctx, "default", "hello", store.MergePatch, []byte(`{"spec":{"leaseTransitions":1}}`), store.PatchOptions{})
	fmt.Println("patch:", err)
	_, err = leases.Apply(ctx, &lease.Lease{
		ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "other"},
	}, store.ApplyOptions{FieldManager: "example"})
	fmt.Println("apply:", err)
	for l, err := range leases.All(ctx, "default") {
		fmt.Println(l.Name, err)
	}
	page, err := leases.List(ctx, store.ListOptions{Namespace: "default", Limit: 1})
	if err == nil {
		fmt.Println(*page.Items[0].Spec.HolderIdentity, "and", *page.RemainingItemCount, "more")
	}
	_, err = leases.Delete(ctx, "default", "hello", store.DeleteOptions{})
	fmt.Println("delete:", err)
	_, err = leases.DeleteCollection(ctx, store.DeleteOptions{}, store.ListOptions{Namespace: "default"})
	fmt.Println("delete the others:", err)
	_, err = leases.Get(ctx, "default", "hello")
	fmt.Println(err)
	// Output:
	// modify: <nil>
	// conflict: true
	// patch: <nil>
	// apply: <nil>
	// hello <nil>
	// other <nil>
	// you and 1 more
	// delete: <nil>
	// delete the others: <nil>
	// leases.coordination.k8s.io "hello" not found
}

// A service has several addresses. The first server does not answer here, and the second one does.
func ExampleConfig() {
	url, end := serve()
	defer end()
	c, err := client.New(client.Config{
		Servers: []string{"http://127.0.0.1:1", url},
		Timeout: 10 * time.Second,
		Logger: slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey || a.Key == "error" {
				return slog.Attr{}
			}
			return a
		}})),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	list, err := client.In(c, lease.Kind()).List(context.Background(), store.ListOptions{})
	fmt.Println(len(list.Items), "Leases,", err)
	// Output:
	// level=WARN msg="client: the server does not answer" server=http://127.0.0.1:1
	// 0 Leases, <nil>
}

// A Contender contends over the network, also with electors of client-go. Observe shows the holder.
func ExampleCollection() {
	ctx := context.Background()
	url, end := serve()
	defer end()
	c, err := client.New(client.Config{Server: url})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	var leases *client.Collection[lease.Lease] = client.In(c, lease.Kind())
	contender, err := lease.NewContender(leases, lease.ContenderOptions{
		Namespace: "default", Name: "leader", Identity: "worker-1", ReleaseOnCancel: true,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = contender.Run(ctx, func(ctx context.Context, h lease.Holding) {
		for h, err := range lease.Observe(ctx, leases, "default", "leader") {
			fmt.Println(h.Holder, "leads", err)
			break
		}
	})
	fmt.Println(err)
	// Output:
	// worker-1 leads <nil>
	// <nil>
}

// Watch begins with the current state, and goes on over lost connections. Follow also does over lost
// history.
func ExampleCollection_Watch() {
	ctx := context.Background()
	url, end := serve()
	defer end()
	c, err := client.New(client.Config{Server: url})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	leases := client.In(c, lease.Kind())
	for i, holder := range []string{"a", "b"} {
		l := &lease.Lease{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: fmt.Sprint("lease-", i)}}
		l.Spec.HolderIdentity = &holder
		if _, err := leases.Create(ctx, l, store.CreateOptions{}); err != nil {
			fmt.Println(err)
			return
		}
	}
	version := ""
	for ev, err := range leases.Watch(ctx, store.WatchOptions{Namespace: "default", AllowWatchBookmarks: true}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		version = ev.Object.ResourceVersion
		if ev.InitialEventsEnd {
			break
		}
		fmt.Println(ev.Type, ev.Object.Name, *ev.Object.Spec.HolderIdentity)
	}
	fmt.Println("up to", version != "")
	for ev, err := range leases.Follow(ctx, store.WatchOptions{Namespace: "default", Name: "lease-1"}) {
		fmt.Println(ev.Type, ev.Object.Name, err)
		break
	}
	// Output:
	// ADDED lease-0 a
	// ADDED lease-1 b
	// up to true
	// ADDED lease-1 <nil>
}
