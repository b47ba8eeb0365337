package timeline

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/candidate"
)

func TestRenewalsTakeNoMemory(t *testing.T) {
	in(t, func(w *world) {
		w.elect("a")
		for range 500 {
			w.pass(2)
			w.renew()
		}
		tl := w.rec.Timeline()
		require.Len(t, tl.Leases, 1)
		assert.Equal(t, []Span{{
			Holder: "a", From: tl.From, TakenUp: tl.From.Add(2e9), LastRenewed: tl.From.Add(1000e9), Renewals: 499, Began: Elected,
		}}, tl.Leases[0].Spans)
		assert.Empty(t, w.rec.records)
	})
}

func TestOldestIsForgottenFirst(t *testing.T) {
	in(t, func(w *world) {
		w.rec.most = 25
		w.offer("stays", "1.0.0")
		w.elect("stays")
		w.renew()
		for i := range 100 {
			w.rec.Log(event(candidate.Pinged, "ns", "main", fmt.Sprint(i)))
		}
		tl := w.rec.Timeline()
		require.Len(t, tl.Leases, 1)
		marks := tl.Leases[0].Marks
		require.Len(t, marks, 25)
		assert.Equal(t, "75", marks[0].Candidate)
		assert.Equal(t, 75, tl.Leases[0].Forgotten)
		assert.Equal(t, "stays", tl.Leases[0].Leader(), "what lasts is not forgotten")
		assert.Equal(t, "stays", tl.Leases[0].Candidates[0].Name)

		for i := range 30 {
			w.rec.Log(event(candidate.Pinged, "ns", fmt.Sprintf("other-%02d", i), "x"))
		}
		tl = w.rec.Timeline()
		require.Len(t, tl.Leases, 26, "main, and the last 25 of the others")
		assert.Empty(t, tl.Leases[0].Marks, "all made way for newer ones")
		assert.Equal(t, 100, tl.Leases[0].Forgotten)
		assert.Equal(t, "other-05", tl.Leases[1].Name)
		assert.Equal(t, 105, tl.Forgotten)
		assert.Len(t, w.rec.records, 25)
	})
}

func TestLongTextsAreCut(t *testing.T) {
	long := ""
	for len(long) < 10000 {
		long += "ä"
	}
	in(t, func(w *world) {
		w.elect(long)
		w.rec.Log(event(candidate.Pinged, "ns", "main", long))
		l := w.rec.Timeline().Leases[0]
		assert.Equal(t, l.Marks[0].Candidate, l.Leader())
		assert.LessOrEqual(t, len(l.Leader()), 515)
		assert.Equal(t, clean(l.Leader()), l.Leader(), "no character is cut in two")
		w.renew()
		assert.False(t, w.rec.Timeline().Leases[0].Spans[0].TakenUp.IsZero())
	})
}
