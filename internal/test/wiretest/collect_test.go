package wiretest

import (
	"context"
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// script writes lines, each after a pause. Then it ends the stream, or without end waits until the reader closes it.
type script struct {
	lines []string
	pause time.Duration
	end   bool
}

func (s script) write(ctx context.Context, w io.Writer) {
	for _, line := range s.lines {
		select {
		case <-time.After(s.pause):
		case <-ctx.Done():
			return
		}
		if _, err := io.WriteString(w, line); err != nil {
			return
		}
	}
	if !s.end {
		<-ctx.Done()
	}
}

func event(kind, name string) string {
	return fmt.Sprintf(`{"type":%q,"object":{"metadata":{"name":%q}}}`, kind, name)
}

func TestCollectTakesEventsInsideASynctestBubble(t *testing.T) {
	bookmark := event("BOOKMARK", "")
	initialEnd := `{"type":"BOOKMARK","object":{"metadata":{"annotations":{"k8s.io/initial-events-end":"true"}}}}`
	for _, row := range []struct {
		name    string
		script  script
		collect Collect
		want    []string
		closed  bool
		took    time.Duration
	}{
		{"as many as asked for, then quiet", script{lines: []string{event("ADDED", "a"), event("ADDED", "b")}, pause: time.Second},
			Collect{Events: 2}, []string{"a", "b"}, false, 2*time.Second + 150*time.Millisecond},
		{"one too many in the quiet time", script{lines: []string{event("ADDED", "a"), event("ADDED", "b")}, pause: 100 * time.Millisecond},
			Collect{Events: 1}, []string{"a", "b"}, false, 250 * time.Millisecond},
		{"too few until the timeout", script{lines: []string{event("ADDED", "a")}},
			Collect{Events: 2}, []string{"a"}, false, time.Minute},
		{"too few until a timeout of its own", script{lines: []string{event("ADDED", "a")}},
			Collect{Events: 2, TimeoutMs: 700}, []string{"a"}, false, 700 * time.Millisecond},
		{"none expected", script{}, Collect{}, nil, false, 150 * time.Millisecond},
		{"until the end", script{lines: []string{event("ADDED", "a"), event("ADDED", "b")}, pause: time.Second, end: true},
			Collect{UntilClosed: true}, []string{"a", "b"}, true, 2 * time.Second},
		{"an end that does not come", script{}, Collect{UntilClosed: true}, nil, false, time.Minute},
		{"an end that was not expected", script{lines: []string{event("ADDED", "a")}, end: true},
			Collect{Events: 1}, []string{"a"}, true, 0},
		{"no periodic bookmarks", script{lines: []string{bookmark, event("ADDED", "a"), initialEnd}},
			Collect{Events: 2}, []string{"a", "<nil>"}, false, 150 * time.Millisecond},
		{"sorted by name", script{lines: []string{event("ADDED", "b"), event("ADDED", "a")}},
			Collect{Events: 2, SortByName: true}, []string{"a", "b"}, false, 150 * time.Millisecond},
	} {
		t.Run(row.name, func(t *testing.T) {
			// The bubble also checks that no goroutine remains.
			synctest.Test(t, func(t *testing.T) {
				row.collect.Stream = "w"
				start := time.Now()
				r := &Runner{BaseURL: "http://toy", Transport: streaming("application/json", row.script.write)}
				g, err := r.replay(t.Context(), Scenario{Steps: []Step{
					{Method: "GET", Path: "/", Open: "w"},
					{Collect: &row.collect},
				}})
				require.NoError(t, err)
				var names []string
				for _, e := range g.Expect[1].Events {
					name, _ := pointer(e, "/object/metadata/name")
					names = append(names, fmt.Sprint(name))
				}
				assert.Equal(t, row.want, names)
				assert.Equal(t, row.closed, g.Expect[1].Closed)
				assert.Equal(t, row.took, time.Since(start))
			})
		})
	}
}
