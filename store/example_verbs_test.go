package store_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
	"github.com/kubecoord/kubecoord/watch"
)

// exampleLeases returns the leases of a new store, with one of each name.
func exampleLeases(names ...string) (*store.Store, *store.Collection[lease.Lease]) {
	st := store.New(store.Options{})
	leases := lease.In(st)
	for _, name := range names {
		l := &lease.Lease{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: name}}
		if _, err := leases.Create(context.Background(), l, store.CreateOptions{}); err != nil {
			panic(err)
		}
	}
	return st, leases
}

// An update must have the resourceVersion of the state that it replaces.
func ExampleCollection_Update() {
	st, leases := exampleLeases("leader")
	defer st.Close()
	ctx := context.Background()

	l, err := leases.Get(ctx, "default", "leader")
	if err != nil {
		fmt.Println(err)
		return
	}
	l.Spec.HolderIdentity = new("worker-1")
	if _, err := leases.Update(ctx, l, store.UpdateOptions{FieldManager: "worker-1"}); err != nil {
		fmt.Println(err)
		return
	}

	l.Spec.HolderIdentity = new("worker-2")
	_, err = leases.Update(ctx, l, store.UpdateOptions{FieldManager: "worker-2"})
	fmt.Println(errors.Is(err, store.ErrConflict))
	var status *meta.StatusError
	if errors.As(err, &status) {
		fmt.Println(status.Status.Code, status.Status.Reason, status.Status.Details.Name)
	}

	// Output:
	// true
	// 409 Conflict leader
}

// A precondition keeps an object that has changed.
func ExampleCollection_Delete() {
	st, leases := exampleLeases("a", "b", "c")
	defer st.Close()
	ctx := context.Background()

	_, err := leases.Delete(ctx, "default", "a", store.DeleteOptions{ResourceVersion: "999"})
	fmt.Println(errors.Is(err, store.ErrConflict))
	l, err := leases.Delete(ctx, "default", "a", store.DeleteOptions{PropagationPolicy: meta.DeletePropagationBackground})
	fmt.Println(l.Name, l.ResourceVersion, err)
	list, err := leases.DeleteCollection(ctx, store.DeleteOptions{}, store.ListOptions{Namespace: "default"})
	fmt.Println(len(list.Items), err)

	// Output:
	// true
	// a 1004 <nil>
	// 2 <nil>
}

func ExampleCollection_All() {
	st, leases := exampleLeases("b", "a")
	defer st.Close()
	for l, err := range leases.All(context.Background(), "default") {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(l.Name)
	}

	// Output:
	// a
	// b
}

// Follow continues where a watch would end with ErrExpired. This one only reads the objects,
// so it needs no copies.
func ExampleCollection_Follow() {
	st, leases := exampleLeases("a", "b")
	defer st.Close()
	ctx := context.Background()

	for ev, err := range leases.Follow(ctx, store.WatchOptions{Namespace: "default", Timeout: time.Hour, Shared: true}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(ev.Type, ev.Object.Name)
		switch {
		case ev.Object.Name == "b" && ev.Type == watch.Added:
			if _, err := leases.Delete(ctx, "default", "b", store.DeleteOptions{}); err != nil {
				fmt.Println(err)
			}
			st.ExpireHistory()
		case ev.Type == watch.Deleted:
			return
		}
	}

	// Output:
	// ADDED a
	// ADDED b
	// DELETED b
}

func ExampleCollection_Patch() {
	st, leases := exampleLeases("leader")
	defer st.Close()
	ctx := context.Background()

	l, err := leases.Patch(ctx, "default", "leader", store.MergePatch,
		[]byte(`{"spec":{"holderIdentity":"worker-1"}}`), store.PatchOptions{FieldManager: "worker-1"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(*l.Spec.HolderIdentity)
	var merge store.PatchType = store.StrategicMergePatch // merges lists by the keys of the schema
	l, err = leases.Patch(ctx, "default", "leader", merge, []byte(`{"metadata":{"finalizers":["example.com/held"]}}`), store.PatchOptions{})
	fmt.Println(err, l.Finalizers)
	_, err = leases.Patch(ctx, "default", "leader", store.JSONPatch,
		[]byte(`[{"op":"replace","path":"/spec/holder","value":"worker-2"}]`), store.PatchOptions{})
	fmt.Println(errors.Is(err, store.ErrInvalid))

	// Output:
	// worker-1
	// <nil> [example.com/held]
	// true
}

// The field manager of an apply owns the fields that it applies.
func ExampleCollection_Apply() {
	st := store.New(store.Options{})
	defer st.Close()
	leases := lease.In(st)
	ctx := context.Background()

	config := func(holder string) *lease.Lease {
		return &lease.Lease{
			ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "leader"},
			Spec:       lease.LeaseSpec{HolderIdentity: &holder},
		}
	}
	if _, err := leases.Apply(ctx, config("worker-1"), store.ApplyOptions{FieldManager: "worker-1"}); err != nil {
		fmt.Println(err)
		return
	}
	_, err := leases.Apply(ctx, config("worker-2"), store.ApplyOptions{FieldManager: "worker-2"})
	fmt.Println(err)
	l, err := leases.Apply(ctx, config("worker-2"), store.ApplyOptions{FieldManager: "worker-2", Force: true})
	fmt.Println(*l.Spec.HolderIdentity, err)
	for _, entry := range l.ManagedFields {
		fmt.Printf("%s %s %s\n", entry.Manager, entry.Operation, entry.FieldsV1.Raw)
	}

	// Output:
	// Apply failed with 1 conflict: conflict with "worker-1": .spec.holderIdentity
	// worker-2 <nil>
	// worker-2 Apply {"f:spec":{"f:holderIdentity":{}}}
}

// A list at an older resourceVersion is answered until the history has expired.
func ExampleListOptions() {
	st, leases := exampleLeases("a", "b")
	defer st.Close()
	ctx := context.Background()
	show := func(l *store.List[lease.Lease], err error) {
		switch {
		case errors.Is(err, store.ErrExpired):
			fmt.Println("expired")
		case errors.Is(err, store.ErrTimeout), errors.Is(err, store.ErrBadRequest):
			fmt.Println(err)
		default:
			fmt.Println(len(l.Items), "at", l.ResourceVersion)
		}
	}
	show(leases.List(ctx, store.ListOptions{ResourceVersion: "1001", ResourceVersionMatch: store.MatchExact}))
	show(leases.List(ctx, store.ListOptions{ResourceVersion: "1001", ResourceVersionMatch: store.MatchNotOlderThan}))
	show(leases.List(ctx, store.ListOptions{LabelSelector: "a b"}))
	st.ExpireHistory()
	show(leases.List(ctx, store.ListOptions{ResourceVersion: "1001", ResourceVersionMatch: store.MatchExact}))
	// Output:
	// 1 at 1001
	// 2 at 1002
	// unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt
	// expired
}

// A deletion by policy leaves the dependents to a garbage collector: it sets a finalizer.
func ExampleDeleteOptions() {
	st, leases := exampleLeases()
	defer st.Close()
	ctx := context.Background()
	for policy, finalizer := range map[meta.DeletionPropagation]string{
		meta.DeletePropagationOrphan:     meta.FinalizerOrphanDependents,
		meta.DeletePropagationForeground: meta.FinalizerDeleteDependents,
	} {
		owner := meta.OwnerReference{APIVersion: "v1", Kind: "Node", Name: "n", UID: "1"}
		l, err := leases.Create(ctx, &lease.Lease{ObjectMeta: meta.ObjectMeta{
			Namespace: "default", GenerateName: "a-", OwnerReferences: []meta.OwnerReference{owner},
		}}, store.CreateOptions{})
		if err != nil {
			fmt.Println(err)
			return
		}
		l, err = leases.Delete(ctx, "default", l.Name, store.DeleteOptions{PropagationPolicy: policy})
		fmt.Println(err, l.Finalizers[0] == finalizer, l.DeletionTimestamp != nil)
	}
	// Output:
	// <nil> true true
	// <nil> true true
}

// A watch may start at the resourceVersion of a list. A bookmark has only a resourceVersion to start again.
func ExampleWatchOptions() {
	st, leases := exampleLeases("a")
	defer st.Close()
	show := func(ev watch.Event[lease.Lease]) {
		switch ev.Type {
		case watch.Bookmark:
			fmt.Println("start again at", ev.Object.ResourceVersion)
		default:
			fmt.Println(ev.Type, ev.Object.Name)
		}
	}
	for ev, err := range leases.Watch(context.Background(), store.WatchOptions{AllowWatchBookmarks: true}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		if show(ev); ev.InitialEventsEnd {
			break
		}
	}
	// Output:
	// ADDED a
	// start again at 1001
}
