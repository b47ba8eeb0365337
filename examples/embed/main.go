// Command embed uses kubecoord in three ways: by the typed Go API, as an http.Handler,
// and with a client over the in-memory transport.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// run writes a Lease in Go and reads it over HTTP.
func run(ctx context.Context, out io.Writer) error {
	st := store.New(store.Options{})
	defer st.Close()
	leases := lease.In(st) // typed: Get, List, Watch, Create, Update, Patch, Apply, Delete
	created, err := leases.Create(ctx, &lease.Lease{
		ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "hello"},
		Spec:       lease.LeaseSpec{HolderIdentity: new("me"), LeaseDurationSeconds: new(int32(15))},
	}, store.CreateOptions{})
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "created", created.Name, "held by", *created.Spec.HolderIdentity)

	api := httpapi.New(st, httpapi.Options{}) // an http.Handler
	defer api.Close()

	// An API can be mounted in any mux, here under a prefix.
	mux := http.NewServeMux()
	mux.Handle("/coordination/", http.StripPrefix("/coordination", api))

	// The transport works without a socket, in any client.
	client := &http.Client{Transport: api.Transport()}
	resp, err := client.Get("http://coordination/apis/coordination.k8s.io/v1/namespaces/default/leases/hello")
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	fmt.Fprintln(out, "read over HTTP:", resp.Status)

	_, err = leases.Modify(ctx, "default", "hello", func(l *lease.Lease) error {
		l.Spec.HolderIdentity = new("you")
		return nil
	}, store.UpdateOptions{})
	if err != nil {
		return err
	}
	for l, err := range leases.All(ctx, "default") {
		if err != nil {
			return err
		}
		fmt.Fprintln(out, l.Name, "is held by", *l.Spec.HolderIdentity)
	}
	return nil
}
