package candidate

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

// in runs a test in virtual time.
func in(t *testing.T, f func(t *testing.T)) { synctest.Test(t, f) }

func TestFirstCandidateIsElectedAfterAPause(t *testing.T) {
	in(t, func(t *testing.T) {
		w := newWorld(t, CoordinatorOptions{})
		w.create(offer("a", "1.37.0", "1.36.0"))
		time.Sleep(200*time.Millisecond - 1)
		assert.Empty(t, w.takeEvents())
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		now := new(meta.NewMicroTime(time.Now()))
		l := w.lease()
		assert.Equal(t, lease.LeaseSpec{
			HolderIdentity: new("a"), LeaseDurationSeconds: new(int32(5)), RenewTime: now, Strategy: new(lease.OldestEmulationVersion),
		}, l.Spec)
		assert.Equal(t, "kube-apiserver", l.ManagedFields[0].Manager)
		assert.Equal(t, []string{"Elected a"}, w.takeEvents(), "it renewed just now: nobody is pinged")
	})
}

func TestBetterCandidateTakesOverFromAHealthyHolder(t *testing.T) {
	in(t, func(t *testing.T) {
		w := newWorld(t, CoordinatorOptions{})
		w.start(offer("new", "1.37.0", "1.37.0"))
		time.Sleep(time.Minute)
		w.takeEvents()
		w.start(offer("old", "1.37.0", "1.36.0"))
		time.Sleep(time.Second)
		assert.Equal(t, []string{"Pinged new", "Answered new", "Preferred old"}, w.takeEvents())
		l := w.lease()
		assert.Equal(t, "new", *l.Spec.HolderIdentity)
		assert.Equal(t, "old", *l.Spec.PreferredHolder)

		time.Sleep(30 * time.Second)
		assert.Equal(t, "old", w.leader())
		assert.Nil(t, w.lease().Spec.PreferredHolder, "cleared by the one who took over")
		assert.Equal(t, []string{"new", "old"}, w.reigns)
	})
}

// The best candidate may have been present when the round began, and be gone when the
// round ends.
func TestHolderKeepsTheLeaseIfTheBetterCandidateIsGone(t *testing.T) {
	in(t, func(t *testing.T) {
		w := newWorld(t, CoordinatorOptions{})
		w.start(offer("a", "1.37.0", "1.37.0"))
		w.start(offer("mute", "1.37.0", "1.37.0"), mute)
		time.Sleep(time.Minute)
		require.Equal(t, "a", w.leader())
		w.takeEvents()
		b := w.start(offer("b", "1.37.0", "1.36.0"))
		time.Sleep(time.Second)
		b.stop()
		for range 60 {
			time.Sleep(time.Second)
			assert.Equal(t, "a", w.leader())
		}
		assert.Equal(t, []string{"Pinged a", "Pinged mute", "Answered a", "Silent mute", "Pinged b", "Silent b"}, w.takeEvents()[:6])

		w.start(offer("b", "1.37.0", "1.36.0"))
		time.Sleep(2 * time.Minute)
		assert.Equal(t, "b", w.leader())
	})
}

func TestLeaseOfACrashedHolderGoesToACandidateThatAnswers(t *testing.T) {
	in(t, func(t *testing.T) {
		w := newWorld(t, CoordinatorOptions{})
		a := w.start(offer("a", "1.37.0", "1.35.0"))
		w.start(offer("b", "1.37.0", "1.36.0"), mute)
		w.start(offer("c", "1.37.0", "1.37.0"))
		time.Sleep(time.Minute)
		require.Equal(t, "a", w.leader())
		w.takeEvents()
		crashed := time.Now()
		a.stop()
		for w.leader() == "" {
			time.Sleep(100 * time.Millisecond)
		}
		assert.Equal(t, "c", w.leader())
		assert.LessOrEqual(t, time.Since(crashed), 15*time.Second+5*time.Second+2100*time.Millisecond)
		assert.Equal(t, []string{"Pinged a", "Pinged b", "Pinged c", "Answered c", "Silent a", "Silent b", "Elected c"}, w.takeEvents())

		time.Sleep(10 * time.Minute)
		events := w.takeEvents()
		assert.Subset(t, events, []string{"Answered b", "Pinged b", "Silent b"}, "one that renews but does not answer is asked")
		assert.NotContains(t, events, "Preferred b")
		assert.Equal(t, []string{"a", "c"}, w.reigns)
	})
}

func TestHolderThatComesBackAfterItsLeaseExpiredLeadsAgain(t *testing.T) {
	in(t, func(t *testing.T) {
		w := newWorld(t, CoordinatorOptions{})
		a := w.start(offer("a", "1.37.0", "1.37.0"))
		time.Sleep(time.Minute)
		a.stop()
		time.Sleep(time.Minute)
		assert.Equal(t, "a", w.holder(), "there is nobody else")
		w.start(offer("a", "1.37.0", "1.37.0"))
		time.Sleep(5 * time.Second)
		assert.Equal(t, "a", w.leader(), "upstream leaves an expired Lease with the same holder as it is, which client-go never renews")
	})
}

func TestReleasedLeaseGetsANewHolderAtOnce(t *testing.T) {
	in(t, func(t *testing.T) {
		w := newWorld(t, CoordinatorOptions{})
		a := w.start(offer("a", "1.37.0", "1.36.0"))
		w.start(offer("b", "1.37.0", "1.37.0"))
		time.Sleep(time.Minute)
		require.Equal(t, "a", w.leader())
		w.takeEvents()
		a.drain()
		time.Sleep(3 * time.Second)
		assert.Equal(t, "b", w.leader())
		assert.Equal(t, lease.OldestEmulationVersion, *w.lease().Spec.Strategy, "client-go's release drops it")
	})
}

func TestDeletedLeaseGetsANewHolderAtOnce(t *testing.T) {
	in(t, func(t *testing.T) {
		w := newWorld(t, CoordinatorOptions{})
		w.create(offer("a", "1.37.0", "1.36.0"))
		vacant := held("")
		vacant.Name, vacant.Spec.PreferredHolder = "nobody-contends", new("x")
		_, err := w.leases.Create(t.Context(), vacant, store.CreateOptions{})
		require.NoError(t, err)
		time.Sleep(time.Second)
		require.Equal(t, []string{"Elected a"}, w.takeEvents())
		for _, name := range []string{"nobody-contends", "main"} {
			_, err = w.leases.Delete(t.Context(), "ns", name, store.DeleteOptions{})
			require.NoError(t, err)
		}
		synctest.Wait()
		assert.Equal(t, []string{"Elected a"}, w.takeEvents())
	})
}

func TestDeletedPreferredHolderDoesNotStallTheElection(t *testing.T) {
	for name, row := range map[string]struct {
		holderStays bool
		want        string
	}{
		"the holder has a candidate": {true, "a"},
		"the holder has none":        {false, "a"},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T) {
				w := newWorld(t, CoordinatorOptions{})
				w.start(offer("a", "1.37.0", "1.37.0"))
				time.Sleep(time.Minute)
				b := w.start(offer("b", "1.37.0", "1.36.0"), idle)
				time.Sleep(time.Second)
				require.Equal(t, "b", *w.lease().Spec.PreferredHolder)
				w.takeEvents()
				if !row.holderStays {
					_, err := w.candidates.Delete(t.Context(), "ns", "a", store.DeleteOptions{})
					require.NoError(t, err)
				}
				b.stop()
				_, err := w.candidates.Delete(t.Context(), "ns", "b", store.DeleteOptions{})
				require.NoError(t, err)
				synctest.Wait()
				assert.Equal(t, []string{"PreferenceCleared"}, w.takeEvents())
				time.Sleep(time.Minute)
				assert.Equal(t, row.want, w.leader(), "it goes on where it was asked to stop")
				assert.Equal(t, []string{"a"}, w.reigns)
			})
		})
	}
}

func TestElectionContinuesAfterACoordinatorDiesBetweenPingAndAnswer(t *testing.T) {
	for name, pause := range map[string]time.Duration{"the next one starts at once": 0, "much later": 20 * time.Minute} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T) {
				w := newWorld(t, CoordinatorOptions{})
				w.stop()
				// Pings that the dead process left unanswered.
				for _, name := range []string{"a", "b"} {
					c := offer(name, "1.37.0", "1.37.0")
					c.Spec.RenewTime = new(meta.NewMicroTime(time.Now().Add(-time.Minute)))
					c.Spec.PingTime = new(meta.NewMicroTime(time.Now()))
					w.create(c)
				}
				time.Sleep(pause)
				w.elect(CoordinatorOptions{})
				time.Sleep(time.Second)
				// The processes live, but lost their watch after they saw the ping:
				// they answer only the next one.
				for _, name := range []string{"a", "b"} {
					go func() {
						for ev, err := range w.candidates.Watch(t.Context(), store.WatchOptions{Namespace: "ns", Name: name, ResourceVersion: w.version()}) {
							if err != nil {
								return
							}
							if isUnanswered(ev.Object) {
								_, err := w.candidates.Modify(t.Context(), "ns", name, func(c *LeaseCandidate) error {
									c.Spec.RenewTime = new(meta.NewMicroTime(time.Now()))
									return nil
								}, store.UpdateOptions{})
								assert.NoError(t, err)
							}
						}
					}()
				}
				time.Sleep(20 * time.Second)
				assert.NotEmpty(t, w.holder())
			})
		})
	}
}

func TestConflictsWithOtherWritersAreRetriedOnFreshState(t *testing.T) {
	tries := 0
	now := meta.NewMicroTime(time.Now())
	var c *elections
	c, _ = newTestCoordinatorAt(t, CoordinatorOptions{}, func() time.Time { return now.Time })
	k := c.election(namespacedName{"ns", "main"})
	c.clock = clockFunc{c.clock, func() { // it is read between the read and the write of the Lease
		switch tries++; tries {
		case 2: // the holder creates the Lease before this is written
			l := held("a")
			l.Spec.RenewTime = &now
			_, err := c.leases.Create(t.Context(), l, store.CreateOptions{})
			require.NoError(t, err)
		case 4, 6: // it renews
			now = meta.NewMicroTime(now.Add(time.Second))
			_, err := c.leases.Modify(t.Context(), "ns", "main", func(l *lease.Lease) error {
				l.Spec.RenewTime = &now
				return nil
			}, store.UpdateOptions{})
			require.NoError(t, err)
		}
	}}
	require.NoError(t, k.write(&ballot{lease.OldestEmulationVersion, "b"}, time.Now()))
	l, err := c.leases.Get(t.Context(), "ns", "main")
	require.NoError(t, err)
	assert.Equal(t, "b", *l.Spec.PreferredHolder)
	assert.True(t, now.Equal(l.Spec.RenewTime), "the renewals are not undone")
	assert.Equal(t, l, k.lease)
}

func (w *world) preferred() string { return preferredHolder(w.lease()) }

func (w *world) version() string { return w.st.ResourceVersion() }

// A candidate that answers pings but never takes the Lease does not keep the others
// from it.
func TestCandidateThatNeverRenewsTheLeaseComesLast(t *testing.T) {
	in(t, func(t *testing.T) {
		w := newWorld(t, CoordinatorOptions{})
		w.start(offer("a", "1.37.0", "1.36.0"), idle)
		w.start(offer("b", "1.37.0", "1.37.0"))
		time.Sleep(time.Minute)
		assert.Equal(t, "b", w.leader())
		assert.Equal(t, []string{"Missed a", "Missed a"}, w.takeEvents(Missed)[:2], "it had a second chance")

		// It is elected again, but less and less often.
		time.Sleep(6 * time.Hour)
		missed := len(w.takeEvents(Missed))
		assert.Greater(t, missed, 6)
		assert.Less(t, missed, 24, "once in half an hour at last")
	})
}
