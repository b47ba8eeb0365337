package debug

import (
	"bytes"
	"context"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/candidate"
	"github.com/kubecoord/kubecoord/examples/internal/timeline"
	"github.com/kubecoord/kubecoord/store"
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

func TestTablesAreBoundedAndSaySo(t *testing.T) {
	tl := timeline.Timeline{}
	for i := range 1000 {
		l := timeline.Lease{Namespace: "ns", Name: fmt.Sprint(i)}
		for range 500 {
			l.Marks = append(l.Marks, timeline.Mark{Type: candidate.Pinged, Candidate: "a"})
		}
		tl.Leases = append(tl.Leases, l)
	}
	c, err := newContent(view{}, tl)
	require.NoError(t, err)
	assert.Less(t, len(c.Tables), 1<<20)
	assert.Contains(t, c.Tables, "800 more leases are in the JSON only.")
	assert.Contains(t, c.Tables, "440 older lines are in the JSON only.")
	assert.Equal(t, "ns/0: nobody leads; ns/1: nobody leads; ns/2: nobody leads; and 997 more leases.", c.Leaders)
}

func TestQueriesComeBackTheSame(t *testing.T) {
	for _, v := range []view{{}, {last: time.Minute}, {last: time.Hour}, {last: 90 * time.Second}, {last: 24 * time.Hour, namespace: "a", lease: "b/&?"}} {
		r := httptest.NewRequest("GET", "/debug/elections"+v.query(), nil)
		got, err := readView(r.URL.Query())
		require.NoError(t, err)
		assert.Equal(t, v, got)
	}
	assert.Equal(t, "?last=10m", view{last: 10 * time.Minute}.query())
}

func TestQuietStreamSendsOnlyAsTimeShows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := store.New(store.Options{})
		defer st.Close()
		rec := timeline.NewRecorder(st)
		go rec.Run(t.Context()) // until the store is closed
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		w := httptest.NewRecorder()
		debugPages{rec}.events(w, httptest.NewRequest("GET", "/", nil).WithContext(ctx), view{})
		n := strings.Count(w.Body.String(), "event: view\n")
		assert.Greater(t, n, 500, "each second at first")
		assert.Less(t, n, 3000, "then as often as a pixel is full")
		assert.True(t, w.Flushed)
	})
}
