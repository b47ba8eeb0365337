package controller

import (
	"context"
	"sync"
	"time"

	"github.com/kubecoord/kubecoord/store/clock"
)

// firstRetry is the time until the second attempt of a task (upstream: client-go, util/workqueue, DefaultTypedControllerRateLimiter).
const firstRetry = 5 * time.Millisecond

// Queue is a queue of tasks, each at most once. A task that is added while a worker processes it comes again when that worker is done, so
// no two workers have the same task (upstream: client-go, util/workqueue). Its methods may be called concurrently.
type Queue[T comparable] struct {
	clock     clock.Clock
	lastRetry time.Duration
	wake      chan struct{} // has an element if there may be a task that no worker knows of

	mu       sync.Mutex // guards all below
	tasks    []T
	queued   map[T]bool // in tasks, or to be put there by done
	running  map[T]bool
	stopped  bool
	timers   map[T]clock.Timer // of tasks that are added later
	failures map[T]int
}

// NewQueue returns an empty queue. The time between two attempts of a task that fails grows up to lastRetry.
func NewQueue[T comparable](c clock.Clock, lastRetry time.Duration) *Queue[T] {
	return &Queue[T]{
		clock: c, lastRetry: lastRetry, wake: make(chan struct{}, 1),
		queued: map[T]bool{}, running: map[T]bool{}, timers: map[T]clock.Timer{}, failures: map[T]int{},
	}
}

// Add adds a task.
func (q *Queue[T]) Add(task T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.addLocked(task)
}

func (q *Queue[T]) addLocked(task T) {
	if q.queued[task] {
		return
	}
	q.queued[task] = true
	if !q.running[task] {
		q.tasks = append(q.tasks, task)
		q.wakeOne()
	}
}

func (q *Queue[T]) wakeOne() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// AddAfter adds a task after a time, unless an earlier call does that.
func (q *Queue[T]) AddAfter(task T, wait time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.addAfterLocked(task, wait)
}

func (q *Queue[T]) addAfterLocked(task T, wait time.Duration) {
	if q.stopped || q.timers[task] != nil {
		return
	}
	q.timers[task] = q.clock.AfterFunc(wait, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		delete(q.timers, task)
		q.addLocked(task)
	})
}

// Retry adds a task that failed after a time, which is twice as long for each failure since Succeeded.
func (q *Queue[T]) Retry(task T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	wait := min(firstRetry<<min(q.failures[task], 20), q.lastRetry)
	q.failures[task]++
	q.addAfterLocked(task, wait)
}

// Succeeded forgets the failures of a task.
func (q *Queue[T]) Succeeded(task T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.failures, task)
}

// Drop forgets the failures of a task, and that AddAfter or Retry is to add it.
func (q *Queue[T]) Drop(task T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.failures, task)
	if timer := q.timers[task]; timer != nil {
		timer.Stop()
	}
	delete(q.timers, task)
}

// next takes the first task out of the queue, for a worker that must call done. It waits for one, and returns false once ctx has ended.
func (q *Queue[T]) next(ctx context.Context) (task T, ok bool) {
	for ctx.Err() == nil {
		q.mu.Lock()
		if len(q.tasks) > 0 {
			task = q.tasks[0]
			q.tasks = q.tasks[1:]
			delete(q.queued, task)
			q.running[task] = true
			if len(q.tasks) > 0 {
				q.wakeOne()
			}
			q.mu.Unlock()
			return task, true
		}
		q.mu.Unlock()
		select {
		case <-q.wake:
		case <-ctx.Done():
		}
	}
	return task, false
}

// done ends the work on a task.
func (q *Queue[T]) done(task T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.running, task)
	if q.queued[task] {
		q.tasks = append(q.tasks, task)
		q.wakeOne()
	}
}

// stop ends the timers, and starts no more.
func (q *Queue[T]) stop() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.stopped = true
	for _, t := range q.timers {
		t.Stop()
	}
}
