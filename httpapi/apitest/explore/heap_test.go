package explore

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// A run leaves nothing behind. What is held is counted, not how much memory the process has: objects on the heap after a collection.
func TestRunsLeaveNothingBehind(t *testing.T) {
	const first, last, rests = 150, 450, 3 // runs, and how many rests each has
	checks, held := 0, map[int]uint64{}
	s := Scenario{Steps: []Step{create("a")}, Controllers: []Controller{{Run: label}}, Check: func(context.Context, Conn) error {
		if checks++; checks == first*rests || checks == last*rests {
			held[checks/rests] = heldObjects()
		}
		return nil
	}}
	r := exploring(t, s, Options{Runs: last, Parallel: 1, Budget: time.Hour})
	assert.Empty(t, r.Findings)
	grown := int64(held[last]) - int64(held[first])
	t.Logf("%d objects are held after %d runs, %d more after %d", held[first], first, grown, last)
	assert.Less(t, grown/(last-first), int64(10), "objects that each run leaves behind")
}

// heldObjects returns how many objects are on the heap after a collection.
func heldObjects() uint64 {
	runtime.GC() // what a pool keeps is gone after the second one
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapObjects
}
