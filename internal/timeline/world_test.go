package timeline

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/candidate"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

// world is a store with a Recorder at work, inside a synctest bubble.
type world struct {
	t          *testing.T
	st         *store.Store
	rec        *Recorder
	leases     *store.Collection[lease.Lease]
	candidates *store.Collection[candidate.LeaseCandidate]
}

// in runs a test in virtual time, which begins at midnight of the year 2000.
func in(t *testing.T, test func(w *world)) {
	synctest.Test(t, func(t *testing.T) {
		st := store.New(store.Options{History: 50})
		w := &world{t: t, st: st, rec: NewRecorder(st), leases: lease.In(st), candidates: candidate.In(st)}
		w.run()
		test(w)
		st.Close()
	})
}

// run starts the Recorder, and waits until it has seen all there is.
func (w *world) run() {
	go func() { assert.ErrorIs(w.t, w.rec.Run(context.Background()), store.ErrClosed) }()
	synctest.Wait()
}

// pass lets seconds pass.
func (w *world) pass(seconds float64) {
	time.Sleep(time.Duration(seconds * float64(time.Second)))
	synctest.Wait()
}

// set writes the Lease ns/main, as a whole.
func (w *world) set(change func(s *lease.LeaseSpec)) {
	w.t.Helper()
	l, err := w.leases.Get(context.Background(), "ns", "main")
	if err != nil {
		l = &lease.Lease{ObjectMeta: meta.ObjectMeta{Namespace: "ns", Name: "main"}}
		change(&l.Spec)
		_, err = w.leases.Create(context.Background(), l, store.CreateOptions{})
	} else {
		change(&l.Spec)
		_, err = w.leases.Update(context.Background(), l, store.UpdateOptions{})
	}
	require.NoError(w.t, err)
	synctest.Wait()
}

// elect writes the Lease as a coordinator does, renew as a holder that knows of
// strategies.
func (w *world) elect(holder string) {
	w.set(func(s *lease.LeaseSpec) {
		*s = lease.LeaseSpec{HolderIdentity: &holder, LeaseDurationSeconds: new(int32(5)), RenewTime: now(), Strategy: new(lease.OldestEmulationVersion)}
	})
}

func (w *world) renew() {
	w.set(func(s *lease.LeaseSpec) { s.LeaseDurationSeconds, s.RenewTime = new(int32(15)), now() })
}

func now() *meta.MicroTime { return new(meta.NewMicroTime(time.Now())) }

func (w *world) offer(name, version string) {
	w.t.Helper()
	_, err := w.candidates.Create(context.Background(), &candidate.LeaseCandidate{
		ObjectMeta: meta.ObjectMeta{Namespace: "ns", Name: name},
		Spec: candidate.LeaseCandidateSpec{
			LeaseName: "main", BinaryVersion: version, EmulationVersion: version, Strategy: lease.OldestEmulationVersion, RenewTime: now(),
		},
	}, store.CreateOptions{})
	require.NoError(w.t, err)
	synctest.Wait()
}

// story returns the records of ns/main, one in each line: the second in which it began,
// how long it lasted, the name and the description.
func (w *world) story() (lines []string) {
	tl := w.rec.Timeline()
	for _, l := range tl.Leases {
		require.Equal(w.t, "ns/main", l.Namespace+"/"+l.Name)
		for _, r := range l.Rows(tl.Until) {
			lines = append(lines, fmt.Sprintf("%v+%v %s %s", r.Time.Sub(tl.From).Seconds(), r.Lasted.Seconds(), r.Who, r.What))
		}
	}
	return lines
}
