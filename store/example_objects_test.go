package store_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
	"github.com/kubecoord/kubecoord/store/meta"
)

// A function for all kinds reads objects without their Go type, and without copies.
func ExampleObjects() {
	st, _ := exampleLeases("a", "b", "c")
	defer st.Close()
	ctx := context.Background()
	summary := func(all *store.Objects) {
		fmt.Print(all.Len(), " ", all.Kind().Info().Plural, ":")
		for obj := range all.All("default") {
			fmt.Print(" ", obj.GetObjectMeta().Name, obj.GetObjectMeta().Labels)
		}
		fmt.Println()
	}

	objects, err := st.Objects(lease.Kind())
	if err != nil {
		fmt.Println(err)
		return
	}
	summary(objects)
	err = objects.Modify(ctx, "default", "a", "", func(obj meta.Object) error {
		obj.GetObjectMeta().Labels = map[string]string{"seen": "yes"}
		return nil
	}, store.UpdateOptions{})
	fmt.Println(err, objects.Get("default", "a").GetObjectMeta().Labels)
	fmt.Println(objects.Delete(ctx, "default", "b", store.DeleteOptions{}), objects.Get("default", "b"))
	summary(objects)
	fmt.Println(objects.DeleteCollection(ctx, "default", store.DeleteOptions{}), objects.Len())

	// Output:
	// 3 leases: amap[] bmap[] cmap[]
	// <nil> map[seen:yes]
	// <nil> <nil>
	// 2 leases: amap[seen:yes] cmap[]
	// <nil> 0
}

// A controller for all kinds deletes the dependents of an object that is gone.
func ExampleStore_Changes() {
	st, leases := exampleLeases("owner")
	defer st.Close()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()

	dependentsOf := func(uid meta.UID) (names []string) {
		objects, err := st.Objects(lease.Kind())
		if err != nil {
			return nil
		}
		for obj := range objects.All("") {
			for _, owner := range obj.GetObjectMeta().OwnerReferences {
				if owner.UID == uid {
					names = append(names, obj.GetObjectMeta().Name)
				}
			}
		}
		return names
	}
	handle := func(c store.ObjectChange) {
		switch {
		case c.Old == nil:
			fmt.Println("created", c.Kind.Info().Kind, c.New.GetObjectMeta().Name)
		case c.New == nil:
			gone := c.Old.GetObjectMeta()
			fmt.Println("deleted", c.Kind.Info().Kind, gone.Name)
			for _, name := range dependentsOf(gone.UID) {
				if _, err := leases.Delete(ctx, "default", name, store.DeleteOptions{}); err != nil {
					fmt.Println(err)
				}
			}
			if gone.Name == "dependent" {
				stop()
			}
		}
	}

	for changes, err := range st.Changes(ctx) {
		if err != nil {
			fmt.Println("end:", errors.Is(err, context.Canceled))
			break
		}
		if len(changes) == 0 { // from here on: read the present state
			owner, err := leases.Get(ctx, "default", "owner")
			if err != nil {
				fmt.Println(err)
				return
			}
			if _, err := leases.Create(ctx, &lease.Lease{ObjectMeta: meta.ObjectMeta{
				Namespace: "default", Name: "dependent",
				OwnerReferences: []meta.OwnerReference{{APIVersion: lease.Kind().TypeMeta(0).APIVersion, Kind: "Lease", Name: "owner", UID: owner.UID}},
			}}, store.CreateOptions{}); err != nil {
				fmt.Println(err)
			}
			if _, err := leases.Delete(ctx, "default", "owner", store.DeleteOptions{}); err != nil {
				fmt.Println(err)
			}
		}
		for _, c := range changes {
			handle(c)
		}
	}

	// Output:
	// created Lease dependent
	// deleted Lease owner
	// deleted Lease dependent
	// end: true
}

// A Template is validated once. Put stores any number of its objects, here each with a name of its own.
func ExampleStore_Put() {
	st := store.New(store.Options{})
	defer st.Close()
	template, err := store.NewTemplate(lease.Kind(), &lease.Lease{
		ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "worker"},
		Spec:       lease.LeaseSpec{LeaseDurationSeconds: new(int32(15))},
	}, store.TemplateOptions{FieldManager: "fixture"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(template.Object().GetObjectMeta().ManagedFields[0].Manager)
	var all []*store.Template
	for i := range 3 {
		all = append(all, template.With(func(obj meta.Object) { obj.GetObjectMeta().Name = fmt.Sprint("worker-", i) }))
	}
	stored, err := st.Put(context.Background(), all...)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, obj := range stored {
		fmt.Println(obj.GetObjectMeta().Name, obj.GetObjectMeta().ResourceVersion)
	}
	_, err = st.Put(context.Background(), all[0])
	fmt.Println(errors.Is(err, store.ErrAlreadyExists), st.Len(lease.Kind()))

	// Output:
	// fixture
	// worker-0 1001
	// worker-1 1002
	// worker-2 1003
	// true 3
}

// The tree of an object is what the JSON of the object decodes to, and what the packages of Kubernetes take.
func ExampleUnstructured_Tree() {
	u := &store.Unstructured{ObjectMeta: meta.ObjectMeta{Name: "a"}, Content: map[string]any{"size": int64(3)}}
	tree := u.Tree()
	fmt.Println(tree)

	tree["kind"], tree["size"] = "Gadget", int64(4)
	fmt.Println(u.SetTree(tree), u.Kind, u.Name, u.Content)
	fmt.Println(u.SetTree(map[string]any{"metadata": "no object"}) != nil)

	// Output:
	// map[metadata:map[name:a] size:3]
	// <nil> Gadget a map[size:4]
	// true
}

// The age of an object is counted by the clock of the store, which may be moved by hand.
func ExampleStore_Now() {
	c := clock.NewManual(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC))
	st := store.New(store.Options{Clock: c})
	defer st.Close()
	l, err := lease.In(st).Create(context.Background(), &lease.Lease{
		ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "a"},
	}, store.CreateOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	c.FastForward(time.Minute)
	fmt.Println(st.Now().Sub(l.CreationTimestamp.Time))
	// Output: 1m0s
}
