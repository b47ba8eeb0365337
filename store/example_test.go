package store_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

func ExampleNew() {
	st := store.New(store.Options{})
	defer st.Close()

	leases := lease.In(st)
	l, err := leases.Create(context.Background(), &lease.Lease{
		ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "leader"},
		Spec:       lease.LeaseSpec{HolderIdentity: new("worker-1")},
	}, store.CreateOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(l.Name, "at", l.ResourceVersion, "held by", *l.Spec.HolderIdentity)

	_, err = leases.Create(context.Background(), &lease.Lease{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "leader"}}, store.CreateOptions{})
	fmt.Println(errors.Is(err, store.ErrAlreadyExists), err)

	// Output:
	// leader at 1001 held by worker-1
	// true leases.coordination.k8s.io "leader" already exists
}

// Modify calls the function again with the newer state if another write came first.
func ExampleCollection_Modify() {
	st := store.New(store.Options{})
	defer st.Close()
	leases := lease.In(st)
	_, err := leases.Create(context.Background(), &lease.Lease{
		ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "leader"},
		Spec:       lease.LeaseSpec{LeaseTransitions: new(int32(0))},
	}, store.CreateOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}

	l, err := leases.Modify(context.Background(), "default", "leader", func(l *lease.Lease) error {
		l.Spec.HolderIdentity = new("worker-2")
		*l.Spec.LeaseTransitions++
		return nil
	}, store.UpdateOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(*l.Spec.HolderIdentity, *l.Spec.LeaseTransitions)

	_, err = leases.Modify(context.Background(), "default", "none", func(*lease.Lease) error { return nil }, store.UpdateOptions{})
	fmt.Println(errors.Is(err, store.ErrNotFound))

	// Output:
	// worker-2 1
	// true
}

// The watch starts with the current state, and then sends the changes.
func ExampleCollection_Watch() {
	st := store.New(store.Options{})
	defer st.Close()
	leases := lease.In(st)
	write := func(_ *lease.Lease, err error) {
		if err != nil {
			fmt.Println(err)
		}
	}
	write(leases.Create(context.Background(), &lease.Lease{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "leader"}}, store.CreateOptions{}))

	for ev, err := range leases.Watch(context.Background(), store.WatchOptions{Namespace: "default"}) {
		if err != nil {
			fmt.Println(err) // errors.Is(err, store.ErrExpired): start again from a list
			return
		}
		fmt.Println(ev.Type, ev.Object.Name, ev.Object.ResourceVersion)
		switch ev.Object.ResourceVersion {
		case "1001":
			write(leases.Modify(context.Background(), "default", "leader", func(l *lease.Lease) error {
				l.Spec.HolderIdentity = new("worker-1")
				return nil
			}, store.UpdateOptions{}))
		case "1002":
			write(leases.Delete(context.Background(), "default", "leader", store.DeleteOptions{}))
		case "1003":
			return
		}
	}

	// Output:
	// ADDED leader 1001
	// MODIFIED leader 1002
	// DELETED leader 1003
}

// All pages have the state of the first page.
func ExampleCollection_List() {
	st := store.New(store.Options{})
	defer st.Close()
	leases := lease.In(st)
	for i := range 5 {
		_, err := leases.Create(context.Background(), &lease.Lease{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: fmt.Sprint("lease-", i)}}, store.CreateOptions{})
		if err != nil {
			fmt.Println(err)
			return
		}
	}

	opts := store.ListOptions{Namespace: "default", Limit: 2}
	for {
		list, err := leases.List(context.Background(), opts)
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, l := range list.Items {
			fmt.Print(l.Name, " ")
			// A later page does not show this deletion.
			if _, err := leases.Delete(context.Background(), "default", l.Name, store.DeleteOptions{}); err != nil {
				fmt.Println(err)
			}
		}
		fmt.Println("at", list.ResourceVersion)
		if opts.Continue = list.Continue; opts.Continue == "" {
			break
		}
	}

	// Output:
	// lease-0 lease-1 at 1005
	// lease-2 lease-3 at 1005
	// lease-4 at 1005
}

// Two tests start from the same state and do not see each other's writes.
func ExampleStore_Fork() {
	st := store.New(store.Options{})
	defer st.Close()
	_, err := lease.In(st).Create(context.Background(), &lease.Lease{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "leader"}}, store.CreateOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}

	for _, who := range []string{"worker-1", "worker-2"} {
		fork, err := st.Fork()
		if err != nil {
			fmt.Println(err)
			return
		}
		defer fork.Close()
		l, err := lease.In(fork).Modify(context.Background(), "default", "leader", func(l *lease.Lease) error {
			if l.Spec.HolderIdentity != nil {
				return fmt.Errorf("held by %s", *l.Spec.HolderIdentity)
			}
			l.Spec.HolderIdentity = &who
			return nil
		}, store.UpdateOptions{})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(*l.Spec.HolderIdentity, "at", l.ResourceVersion)
	}
	fmt.Println("the store is at", st.ResourceVersion())

	// Output:
	// worker-1 at 1002
	// worker-2 at 1002
	// the store is at 1001
}

// The status is a subresource: a write of it changes nothing else, and counts no
// generation.
func ExampleCollection_Status() {
	st := store.New(store.Options{})
	defer st.Close()
	engines := store.MustKind(kind.Descriptor[*store.Unstructured]{
		Resource: kind.Resource{Group: "example.com", Kind: "Engine", ClusterScoped: true, Status: true},
		Versions: []kind.Version[*store.Unstructured]{{Name: "v1"}},
	}).In(st)

	e, err := engines.Create(context.Background(), &store.Unstructured{
		ObjectMeta: meta.ObjectMeta{Name: "a"},
		Content:    map[string]any{"spec": "fast", "status": "a create has none"},
	}, store.CreateOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(e.Generation, e.Content)
	e.Content["status"], e.Content["spec"] = "running", "not written"
	e, err = engines.Status().Update(context.Background(), e, store.UpdateOptions{})
	fmt.Println(e.Generation, e.Content, err)

	// Output:
	// 1 map[spec:fast]
	// 1 map[spec:fast status:running] <nil>
}
