package controller

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/kubecoord/kubecoord/store/clock"
)

// recorder has the tasks that were processed, and when.
type recorder struct {
	mu    sync.Mutex
	begin time.Time
	tasks []string
	after []time.Duration
}

func (r *recorder) add(task string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tasks, r.after = append(r.tasks, task), append(r.after, time.Since(r.begin))
}

func TestATaskThatTakesLongHoldsUpOthersForASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, r := NewQueue[string](clock.Real{}, time.Minute), &recorder{begin: time.Now()}
		for _, task := range []string{"slow", "a", "b", "slow2", "c"} {
			q.Add(task)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		all.Go(func() {
			workInTurn(ctx, q, func(_ context.Context, task string) {
				if task[0] == 's' {
					time.Sleep(time.Minute)
				}
				r.add(task)
			})
		})
		time.Sleep(2 * time.Minute)
		q.Add("d")
		q.Add("e")
		synctest.Wait()
		cancel()
		all.Wait()
		assert.Equal(t, []string{"a", "b", "c", "slow", "slow2", "d", "e"}, r.tasks)
		assert.Equal(t, []time.Duration{time.Second, time.Second, 2 * time.Second, time.Minute, time.Minute + time.Second, 2 * time.Minute, 2 * time.Minute}, r.after)
	})
}

func TestTasksThatAllTakeLongShareTheWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := NewQueue[string](clock.Real{}, time.Minute)
		for i := range 3 * maxWorkers {
			q.Add(strconv.Itoa(i))
		}
		ctx, cancel := context.WithCancel(t.Context())
		var (
			all       sync.WaitGroup
			mu        sync.Mutex
			busy      int
			counts    []int
			processed int
		)
		all.Go(func() {
			workInTurn(ctx, q, func(context.Context, string) {
				mu.Lock()
				busy++
				counts = append(counts, busy)
				mu.Unlock()
				time.Sleep(time.Hour)
				mu.Lock()
				busy--
				processed++
				mu.Unlock()
			})
		})
		time.Sleep(4 * time.Hour)
		synctest.Wait()
		cancel()
		all.Wait()
		assert.Equal(t, maxWorkers, slices.Max(counts))
		assert.Equal(t, 3*maxWorkers, processed)
	})
}

func TestTasksOfOneWorkerAreInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, r := NewQueue[string](clock.Real{}, time.Minute), &recorder{begin: time.Now()}
		var want []string
		for i := range 100 {
			want = append(want, strconv.Itoa(i))
			q.Add(strconv.Itoa(i))
		}
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		all.Go(func() {
			workInTurn(ctx, q, func(_ context.Context, task string) {
				time.Sleep(patience - time.Millisecond)
				r.add(task)
			})
		})
		time.Sleep(2 * 100 * patience)
		cancel()
		all.Wait()
		assert.Equal(t, want, r.tasks)
	})
}
