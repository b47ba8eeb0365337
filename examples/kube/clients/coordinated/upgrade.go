package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kubecoord/kubecoord/candidate"
	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/internal/timeline"
	"github.com/kubecoord/kubecoord/store"
)

// settings are the options of an upgrade.
type settings struct {
	timing
	elector candidate.CoordinatorOptions
	pause   time.Duration // between two steps
}

// classicTiming is the default of client-go, and of a control plane with it.
// quickTiming is for -real; see examples/kube/clients/leaderelection for why it is no
// shorter.
var (
	classicTiming = timing{15 * time.Second, 10 * time.Second, 2 * time.Second}
	quickTiming   = timing{4 * time.Second, 2 * time.Second, time.Second}

	classic = settings{timing: classicTiming, pause: 30 * time.Second}
	quick   = settings{quickTiming, candidate.CoordinatorOptions{PingWindow: time.Second, LeaseDuration: 3 * time.Second}, 3 * time.Second}
)

// bound is how soon a healthy process leads; see docs/elections.md.
func (s settings) bound() time.Duration {
	window := s.elector.PingWindow
	if window == 0 {
		window = 5 * time.Second
	}
	return s.leaseDuration + window + s.patience() + window/5 + time.Second
}

// site is a server with a Coordinator, and the processes that reach it.
type site struct {
	settings
	st      *store.Store
	api     *httpapi.API
	rec     *timeline.Recorder
	stopRec func()
	referee referee
	turn    chan struct{} // capacity 1: leaders changed
	running map[string]*process
}

func newSite(s settings) (*site, error) {
	st := store.New(store.Options{})
	rec := timeline.NewRecorder(st)
	s.elector.Log = rec.Log
	if _, err := candidate.NewCoordinator(st, s.elector); err != nil {
		return nil, err
	}
	x := &site{settings: s, st: st, rec: rec, turn: make(chan struct{}, 1), running: map[string]*process{}}
	x.stopRec = inBackground(func(ctx context.Context) { rec.Run(ctx) })
	x.api = httpapi.New(st, httpapi.Options{Parts: []httpapi.Part{httpapi.Elect(s.elector)}})
	x.referee.changed = func(string) {
		select {
		case x.turn <- struct{}{}:
		default:
		}
	}
	return x, nil
}

func (x *site) close() {
	for _, p := range x.running {
		p.kill()
	}
	x.stopRec()
	x.api.Close()
	x.st.Close()
}

func (x *site) start(name, version string, releases bool) error {
	return x.run(name, version, processOptions{releases: releases})
}

// run starts a process of a version and with the options given.
func (x *site) run(name, version string, opts processOptions) error {
	opts.timing = x.timing
	opts.contender = contender{
		Name: name, BinaryVersion: version, EmulationVersion: version, Transport: x.api.Transport(),
		Started: func(ctx context.Context) { x.referee.started(ctx, name) },
		Stopped: func() { x.referee.stopped(name) },
	}
	p, err := startProcess(opts)
	if err == nil {
		x.running[name] = p
	}
	return err
}

func (x *site) drain(ctx context.Context, name string) error {
	defer delete(x.running, name)
	return x.running[name].drain(ctx)
}

// await waits until a process leads. It fails if that takes longer than bound.
func (x *site) await(ctx context.Context, name string) error {
	late := time.After(x.bound())
	for x.referee.leader() != name {
		select {
		case <-x.turn:
		case <-late:
			return fmt.Errorf("%s does not lead after %s, but %q does", name, x.bound(), x.referee.leader())
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return sleep(ctx, x.pause)
}

// upgrade runs the upgrade and returns its timeline. The error says if two led at
// once, or the wrong process led.
func upgrade(ctx context.Context, s settings) (timeline.Timeline, error) {
	x, err := newSite(s)
	if err != nil {
		return timeline.Timeline{}, err
	}
	defer x.close()
	for _, step := range x.steps(ctx) {
		if err = step(); err != nil {
			break
		}
	}
	return x.rec.Timeline(), errors.Join(err, x.referee.verdict())
}

// steps returns the steps of an upgrade from 1.36 to 1.38, with a rollback at the end.
func (x *site) steps(ctx context.Context) []func() error {
	start := func(name, version string, releases bool) func() error {
		return func() error { return x.start(name, version, releases) }
	}
	drain := func(name string) func() error { return func() error { return x.drain(ctx, name) } }
	leads := func(name string) func() error { return func() error { return x.await(ctx, name) } }
	return []func() error{
		start("node-1-v1.36", "1.36.0", true), leads("node-1-v1.36"),
		start("node-2-v1.37", "1.37.0", false), start("node-3-v1.38", "1.38.0", true), leads("node-1-v1.36"),
		// A process that releases the Lease is replaced at once, another one when its
		// Lease has expired.
		drain("node-1-v1.36"), leads("node-2-v1.37"),
		start("node-1-v1.38", "1.38.0", true), leads("node-2-v1.37"),
		drain("node-2-v1.37"), leads("node-3-v1.38"),
		// The rollback: the healthy leader makes way for an older version.
		start("node-2-v1.37b", "1.37.0", true), leads("node-2-v1.37b"),
	}
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
