package debug

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/candidate"
	"github.com/kubecoord/kubecoord/internal/timeline"
)

func TestHostileTextsAreTextsOnThePage(t *testing.T) {
	const evil = `</script><img src=x onerror="alert(1)">'&`
	l := timeline.Lease{
		Namespace: evil, Name: evil, Strategy: evil, Candidates: []timeline.Candidate{{Name: evil, Offers: []timeline.Offer{{BinaryVersion: evil}}}},
		Spans: []timeline.Span{{Holder: evil, Began: timeline.Elected}},
		Marks: []timeline.Mark{{Type: candidate.Failed, Text: evil}, {Type: candidate.Pinged, Candidate: evil}},
	}
	v := view{namespace: evil, lease: evil, last: time.Hour}
	var page bytes.Buffer
	require.NoError(t, writePage(&page, v, timeline.Timeline{Leases: []timeline.Lease{l}}))
	assert.NotContains(t, page.String(), "<img")
	assert.Equal(t, 1, strings.Count(page.String(), "</script>"))
	assert.Contains(t, page.String(), "&lt;img")
}
