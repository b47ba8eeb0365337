package candidate

import (
	"errors"
	"time"

	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

// carryOut makes the writes of a verdict and logs them. A contest that they have changed is
// decided again.
func (c *coordinator) carryOut(k *contest, v verdict, now time.Time) {
	for _, t := range v.silent {
		c.log(k, Silent, t.c.Name, nil)
	}
	if v.missed != "" {
		c.log(k, Missed, v.missed, nil)
	}
	for _, t := range v.ping {
		c.ping(k, t, now)
		c.touch(k)
	}
	err := v.err
	for _, t := range v.collect {
		if failed := c.collect(k, t); failed != nil {
			err = failed
			k.wakeAt(now.Add(c.opts.Validity))
		}
	}
	if v.elect != nil || v.clear {
		if err = c.write(k, func(spec *lease.LeaseSpec) ElectionEventType {
			return v.elect.carryOut(spec, k.isVacant(c.clock.Now()), meta.NewMicroTime(c.st.Now()), c.seconds())
		}); err != nil {
			k.pauseAfterFailure(now, &c.opts)
		}
	}
	c.logFailure(k, err, v.settled || v.elect != nil)
}

// logFailure logs a failure, unless it was the last one that was logged. over means that
// the last one no longer applies, so that it is logged again if it returns.
func (c *coordinator) logFailure(k *contest, err error, over bool) {
	switch {
	case err == nil && over:
		k.failure = ""
	case err != nil && k.failure != err.Error():
		k.failure = err.Error()
		c.log(k, Failed, "", err)
	}
}

// ping sets pingTime of a candidate, unless the candidate has just renewed.
func (c *coordinator) ping(k *contest, t *entrant, now time.Time) {
	renewed, before := t.c.Spec.RenewTime, t.pings
	for {
		lc, err := c.candidates.Get(c.ctx, k.namespace, t.c.Name)
		if err != nil || lc.UID != t.c.UID || !lc.Spec.RenewTime.Equal(renewed) {
			break // it is gone or has answered; the watch will report it
		}
		lc.Spec.PingTime = t.pingTime(c.st.Now())
		lc, err = c.candidates.Update(c.ctx, lc, store.UpdateOptions{FieldManager: c.opts.FieldManager})
		if errors.Is(err, store.ErrConflict) {
			continue
		}
		if err == nil {
			if t.update(lc, now, c.st.Now(), &c.opts) {
				k.offers++
			}
			c.log(k, Pinged, lc.Name, nil)
		}
		break
	}
	if t.pings == before {
		t.recordPing(now)
	}
}

// collect deletes a candidate, unless it has changed in the meantime.
func (c *coordinator) collect(k *contest, t *entrant) error {
	_, err := c.candidates.Delete(c.ctx, k.namespace, t.c.Name, store.DeleteOptions{ResourceVersion: t.c.ResourceVersion})
	if err == nil {
		c.log(k, Collected, t.c.Name, nil)
	} else if errors.Is(err, store.ErrConflict) {
		var lc *LeaseCandidate
		if lc, err = c.candidates.Get(c.ctx, k.namespace, t.c.Name); err == nil {
			c.applyCandidate(lc)
			return nil
		}
	}
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	c.leave(namespacedName{k.namespace, t.c.Name})
	return nil
}

func (c *coordinator) seconds() int32 { return int32(c.opts.LeaseDuration / time.Second) }

// write changes the Lease, and creates it if there is none. If another write comes first,
// it tries again with the new state.
func (c *coordinator) write(k *contest, change func(spec *lease.LeaseSpec) ElectionEventType) error {
	for {
		c.lookUp(k)
		l := &lease.Lease{
			ObjectMeta: meta.ObjectMeta{Namespace: k.namespace, Name: k.name},
			Spec:       lease.LeaseSpec{LeaseDurationSeconds: new(c.seconds()), RenewTime: new(meta.NewMicroTime(c.st.Now()))},
		}
		if k.lease != nil {
			l = new(*k.lease)
		}
		done := change(&l.Spec)
		if done == nothing {
			return nil
		}
		var err error
		if k.lease == nil {
			l, err = c.leases.Create(c.ctx, l, store.CreateOptions{FieldManager: c.opts.FieldManager})
		} else {
			l, err = c.leases.Update(c.ctx, l, store.UpdateOptions{FieldManager: c.opts.FieldManager})
		}
		if errors.Is(err, store.ErrConflict) || errors.Is(err, store.ErrAlreadyExists) {
			continue
		}
		if err != nil {
			return err
		}
		c.wrote(k, l, done)
		return nil
	}
}

// wrote updates the contest after a write of the coordinator.
func (c *coordinator) wrote(k *contest, l *lease.Lease, done ElectionEventType) {
	c.applyLease(k, l, l.ResourceVersion)
	name := ""
	switch done {
	case Elected:
		name = k.observed.Holder()
		k.appointed = name
	case Preferred:
		name = preferredHolder(l)
		k.appointed = ""
	}
	c.log(k, done, name, nil)
}
