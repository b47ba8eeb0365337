package explore

import (
	"context"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
)

// The number of runs follows from how much of the processors is used, within bounds.
func TestGateFollowsTheProcessors(t *testing.T) {
	for _, c := range []struct {
		limit int
		used  float64
		want  int
	}{
		{8, 0.2, 10}, {8, 1.6, 8}, {8, 1.9, 7}, {32, 0, 40}, {64, 0, 64}, {2, 2, 2}, {3, 2, 2}, {20, 2, 18},
	} {
		assert.Equal(t, c.want, nextLimit(c.limit, c.used, 2), "%+v", c)
	}
}

// Late timers are those of a machine that has enough to do.
func TestGateSeesOtherWork(t *testing.T) {
	before := 8 * runtime.GOMAXPROCS(0)
	limitAfter := func(late time.Duration) int {
		g := newGate(0, 0)
		g.limit, g.in, g.since = before, 1, time.Now().Add(-time.Hour)
		g.see(late)
		g.leave()
		return g.limit
	}
	assert.Greater(t, limitAfter(glance), before)
	assert.Less(t, limitAfter(2*glance), before)
}

// More runs fit if they rest for longer, but not if their number is given.
func TestGateForSlowRuns(t *testing.T) {
	g := newGate(0, 0)
	before := g.limit
	g.slow(2)
	assert.Equal(t, 2*before, g.limit)
	g.slow(100)
	assert.Equal(t, mostRuns(runtime.GOMAXPROCS(0)), g.limit)
	g = newGate(3, 0)
	g.slow(2)
	assert.Equal(t, 3, g.limit)
	(*gate)(nil).slow(2)
}

// A tail has the end of what was written, from the begin of a line on.
func TestTailKeepsWholeLines(t *testing.T) {
	var short, long tail
	_, _ = short.Write([]byte("one\ntwo"))
	assert.Equal(t, "one\ntwo", short.String())
	line := []byte("0123456789abcde\n")
	for range 5 * maxOutput / len(line) {
		_, _ = long.Write(line)
	}
	assert.LessOrEqual(t, len(long.data), 2*maxOutput)
	got := long.String()
	assert.InDelta(t, maxOutput, len(got), float64(2*len(line)))
	assert.Equal(t, string(line), got[:len(line)])
}

// Words in braces are replaced, each {port} by another port.
func TestArgumentsAreFilled(t *testing.T) {
	got, err := filled([]string{"--at=127.0.0.1:{port} {dir} {port} {other}"}, map[string]string{"{dir}": "/tmp/x"})
	assert.NoError(t, err)
	assert.Len(t, got, 1)
	assert.Regexp(t, `^--at=127\.0\.0\.1:\d+ /tmp/x \d+ \{other\}$`, got[0])
}

// A long search waits longer for what a program does late, and rests as long as that needs.
func TestQuietIsLearned(t *testing.T) {
	assert.Equal(t, []time.Duration{longQuiet, longQuiet, 6250 * time.Millisecond, 12500 * time.Millisecond}, []time.Duration{
		firstQuiet(5 * time.Second), firstQuiet(2 * time.Minute), firstQuiet(5 * time.Minute), firstQuiet(time.Hour),
	})
	for gap, want := range map[time.Duration]time.Duration{0: time.Second, 900 * time.Millisecond: 1800 * time.Millisecond, 7 * time.Second: 9 * time.Second} {
		x := &explorer{pace: realPace(0)}
		x.learnQuiet(&life{gap: gap}, &life{})
		x.learnQuiet(&life{}) // runs that rest for less long have shorter pauses
		assert.Equal(t, want, x.pace.quiet)
	}
}

// A controller that writes nothing but the time is at work: a rest must not come before that.
func TestPausesBeforeTimes(t *testing.T) {
	s := Scenario{API: apitest.New(t), Steps: []Step{create("a")}, Controllers: once(func(ctx context.Context, c Conn) error {
		code, body, err := ask(ctx, c, http.MethodGet, leases+"/a", "")
		if err != nil || code != http.StatusOK || strings.Contains(body, "at") && strings.Contains(body, "annotations") {
			return err
		}
		for _, pause := range []time.Duration{0, 20 * time.Second} {
			sleep(ctx, pause)
			at := time.Now().UTC().Format(time.RFC3339)
			if _, _, err := ask(ctx, c, http.MethodPost, endpoints, leaseNamed("a")); err != nil {
				return err
			}
			if _, _, err := ask(ctx, c, http.MethodPatch, endpoints+"/a", `{"metadata":{"annotations":{"at":"`+at+`"}}}`); err != nil {
				return err
			}
		}
		return nil
	})}
	x := newExplorer(t, s, Options{})
	require.NoError(t, x.prepare())
	require.NoError(t, x.refer())
	assert.Equal(t, 20*time.Second, x.references[0].gap)
}
