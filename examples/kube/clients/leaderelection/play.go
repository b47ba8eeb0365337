package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/internal/timeline"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
)

// settings are the options of a play.
type settings struct {
	timing
	electors, kills int
	recorded        func(timeline.Timeline) // or nil; gets the elections at the end
}

// play starts a server and electors, and kills the leader s.kills times. It passes on
// each change of the leader. The error says what failed, or that two led at once.
func play(ctx context.Context, s settings, changed func(lease.Holding)) error {
	st := store.New(store.Options{})
	defer st.Close()
	api := httpapi.New(st, httpapi.Options{})
	defer api.Close()
	recording := timeline.NewRecorder(st)
	go recording.Run(ctx) // ends with st
	defer func() {
		if s.recorded != nil {
			s.recorded(recording.Timeline())
		}
	}()
	var ref referee
	running := map[string]*elector{} // by identity
	defer func() {
		for _, e := range running {
			e.stop()
		}
	}()
	start := func(name string, times int) error {
		e, err := startElector(api.Transport(), &ref, fmt.Sprintf("%s_%d", name, times), s.timing)
		if err == nil {
			running[e.identity] = e
		}
		return err
	}
	for i := range s.electors {
		if err := start(fmt.Sprintf("elector-%d", i+1), 0); err != nil {
			return err
		}
	}
	// Nothing slows the observer down, or it would see an expiry late.
	ctx, cancel := context.WithCancel(ctx)
	leaders, ended := make(chan string, s.kills+1), make(chan error, 1)
	go func() { ended <- observe(ctx, st, changed, leaders) }()
	defer func() {
		cancel()
		<-ended
	}()
	for kills := range s.kills + 1 {
		var leader string
		select {
		case leader = <-leaders:
		case <-ctx.Done():
			return ctx.Err()
		}
		if err := sleep(ctx, 2*s.leaseDuration); err != nil || kills == s.kills {
			return errors.Join(err, ref.verdict())
		}
		running[leader].stop()
		delete(running, leader)
		if err := sleep(ctx, s.retryPeriod); err != nil {
			return err
		}
		name, _, _ := strings.Cut(leader, "_")
		if err := start(name, kills+1); err != nil {
			return err
		}
	}
	return nil
}

// observe passes on each change of the leader until ctx ends.
func observe(ctx context.Context, st *store.Store, changed func(lease.Holding), leaders chan<- string) error {
	for holding, err := range lease.Observe(ctx, lease.In(st), leaseNamespace, leaseName) {
		if err != nil {
			return err
		}
		if changed(holding); holding.Holder != "" {
			select {
			case leaders <- holding.Holder:
			case <-ctx.Done():
			}
		}
	}
	return nil
}

// sleep waits for d, or for the end of ctx.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
