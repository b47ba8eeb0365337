// Program lock is the smallest program that works under a lock.
package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"github.com/kubecoord/kubecoord/httpapi/client"
	"github.com/kubecoord/kubecoord/lease"
	"log"
)

func main() {
	c := must(client.New(must(client.Kubeconfig("")))) // of a cluster, or of a kubecoord server
	lock := must(lease.NewContender(client.In(c, lease.Kind()), lease.ContenderOptions{
		Namespace: "default", Name: "report", Identity: rand.Text(), ReleaseOnCancel: true,
	}))
	must(0, lock.Run(context.Background(), func(ctx context.Context, _ lease.Holding) {
		fmt.Println("the report is mine") // the work; ctx ends if the lock is lost
	}))
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}
