package timeline

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLastLeavesOutWhatIsLongOver(t *testing.T) {
	all := upgrade()
	part := all.Last(70 * time.Second) // since 170
	assert.Equal(t, after(170), part.From)
	require.Len(t, part.Leases, 2)
	l := part.Leases[0]
	assert.Len(t, l.Spans, 2, "the one that began before is still there")
	assert.Equal(t, after(130), l.Spans[0].From)
	assert.Len(t, l.Gaps, 1)
	assert.Len(t, l.Marks, 2)
	assert.Len(t, l.Candidates, 3)
	assert.Len(t, l.Candidates[0].Offers, 1, "the first was withdrawn")
	assert.Equal(t, upgrade(), all, "it is not touched")

	old := Lease{Namespace: "ns", Name: "old", Spans: []Span{{Holder: "a", From: epoch, Until: after(9), Ended: Expired}}}
	all.Leases = append(all.Leases, old)
	assert.Len(t, all.Last(70*time.Second).Leases, 2)
	assert.Len(t, all.Last(4*time.Hour).Leases, 3, "longer than there is")
	assert.Len(t, all.Last(0).Leases, 3)
}

func TestOnlyIsAboutOneLease(t *testing.T) {
	part := upgrade().Only("kube-system", "scheduler")
	require.Len(t, part.Leases, 1)
	assert.Equal(t, upgrade().Leases[0], part.Leases[0])
	assert.Empty(t, upgrade().Only("kube-system", "none").Leases)
}
