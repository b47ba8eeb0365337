package apitest

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
	"github.com/kubecoord/kubecoord/store/meta"
)

var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// newStore returns a store with a clock that stands still.
func newStore(t *testing.T) *registry.Store {
	st := registry.New(registry.Options{Clock: clock.Func(func() time.Time { return epoch })})
	t.Cleanup(st.Close)
	return st
}

// create creates Leases.
func create(t *testing.T, st *registry.Store, names ...string) {
	t.Helper()
	for _, name := range names {
		l := &lease.Lease{ObjectMeta: meta.ObjectMeta{Namespace: "ns", Name: name}}
		_, err := lease.In((*store.Store)(st)).Create(t.Context(), l, store.CreateOptions{})
		require.NoError(t, err)
	}
}

// kept returns the names of the objects of the last changes.
func (rec *recorder) kept() (names []string) {
	rec.examiner() // drops older changes
	for _, c := range rec.changes {
		names = append(names, c.Newest().Name())
	}
	return names
}

func TestRecorderKeepsTheLastChanges(t *testing.T) {
	st := newStore(t)
	rec := newRecorder(st, 3)
	for i := range 20 {
		create(t, st, fmt.Sprint("a", i))
		if i%5 == 4 {
			continue // more changes than the limit come before the next look
		}
		assert.Len(t, rec.kept(), min(i+1, 3))
		last := rec.changes[len(rec.changes)-1]
		assert.EqualValues(t, 1001+i, last.Version)
		assert.Equal(t, i < 3, rec.whole)
		assert.Equal(t, rec.changes[0].Version-1, rec.since)
	}
	for range 20 {
		create(t, st, fmt.Sprintf("b%d-%d", len(rec.changes), rec.since))
		assert.LessOrEqual(t, len(rec.changes), 6)
	}
}

// The changes before a fork are in both records, and later ones in one.
func TestForkRecordsItsOwnChanges(t *testing.T) {
	forkOf := func(st *registry.Store, rec *recorder) (*registry.Store, *recorder) {
		f, err := st.Fork()
		require.NoError(t, err)
		t.Cleanup(f.Close)
		return f, rec.fork(f)
	}
	for limit := 1; limit < 8; limit++ {
		grandparent := newStore(t)
		first := newRecorder(grandparent, limit)
		create(t, grandparent, "a", "b")
		parent, second := forkOf(forkOf(grandparent, first))
		create(t, parent, "c")
		create(t, grandparent, "other")
		last, err := parent.Fork()
		require.NoError(t, err)
		t.Cleanup(last.Close)
		create(t, parent, "late") // before the recorder of the fork is made
		third := second.fork(last)
		for i := range 4 {
			create(t, last, fmt.Sprint("f", i))
			create(t, parent, fmt.Sprint("p", i))
		}
		newest := func(names ...string) []string { return names[max(0, len(names)-limit):] }
		assert.Equal(t, newest("a", "b", "c", "f0", "f1", "f2", "f3"), third.kept())
		assert.Equal(t, newest("a", "b", "c", "late", "p0", "p1", "p2", "p3"), second.kept())
		assert.Equal(t, newest("a", "b", "other"), first.kept())
		assert.Equal(t, limit == 7, third.whole)
		assert.Equal(t, []fork{{1002, epoch}, {1002, epoch}, {1003, epoch}}, third.forks)
		assert.Empty(t, first.forks)
	}
}
