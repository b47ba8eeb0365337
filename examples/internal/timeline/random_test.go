package timeline

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/candidate"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
)

// TestWhateverHappensTheTimelineHoldsTogether makes random writes beside a Coordinator. After
// each write it checks the Timeline: its leader is the one that an independent observer
// sees, spans and gaps do not overlap, and there is no time between them as long as there
// is a Lease or a candidate.
func TestWhateverHappensTheTimelineHoldsTogether(t *testing.T) {
	for range 2 {
		seed := rand.Uint64()
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			in(t, func(w *world) {
				w.rec.most = 300
				e, err := candidate.NewCoordinator(w.st, candidate.CoordinatorOptions{Log: w.rec.Log})
				require.NoError(t, err)
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				go e.Run(ctx)
				d := &disorder{world: w, rand: rand.New(rand.NewPCG(seed, 0))}
				for range 1500 {
					d.step()
					d.check()
				}
				spans := w.rec.Timeline().Leases[0].Spans
				assert.Greater(t, len(spans), 10, "something happened")
			})
		})
	}
}

// disorder does things at random to the Lease ns/main.
type disorder struct {
	*world
	rand     *rand.Rand
	observed lease.Observation
}

func (d *disorder) step() {
	name := string(rune('a' + d.rand.IntN(4)))
	switch d.rand.IntN(12) {
	case 0:
		if _, err := d.candidates.Get(context.Background(), "ns", name); err != nil {
			d.offer(name, fmt.Sprintf("1.%d.0", d.rand.IntN(3)))
		}
	case 1:
		d.candidates.Delete(context.Background(), "ns", name, store.DeleteOptions{})
	case 2, 3, 4:
		d.candidates.Modify(context.Background(), "ns", name, func(c *candidate.LeaseCandidate) error { c.Spec.RenewTime = now(); return nil }, store.UpdateOptions{})
	case 5, 6, 7, 8:
		d.leases.Modify(context.Background(), "ns", "main", func(l *lease.Lease) error {
			l.Spec.RenewTime, l.Spec.LeaseDurationSeconds = now(), new(int32(1+d.rand.IntN(15)))
			return nil
		}, store.UpdateOptions{})
	case 9:
		d.leases.Modify(context.Background(), "ns", "main", func(l *lease.Lease) error {
			l.Spec.HolderIdentity, l.Spec.PreferredHolder = new(""), nil
			return nil
		}, store.UpdateOptions{})
	case 10:
		d.leases.Modify(context.Background(), "ns", "main", func(l *lease.Lease) error { l.Spec.HolderIdentity = &name; return nil }, store.UpdateOptions{})
	case 11:
		if d.rand.IntN(5) == 0 {
			d.leases.Delete(context.Background(), "ns", "main", store.DeleteOptions{})
		}
	}
	d.pass(0)
	d.watch()
	// Half a millisecond keeps the write apart from all timers.
	time.Sleep(time.Duration(d.rand.IntN(4000))*time.Millisecond + 500*time.Microsecond)
}

// watch shows the Lease to the observer. The Coordinator wrote it at the same moment as
// another writer, or at a timer, after which the test calls watch.
func (d *disorder) watch() {
	l, err := d.leases.Get(context.Background(), "ns", "main")
	if err != nil {
		l = nil
	}
	d.observed.Observe(l, time.Now())
}

func (d *disorder) check() {
	t := d.t
	d.pass(0)
	tl := d.rec.Timeline()
	if len(tl.Leases) == 0 {
		return
	}
	require.Len(t, tl.Leases, 1)
	l := tl.Leases[0]
	// The Coordinator may have written between two calls of watch. Then the observer saw the
	// write too late, so only its holder can be compared.
	if _, err := d.leases.Get(context.Background(), "ns", "main"); err == nil {
		d.watch()
		if leader := l.Leader(); leader != "" {
			require.Equal(t, d.observed.Holder(), leader)
		} else if !l.Gaps[len(l.Gaps)-1].Until.IsZero() {
			require.Fail(t, "nobody leads, and that is no gap")
		}
	} else {
		require.Empty(t, l.Leader())
	}
	type part struct{ from, until time.Time }
	var parts []part
	for _, s := range l.Spans {
		parts = append(parts, part{s.From, s.Until})
		require.Equal(t, s.Until.IsZero(), s.Ended == "")
		require.False(t, !s.Until.IsZero() && s.Until.Before(s.From))
		require.False(t, s.LastRenewed.Before(s.TakenUp))
		require.False(t, !s.Until.IsZero() && s.LastRenewed.After(s.Until), "it ran out after it was renewed")
	}
	for i := 1; i < len(parts); i++ {
		require.False(t, parts[i-1].until.IsZero(), "only the last one lasts")
		require.False(t, parts[i].from.Before(parts[i-1].until), "spans overlap")
	}
	for i, g := range l.Gaps {
		require.True(t, i == len(l.Gaps)-1 || !g.Until.IsZero(), "only the last one lasts")
		for _, p := range parts {
			before := !p.until.IsZero() && !p.until.After(g.From)
			after := !g.Until.IsZero() && !g.Until.After(p.from)
			require.True(t, before || after, "a gap and a span overlap")
		}
	}
	for _, c := range l.Candidates {
		for i := 1; i < len(c.Offers); i++ {
			require.False(t, c.Offers[i-1].Until.IsZero())
			require.False(t, c.Offers[i].From.Before(c.Offers[i-1].Until))
		}
		_, err := d.candidates.Get(context.Background(), "ns", c.Name)
		require.Equal(t, err == nil, c.Offers[len(c.Offers)-1].Until.IsZero(), c.Name)
	}
}
