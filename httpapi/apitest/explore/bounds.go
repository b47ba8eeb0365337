package explore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// This file keeps a run from what a scenario or a controller can do to it: a panic, a call of FailNow, a step that never returns, a loop that
// does not let time go on.

// errGone is the error of a function that has ended its goroutine.
var errGone = errors.New("it has ended its goroutine, as FailNow does")

// call calls a function of the user. A panic and the end of its goroutine are errors.
func call(f func() error) (err error) {
	ended := make(chan struct{})
	err = errGone
	go func() {
		defer close(ended)
		defer func() {
			if r := recover(); r != nil {
				err = panicked{fmt.Errorf("panic: %v", r), strings.Split(string(debug.Stack()), "\n")}
			}
		}()
		err = f()
	}()
	<-ended
	return err
}

// bounded calls a function of the user that must return.
func (l *life) bounded(ctx context.Context, what string, p *process, f func(ctx context.Context, c Conn) error) error {
	l.progress.Add(1)
	l.pos.Store(&what)
	defer l.progress.Add(1)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- call(func() error { return f(ctx, p.conn()) }) }()
	limit := maxQuiets * l.x.pace.quiet
	select {
	case err := <-done:
		return err
	case <-time.After(limit):
	}
	cancel()
	p.die()
	select {
	case <-done:
	case <-time.After(waitForEnd):
	}
	return fmt.Errorf("it does not return within %s of virtual time", limit)
}

// do does a step, and reports whether the run goes on.
func (l *life) do(ctx context.Context, n int, user *process) bool {
	name := l.x.s.stepName(n)
	err := l.bounded(ctx, name, user, l.x.s.Steps[n-1].Do)
	if err == nil {
		return true
	}
	k, text := key{"step", l.x.s.Steps[n-1].Name}, fmt.Sprintf("%s fails: %v", name, err)
	crash, isPanic := err.(panicked)
	switch {
	case isPanic:
		l.find("panic", k, name+" panics: "+crash.text())
	case l.plan != nil && (l.plan.action == down || l.plan.adds()):
		l.giveUp(text) // a user waits for a process that is down
	default:
		l.find("step", k, text)
	}
	return false
}

// toItsEnd runs the life, until it ends or makes no progress any more. A goroutine in a loop cannot be ended: then the exploration ends.
func (l *life) toItsEnd() {
	done := make(chan struct{})
	go func() {
		defer close(done)
		if l.x.pace.real {
			l.inFolder()
		} else {
			l.inBubble()
		}
	}()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	before, same := int64(-1), 0
	for {
		select {
		case <-done:
			return
		case <-tick.C:
		}
		if now := l.progress.Load(); now != before {
			before, same = now, 0
		} else if same++; same >= l.x.patience {
			l.x.abandoned.Store(true)
			l.abandon()
			return
		}
	}
}

// inBubble runs the life in a bubble.
func (l *life) inBubble() {
	defer func() {
		if r := recover(); r != nil { // goroutines of the bubble are left
			l.find("leak", key{"controller", "goroutines"}, fmt.Sprint("goroutines are left when the controllers have ended: ", l.left()))
		}
	}()
	synctest.Test(l.x.t, func(*testing.T) { l.run() })
}

// inFolder runs the life in real time, with a folder for its programs.
func (l *life) inFolder() {
	dir, err := os.MkdirTemp(l.x.dir, "run-*")
	if err != nil {
		l.fail(err.Error())
		return
	}
	defer os.RemoveAll(dir)
	l.dir = dir
	l.run()
}

// letWork returns when what was begun is done as far as it goes at once.
func (l *life) letWork() {
	if l.x.pace.real {
		time.Sleep(glance)
		return
	}
	synctest.Wait()
}

// patience is how many seconds of real time a run may make no progress.
const patience = 120

// abandon says where the run stands.
func (l *life) abandon() {
	pos := "the start"
	if p := l.pos.Load(); p != nil {
		pos = *p
	}
	l.find("stuck", key{"run", pos}, fmt.Sprintf("neither time nor requests go on any more after %s was called: a loop without requests, or a wait for something outside of the run. At work: %s", pos, l.busy()))
}

// stuck returns where the run stands, if it was abandoned.
func (l *life) stuck() *discovery {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.found {
		if l.found[i].class == "stuck" {
			return &l.found[i]
		}
	}
	return nil
}

// busy describes the goroutines of the bubble that do not wait.
func (l *life) busy() string {
	buf := make([]byte, 8<<20)
	var lines []string
	for _, g := range strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
		head, rest, _ := strings.Cut(g, "\n")
		if strings.Contains(head, l.bubble) && !strings.Contains(head, "(durable)") {
			lines = append(lines, callers(rest))
		}
	}
	if len(lines) == 0 {
		return "no goroutine"
	}
	return strings.Join(lines, ", ")
}

// shownCallers is how many functions of a stack are named.
const shownCallers = 4

// callers names the innermost functions of a stack, without their arguments.
func callers(stack string) string {
	var names []string
	for line := range strings.Lines(stack) {
		if i := strings.LastIndexByte(line, '('); i > 0 && line[0] != '\t' && len(names) < shownCallers {
			names = append(names, line[:i])
		}
	}
	return strings.Join(names, " called by ")
}

// goDown ends the process before a step in which it is down.
func (l *life) goDown(step int) {
	if p := l.plan; p == nil || p.action != down || p.step != step || p.at != (target{}) {
		return
	}
	l.take(1)
	l.note("", "the process is down", true)
	l.holdBack()
	l.stopAll(l.plan.controller, true)
}

// holdBack keeps processes from starting again.
func (l *life) holdBack() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.hold == nil {
		l.hold = make(chan struct{})
	}
}

// comeUp lets the process start again after the step in which it is down.
func (l *life) comeUp(ctx context.Context, step int) {
	l.mu.Lock()
	hold := l.hold
	l.mu.Unlock()
	if hold == nil || l.plan.step != step {
		return
	}
	sleep(ctx, l.x.pace.downAfter)
	l.note("", "the process may start again", true)
	l.mu.Lock()
	l.hold = nil
	l.mu.Unlock()
	close(hold)
}

// waitForHold waits until a process may start again.
func (l *life) waitForHold(ctx context.Context, c *Controller) {
	l.mu.Lock()
	hold := l.hold
	l.mu.Unlock()
	if hold == nil || !l.plan.concerns(c) {
		return
	}
	select {
	case <-hold:
	case <-ctx.Done():
	}
}
