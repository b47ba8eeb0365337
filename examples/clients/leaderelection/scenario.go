package main

import (
	"context"
	"errors"
	"strings"
	"time"
)

// settings are the options of a scenario.
type settings struct {
	timing
	electors, kills int
}

// play starts a server and electors, kills the leader s.kills times, and returns all
// terms. The error says what failed, or that two led at once.
func play(ctx context.Context, s settings) ([]term, error) {
	srv := newServer()
	defer srv.close()
	obs := observe(srv.st)
	defer obs.stop()
	var ref referee
	t, err := newTeam(srv, &ref, s.electors, electorOptions{timing: s.timing})
	if err != nil {
		return nil, err
	}
	defer t.stopAll()

	leader, err := obs.leader(ctx, "")
	if err != nil {
		return nil, err
	}
	for range s.kills {
		if leader, err = killLeader(ctx, t, obs, leader); err != nil {
			return nil, err
		}
	}
	if err := sleep(ctx, s.leaseDuration); err != nil {
		return nil, err
	}
	t.stopAll()
	terms, err := obs.finish()
	return terms, errors.Join(err, checkTerms(terms), ref.verdict())
}

// killLeader lets the leader work for a while, kills it without a release, starts it
// again, and returns the next leader.
func killLeader(ctx context.Context, t *team, obs *observer, leader string) (string, error) {
	if err := sleep(ctx, 2*t.opts.leaseDuration); err != nil {
		return "", err
	}
	t.stop(leader)
	if err := sleep(ctx, t.opts.retryPeriod); err != nil {
		return "", err
	}
	name, _, _ := strings.Cut(leader, "_")
	if err := t.start(name); err != nil {
		return "", err
	}
	return obs.leader(ctx, leader)
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
