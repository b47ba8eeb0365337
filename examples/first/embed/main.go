// Program embed is the smallest program with Leases of its own.
package main

import (
	"context"
	"fmt"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
	"log"
)

func main() {
	st := store.New(store.Options{})
	defer st.Close()
	leases := lease.In(st) // Get, List, Watch, Create, Update, Patch, Apply, Delete
	l, err := leases.Create(context.Background(), &lease.Lease{
		ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "hello"},
		Spec:       lease.LeaseSpec{HolderIdentity: new("me"), LeaseDurationSeconds: new(int32(15))},
	}, store.CreateOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(l.Name, "is held by", *l.Spec.HolderIdentity)
}
