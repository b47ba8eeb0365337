// Command contend contends for a Lease over the network: it waits for the Lease, leads until it is
// interrupted, and releases the Lease.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"

	"github.com/kubecoord/kubecoord/httpapi/client"
	"github.com/kubecoord/kubecoord/lease"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	config, err := client.Kubeconfig("") // as kubectl, or client.Config{Server: "http://127.0.0.1:8001"}
	if err == nil {
		err = contend(ctx, os.Stdout, config)
	}
	if err != nil && ctx.Err() == nil {
		log.Fatal(err)
	}
}

// contend leads once and prints when it begins and ends.
func contend(ctx context.Context, out io.Writer, config client.Config) error {
	c, err := client.New(config)
	if err != nil {
		return err
	}
	defer c.Close()
	contender, err := lease.NewContender(client.In(c, lease.Kind()), lease.ContenderOptions{
		Namespace: "default", Name: "contend", Identity: fmt.Sprint("process-", os.Getpid()), ReleaseOnCancel: true,
	})
	if err != nil {
		return err
	}
	return contender.Run(ctx, func(ctx context.Context, h lease.Holding) {
		fmt.Fprintln(out, h.Holder, "leads, with the fencing token", h.FencingToken)
		<-ctx.Done()
		fmt.Fprintln(out, h.Holder, "stops:", context.Cause(ctx))
	})
}
