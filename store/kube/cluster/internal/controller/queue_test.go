package controller

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/kubecoord/kubecoord/store/clock"
)

// take returns the next task of a queue, and when it came.
func take(t *testing.T, q *Queue[string], begin time.Time) (string, time.Duration) {
	task, ok := q.next(t.Context())
	assert.True(t, ok)
	return task, time.Since(begin)
}

func TestQueueHoldsATaskOnce(t *testing.T) {
	q := NewQueue[string](clock.Real{}, time.Minute)
	for _, task := range []string{"a", "b", "a"} {
		q.Add(task)
	}
	for _, want := range []string{"a", "b"} {
		got, _ := take(t, q, time.Now())
		assert.Equal(t, want, got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, ok := q.next(ctx)
	assert.False(t, ok)
}

func TestFailuresDoubleTheTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := NewQueue[string](clock.Real{}, 30*time.Millisecond)
		for _, want := range []time.Duration{5, 10, 20, 30, 30} {
			begin := time.Now()
			q.Retry("a")
			_, after := take(t, q, begin)
			assert.Equal(t, want*time.Millisecond, after)
		}
		q.Succeeded("a")
		begin := time.Now()
		q.Retry("a")
		_, after := take(t, q, begin)
		assert.Equal(t, 5*time.Millisecond, after)
	})
}

func TestTimerOfATaskStaysUntilItFiresOrIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := NewQueue[string](clock.Real{}, time.Minute)
		begin := time.Now()
		q.AddAfter("a", time.Second)
		q.AddAfter("a", time.Millisecond)
		q.AddAfter("dropped", time.Millisecond)
		q.Drop("dropped")
		task, after := take(t, q, begin)
		assert.Equal(t, "a", task)
		assert.Equal(t, time.Second, after)
		q.AddAfter("late", time.Second)
		q.stop()
		time.Sleep(time.Minute)
		assert.Empty(t, q.tasks)
	})
}
