package timeline

import (
	"bytes"
	"context"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/candidate"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	storeclock "github.com/kubecoord/kubecoord/store/clock"
	"github.com/kubecoord/kubecoord/store/meta"
)

func TestTermsAreRecordedFromElectionToEnd(t *testing.T) {
	for name, row := range map[string]struct {
		script string // see world.play
		want   []string
	}{
		"elected and never heard of": {"elect a, 7",
			[]string{"0+5 a elected, has not taken up the lease, then expired", "5+2  nobody leads"}},
		"elected and taken up": {"elect a, 2, renew, 2, renew, 2",
			[]string{"0+6 a leads, elected, 1 renewal, still holds it"}},
		"run out": {"elect a, 2, renew, 20",
			[]string{"0+17 a leads, elected, then expired", "17+5  nobody leads"}},
		"run out, elected again": {"elect a, 6, elect a, 1",
			[]string{"0+5 a elected, has not taken up the lease, then expired", "5+1  nobody leads", "6+1 a elected, has not taken up the lease, still holds it"}},
		"released": {"elect a, 1, renew, 1, release, 1, elect b, 1",
			[]string{"0+2 a leads, elected, then released", "2+1  nobody leads", "3+1 b elected, has not taken up the lease, still holds it"}},
		"handed over": {"elect a, 1, renew, prefer b, 15, elect b, renew, 1",
			[]string{"0+16 a leads, elected, then handed over", "16+1 b leads, preferred, still holds it"}},
		"released when asked to": {"elect a, renew, prefer b, 1, release, elect b, renew, 1",
			[]string{"0+1 a leads, elected, then handed over", "1+1 b leads, preferred, still holds it"}},
		"need not make way after all": {"elect a, prefer b, prefer, 6",
			[]string{"0+5 a elected, has not taken up the lease, then expired", "5+1  nobody leads"}},
		"replaced": {"elect a, 1, elect b, 1",
			[]string{"0+1 a elected, has not taken up the lease, then replaced", "1+1 b elected, has not taken up the lease, still holds it"}},
		"deleted": {"elect a, 1, delete, 10",
			[]string{"0+1 a elected, has not taken up the lease, then deleted"}},
		"taken by one who knows of no strategy": {"elect a, 6, take b, 1",
			[]string{"0+5 a elected, has not taken up the lease, then expired", "5+1  nobody leads", "6+1 b leads, acquired, still holds it"}},
		"without a coordinator": {"take a, 2, renew, 2, release, 1, take b, 20, take c, 1",
			[]string{
				"0+4 a leads, acquired, 1 renewal, then released", "4+1  nobody leads", "5+15 b leads, acquired, then expired",
				"20+5  nobody leads", "25+1 c leads, acquired, still holds it",
			}},
		"nobody wants it": {"9", nil},
		"a candidate without a coordinator": {"offer a, 2, withdraw a, 9",
			[]string{"0+0 a is a candidate: 1.0.0 as 1.0.0", "0+2  nobody leads", "2+0 a is no candidate any more"}},
		"an upgrade in place": {"offer a, elect a, 1, upgrade a, 1",
			[]string{
				"0+0 a is a candidate: 1.0.0 as 1.0.0", "0+2 a elected, has not taken up the lease, still holds it",
				"1+0 a changes its offer: 1.1.0 as 1.0.0",
			}},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(w *world) {
				w.play(row.script)
				assert.Equal(t, row.want, w.story())
			})
		})
	}
}

// play does the steps of a script: seconds that pass, writes of the Lease ns/main, and writes of candidates.
func (w *world) play(script string) {
	w.t.Helper()
	for step := range strings.SplitSeq(script, ", ") {
		do, who, _ := strings.Cut(step, " ")
		var err error
		switch do {
		case "elect":
			w.elect(who)
		case "renew":
			w.renew()
		case "take": // as an elector without a coordinator
			w.set(func(s *lease.LeaseSpec) {
				*s = lease.LeaseSpec{HolderIdentity: &who, LeaseDurationSeconds: new(int32(15)), AcquireTime: now(), RenewTime: now()}
			})
		case "prefer":
			w.set(func(s *lease.LeaseSpec) {
				if s.PreferredHolder = &who; who == "" {
					s.PreferredHolder = nil
				}
			})
		case "release":
			w.set(func(s *lease.LeaseSpec) { s.HolderIdentity, s.Strategy, s.PreferredHolder = new(""), nil, nil })
		case "delete":
			_, err = w.leases.Delete(w.t.Context(), "ns", "main", store.DeleteOptions{})
		case "offer":
			w.offer(who, "1.0.0")
		case "upgrade":
			_, err = w.candidates.Modify(w.t.Context(), "ns", who, func(c *candidate.LeaseCandidate) error {
				c.Spec.BinaryVersion = "1.1.0"
				return nil
			}, store.UpdateOptions{})
		case "withdraw":
			_, err = w.candidates.Delete(w.t.Context(), "ns", who, store.DeleteOptions{})
		default:
			var seconds float64
			seconds, err = strconv.ParseFloat(do, 64)
			w.pass(seconds)
		}
		require.NoError(w.t, err, step)
	}
}

func TestHeartbeatsAreLeftOut(t *testing.T) {
	heartbeat := func(namespace string, labels map[string]string) {
		in(t, func(w *world) {
			_, err := w.leases.Create(t.Context(), &lease.Lease{
				ObjectMeta: meta.ObjectMeta{Namespace: namespace, Name: "a", Labels: labels},
				Spec:       lease.LeaseSpec{HolderIdentity: new("a"), LeaseDurationSeconds: new(int32(40)), RenewTime: now()},
			}, store.CreateOptions{})
			require.NoError(t, err)
			w.pass(1)
			assert.Empty(t, w.rec.Timeline().Leases)
		})
	}
	heartbeat("kube-node-lease", nil)
	heartbeat("kube-system", map[string]string{"apiserver.kubernetes.io/identity": "kube-apiserver"})
	in(t, func(w *world) {
		w.set(func(s *lease.LeaseSpec) { s.LeaseDurationSeconds = new(int32(15)) })
		assert.Empty(t, w.rec.Timeline().Leases, "it has never had a holder")
	})
}

func TestWhatIsThereBeforeIsFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := store.New(store.Options{})
		defer st.Close()
		w := &world{t: t, st: st, leases: lease.In(st), candidates: candidate.In(st)}
		w.offer("a", "1.0.0")
		w.elect("a")
		w.renew()
		w.pass(5)
		w.rec = NewRecorder(st)
		w.run()
		w.pass(30)
		assert.Equal(t, []string{
			"0+0 a is a candidate: 1.0.0 as 1.0.0", "0+10 a leads, found, then expired", "10+20  nobody leads",
		}, w.story(), "it was renewed 5 s ago")
	})
}

func TestEventsOfACoordinatorBecomeMarks(t *testing.T) {
	in(t, func(w *world) {
		e, err := candidate.NewCoordinator(w.st, candidate.CoordinatorOptions{Log: w.rec.Log})
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		go e.Run(ctx)
		w.offer("a", "1.0.0")
		w.pass(11)
		w.offer("b", "2.0.0")
		w.pass(20)
		story := w.story()
		assert.Equal(t, []string{"0+0 a is a candidate: 1.0.0 as 1.0.0", "0+0.2  nobody leads", "0.2+0 a is elected"}, story[:3], "in this order")
		for _, line := range []string{
			"5.2+0 a did not take up the lease", "5.2+0 a is pinged", "10.2+0 a does not answer", "11.2+0 b is elected",
		} {
			assert.Contains(t, story, line)
		}
	})
}

func TestTablesReadAsTheyDid(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, upgrade().WriteText(&out))
	isGolden(t, "upgrade.txt", out.Bytes())
}

// TestAwaitLetsAManualClockBeMovedAfterAWrite is about a clock that moves at once after each write.
func TestAwaitLetsAManualClockBeMovedAfterAWrite(t *testing.T) {
	now := storeclock.NewManual(epoch)
	parent := store.New(store.Options{Clock: now})
	defer parent.Close()
	_, err := lease.In(parent).Create(t.Context(), &lease.Lease{ObjectMeta: meta.ObjectMeta{Namespace: "ns", Name: "old"}}, store.CreateOptions{})
	require.NoError(t, err)
	_, err = lease.In(parent).Delete(t.Context(), "ns", "old", store.DeleteOptions{})
	require.NoError(t, err)
	st, err := parent.Fork() // its history ends with a deletion that the Recorder does not see
	require.NoError(t, err)
	manual := st.Clock().(*storeclock.Manual)
	rec := NewRecorder(st)
	ran := make(chan error)
	go func() { ran <- rec.Run(context.Background()) }()
	for _, holder := range []string{"a", "b", "c"} {
		_, err := lease.In(st).Modify(t.Context(), "ns", "main", func(l *lease.Lease) error {
			l.Spec.HolderIdentity, l.Spec.LeaseDurationSeconds = &holder, new(int32(3600))
			return nil
		}, store.UpdateOptions{})
		if holder == "a" {
			_, err = lease.In(st).Create(t.Context(), &lease.Lease{
				ObjectMeta: meta.ObjectMeta{Namespace: "ns", Name: "main"},
				Spec:       lease.LeaseSpec{HolderIdentity: &holder, LeaseDurationSeconds: new(int32(3600))},
			}, store.CreateOptions{})
		}
		require.NoError(t, err)
		rec.Await(t.Context())
		manual.FastForward(10 * time.Second)
	}
	var spans []string
	for _, s := range rec.Timeline().Leases[0].Spans {
		spans = append(spans, s.Holder+" "+s.From.Sub(epoch).String())
	}
	assert.Equal(t, []string{"a 0s", "b 10s", "c 20s"}, spans)
	st.Close()
	assert.ErrorIs(t, <-ran, store.ErrClosed)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	rec.Await(ended) // nobody records any more
}
