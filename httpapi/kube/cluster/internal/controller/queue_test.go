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
	q.done(task)
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

// A worker whose task takes long does not hold up the others, and no two workers have the same task.
func TestWorkersHaveTheirTasksToThemselves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := NewQueue[string](clock.Real{}, time.Minute)
		ctx, cancel := context.WithCancel(t.Context())
		begin, done, ended := time.Now(), make(chan string, 9), make(chan struct{})
		go func() {
			defer close(ended)
			Work(ctx, q, 2, func(_ context.Context, task string) {
				if task == "slow" {
					time.Sleep(time.Second)
				}
				done <- task + " " + time.Since(begin).String()
			})
		}()
		for _, task := range []string{"slow", "a", "b"} {
			q.Add(task)
		}
		synctest.Wait()
		q.Add("slow")
		q.Add("slow")
		q.Add("c")
		for _, want := range []string{"a 0s", "b 0s", "c 0s", "slow 1s", "slow 2s"} {
			assert.Equal(t, want, <-done)
		}
		synctest.Wait()
		assert.Empty(t, done)
		cancel()
		<-ended
		q.Retry("late")
		time.Sleep(time.Minute)
		assert.Empty(t, q.tasks)
	})
}

// Two tasks that come at once may wake only one worker, which wakes the next.
func TestATaskThatIsLeftWakesAnotherWorker(t *testing.T) {
	q := NewQueue[string](clock.Real{}, time.Minute)
	q.Add("a")
	q.Add("b")
	<-q.wake
	take(t, q, time.Now())
	assert.Len(t, q.wake, 1)
}
