package main

import (
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/kubecoord/kubecoord/httpapi/client"
	"github.com/kubecoord/kubecoord/lease"
)

// leaders lets Contenders lead a Lease each and measures the cost for the server.
func leaders(args []string) error {
	f := flag.NewFlagSet("leaders", flag.ExitOnError)
	n := f.Int("n", 1000, "how many")
	clients := f.Int("clients", 1000, "among how many clients, each with its own connections, they are divided")
	renew := f.Duration("renew-period", 0, "RenewPeriod of the Contenders")
	over := f.Duration("over", lease.DefaultRetryPeriod, "time in which they begin, one after the other")
	length := f.Duration("for", 20*time.Second, "how long to measure")
	s, err := start(f, args)
	if err != nil {
		return err
	}
	defer s.end(syscall.SIGTERM)
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()
	var leading, lost atomic.Int64
	connected, err := s.clients(*clients)
	if err != nil {
		return err
	}
	began := time.Now()
	for i := range *n {
		c, err := lease.NewContender(client.In(connected[i%len(connected)], lease.Kind()), lease.ContenderOptions{
			Namespace: "default", Name: "leader-" + strconv.Itoa(i), Identity: "load-" + strconv.Itoa(i), RenewPeriod: *renew,
		})
		if err != nil {
			return err
		}
		all.Go(func() {
			for ctx.Err() == nil {
				err := c.Run(ctx, func(ctx context.Context, _ lease.Holding) {
					leading.Add(1)
					<-ctx.Done()
					leading.Add(-1)
				})
				if ctx.Err() == nil && lost.Add(1) < 4 {
					fmt.Println("lost:", err)
				}
			}
		})
		time.Sleep(*over / time.Duration(*n))
	}
	for leading.Load() < int64(*n) && time.Since(began) < time.Minute {
		time.Sleep(100 * time.Millisecond)
	}
	fmt.Printf("%d of %d lead after %.1f s\n", leading.Load(), *n, time.Since(began).Seconds())
	time.Sleep(2 * max(*renew, lease.DefaultRetryPeriod))
	cores := s.cores(*length)
	fmt.Printf("%d leaders, %d clients: the server takes %.3f cores, %d MB, %d files; %d lead, %d lost\n", *n, *clients, cores, s.rss(), s.files(), leading.Load(), lost.Load())
	return nil
}

// waiters lets many Contenders wait for one Lease, which is released, and measures the time until
// one of them leads and what the change costs the server.
func waiters(args []string) error {
	f := flag.NewFlagSet("waiters", flag.ExitOnError)
	n := f.Int("n", 1000, "how many")
	rounds := f.Int("rounds", 10, "how many releases")
	s, err := start(f, args)
	if err != nil {
		return err
	}
	defer s.end(syscall.SIGTERM)
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()
	connected, err := s.clients(*n)
	if err != nil {
		return err
	}
	leads := make(chan context.CancelFunc, *n)
	for i, own := range connected {
		c, err := lease.NewContender(client.In(own, lease.Kind()), lease.ContenderOptions{
			Namespace: "default", Name: "leader", Identity: "load-" + strconv.Itoa(i), ReleaseOnCancel: true,
		})
		if err != nil {
			return err
		}
		all.Go(func() {
			for ctx.Err() == nil {
				term, stop := context.WithCancel(ctx)
				if err := c.Run(term, func(ctx context.Context, _ lease.Holding) { leads <- stop; <-ctx.Done() }); !errors.Is(err, context.Canceled) {
					fmt.Println("lost:", err)
				}
				stop()
			}
		})
	}
	time.Sleep(10 * time.Second) // until all wait
	stop := <-leads
	for range *rounds {
		idle := s.cores(3 * time.Second)
		before, began := s.cpu(), time.Now()
		stop()
		stop = <-leads
		took := time.Since(began)
		time.Sleep(time.Second)
		used := s.cpu() - before - time.Duration(idle*float64(time.Since(began)))
		fmt.Printf("%d waiters: a new leader after %d ms, %d ms of CPU\n", *n, took.Milliseconds(), used.Milliseconds())
	}
	return nil
}

// clients returns clients with connections of their own. A server with the flag -tls speaks HTTP/2.
func (s *server) clients(n int) (all []*client.Client, err error) {
	config := client.Config{Server: "http://" + s.addr}
	if slices.Contains(s.flags, "-tls") {
		config = client.Config{Server: "https://" + s.addr, TLS: &tls.Config{InsecureSkipVerify: true}}
	}
	for range n {
		c, err := client.New(config)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}
