package apitest

import (
	"cmp"
	"fmt"
	"time"

	"github.com/kubecoord/kubecoord/store/meta"
)

// Effect is the action of a fault on a request. The functions below make effects; Then and First
// combine them. The zero Effect does nothing.
type Effect struct {
	text string
	err  error // a parameter is wrong
	// on reports whether the effect acts on requests with a verb. It is nil for all verbs.
	on func(verb string) bool
	// act acts on a request. It reports whether it answered the request.
	act func(m *meeting) (answered bool)
	// inProgress means that the effect may act on requests that arrived before the fault.
	inProgress bool
	start      func(f *Fault) error // prepares the effect, or nil
}

// meeting is one request under one fault.
type meeting struct {
	*exchange
	fault *Fault
	// inProgress means that the request arrived before the fault.
	inProgress bool
	limit      int // of First, or 0
	nth        int // the request is the nth that the fault hits, or 0
}

// hit counts the request as hit, once. It reports whether the effect may act.
func (m *meeting) hit() bool {
	m.api.mu.Lock()
	defer m.api.mu.Unlock()
	_, open := m.api.open[m.exchange]
	nth := cmp.Or(m.nth, m.fault.hits+1)
	if m.fault.gone || !open || m.limit > 0 && nth > m.limit {
		return false
	}
	if m.nth == 0 {
		m.nth, m.fault.hits = nth, nth
		m.req.Faults = append(m.req.Faults, m.fault)
	}
	return true
}

func newEffect(text string, err error, on func(verb string) bool, act func(x *exchange) (answered bool)) Effect {
	return Effect{text: text, err: err, on: on, act: func(m *meeting) bool { return !m.inProgress && m.hit() && act(m.exchange) }}
}

func isWatch(verb string) bool  { return verb == "watch" }
func notWatch(verb string) bool { return verb != "watch" }

// Answer replaces the answer of the API, which does not see the request. The rest of the Status is
// as from a real server. Answer(429) asks the client to retry after one second. Answer(409) is a Conflict; for a
// create it is AlreadyExists if there is such an object, and else the Conflict of a ResourceQuota that another create
// has changed, so that no client learns of an object that does not exist.
func Answer(code int) Effect { return AnswerStatus(meta.Status{Code: int32(code)}) }

// AnswerStatus is like Answer with more than the Code. Empty fields are filled in.
func AnswerStatus(s meta.Status) Effect {
	return newEffect(fmt.Sprint("answer ", s.Code), checkStatus("Answer", s, 200), nil, func(x *exchange) bool {
		x.answer(s)
		return true
	})
}

func (x *exchange) answer(s meta.Status) {
	exists := s.Code == 409 && x.api.exists(x.req)
	x.api.api.Fail(x, x.r, complete(s, x.request(), exists))
	x.abortIfBroken()
}

// Delay holds the request back, before the API or a later effect gets it.
//
// In a testing/synctest bubble time passes only while all goroutines wait on each other, and waiting for a mutex does not
// count. So a request must not be held while its client has locked a mutex that others wait for: the test would hang.
// controller-runtime reads discovery in this way; Match{Resource: "*"} leaves it out. The same is true
// for Hang, Partition and SlowEvents.
func Delay(d time.Duration) Effect {
	return newEffect(fmt.Sprint("delay ", d), checkNumber("Delay", d), nil, func(x *exchange) bool {
		if d > 0 && !x.wait(d) {
			x.abort()
		}
		return false
	})
}

// ExpireHistory calls store.Store.ExpireHistory before the request goes on. After it store.Store.History is empty;
// API.Changes and API.Verify still know all changes.
func ExpireHistory() Effect {
	return newEffect("expire history", nil, nil, func(x *exchange) bool {
		x.api.st.ExpireHistory()
		return false
	})
}

// Hang gives no answer. The request ends when the client gives up or the API ends. See Delay about mutexes.
func Hang() Effect {
	return newEffect("hang", nil, nil, func(x *exchange) bool {
		x.hold(make(chan struct{}))
		x.pass()
		x.abort()
		return true
	})
}

// CutBefore closes the connection before the request is carried out. The client sees a connection
// reset or an unexpected end.
func CutBefore() Effect {
	return newEffect("cut before", nil, nil, func(x *exchange) bool {
		x.abort()
		return true
	})
}

// CutAfter carries the request out and closes the connection instead of answering. It does not act on
// watches.
func CutAfter() Effect { return afterwards("cut after", nil, (*exchange).abort) }

// afterwards returns an effect that carries requests out, and then calls act instead of answering.
func afterwards(text string, err error, act func(x *exchange)) Effect {
	return newEffect(text, err, notWatch, func(x *exchange) bool {
		if x.after == nil {
			x.after = func() { act(x) }
		}
		return false
	})
}

// AnswerAfter carries the request out, and then answers as Answer does: after
// AnswerAfter(504) a write is committed, and its client sees a timeout. It does not act on watches.
func AnswerAfter(code int) Effect {
	s := meta.Status{Code: int32(code)}
	return afterwards(fmt.Sprint("answer ", code, " after"), checkStatus("AnswerAfter", s, 200), func(x *exchange) { x.answer(s) })
}

// Partition holds back new requests and the rest of answers in progress, until Remove. The client sees
// no sign of it. See Delay about mutexes.
func Partition() Effect {
	return Effect{text: "partition", inProgress: true, act: func(m *meeting) bool {
		if m.hit() {
			m.hold(m.fault.removed)
			if !m.inProgress && !m.pass() {
				m.abort()
			}
		}
		return false
	}}
}

// Refuse cuts the connections of new requests and of requests in progress, until Remove.
func Refuse() Effect {
	return Effect{text: "refuse", inProgress: true, act: func(m *meeting) bool {
		switch {
		case !m.hit():
		case m.inProgress:
			m.breakOff()
		default:
			m.abort()
		}
		return false
	}}
}

// EndWatch ends a watch cleanly, as its timeout does, after a number of events. Bookmarks and initial
// events count.
func EndWatch(events int) Effect {
	return tearing(tear{after: events}, fmt.Sprint("end watch after ", events), checkNumber("EndWatch", events))
}

// CutWatch closes the connection of a watch after a number of events and half of the next one.
func CutWatch(events int) Effect {
	return tearing(tear{after: events, midFrame: true}, fmt.Sprint("cut watch after ", events), checkNumber("CutWatch", events))
}

// FailWatch ends a watch with an ERROR event after a number of events. Code is required; other fields
// are filled in as for AnswerStatus.
func FailWatch(events int, s meta.Status) Effect {
	err := cmp.Or(checkNumber("FailWatch", events), checkStatus("FailWatch", s, 400))
	return tearing(tear{after: events, status: s}, fmt.Sprintf("fail watch after %d with %d", events, s.Code), err)
}

// tear is the end of a watch.
type tear struct {
	after    int
	midFrame bool
	status   meta.Status // of the ERROR event, if its Code is not 0
}

func tearing(t tear, text string, err error) Effect {
	return newEffect(text, err, isWatch, func(x *exchange) bool {
		x.tears = append(x.tears, t)
		return false
	})
}

// SlowEvents holds each event of a watch back.
func SlowEvents(d time.Duration) Effect {
	return newEffect(fmt.Sprint("slow events ", d), checkNumber("SlowEvents", d), isWatch, func(x *exchange) bool {
		x.pause += d
		return false
	})
}

// Choose calls choose for each request that matches, when it arrives, and the result acts on the
// request. The zero Effect does not hit it. choose may be called from many goroutines at once, and
// also for the requests in progress when the fault is activated: only Partition and Refuse act on
// these.
func Choose(choose func(Request) Effect) Effect {
	return Effect{text: "choose", inProgress: true, act: func(m *meeting) bool {
		return choose(m.request()).meet(m)
	}}
}

// First limits e to the first n requests that the fault hits.
func (e Effect) First(n int) Effect {
	limited := e
	limited.text += fmt.Sprintf(" (first %d)", n)
	if n < 1 {
		limited.err = problem("First", "got %d, want 1 or more", n)
	}
	limited.act = func(m *meeting) bool {
		outer := m.limit
		defer func() { m.limit = outer }()
		if outer == 0 || n < outer {
			m.limit = n
		}
		return e.meet(m)
	}
	return limited
}

// Nth limits e to the nth request that the fault meets, so that a test can name one request: the second
// update of a Lease is Nth(2) with a Match. Requests that arrived before the fault do not count.
func (e Effect) Nth(n int) Effect {
	limited := e
	limited.text += fmt.Sprintf(" (request %d)", n)
	if n < 1 {
		limited.err = problem("Nth", "got %d, want 1 or more", n)
	}
	limited.act = func(m *meeting) bool { return !m.inProgress && m.fault.countMet(&n) == n && e.meet(m) }
	return limited
}

// Then adds next, which acts after e, unless e has ended the request.
func (e Effect) Then(next Effect) Effect {
	return Effect{
		text: e.text + ", " + next.text, err: cmp.Or(e.err, next.err), inProgress: e.inProgress || next.inProgress,
		on:    func(verb string) bool { return e.actsOn(verb) || next.actsOn(verb) },
		act:   func(m *meeting) bool { return e.meet(m) || next.meet(m) },
		start: func(f *Fault) error { return cmp.Or(e.prepare(f), next.prepare(f)) },
	}
}

// String returns the effect in a few words.
func (e Effect) String() string { return e.text }

func (e Effect) meet(m *meeting) (answered bool) {
	return e.act != nil && e.actsOn(m.req.Verb) && e.act(m)
}

func (e Effect) actsOn(verb string) bool { return e.on == nil || e.on(verb) }

func (e Effect) prepare(f *Fault) error {
	if e.start == nil {
		return e.err
	}
	return cmp.Or(e.err, e.start(f))
}

func problem(parameter, format string, args ...any) error {
	return fmt.Errorf("%s: "+format, append([]any{parameter}, args...)...)
}

func checkNumber[T int | time.Duration](of string, n T) error {
	if n < 0 {
		return problem(of, "got %v, want 0 or more", n)
	}
	return nil
}

func checkStatus(of string, s meta.Status, least int32) error {
	switch {
	case s.Code < least || s.Code > 599:
		return problem(of+".Code", "got %d, want %d to 599", s.Code, least)
	case s.Details != nil && s.Details.RetryAfterSeconds < 0:
		return problem(of+".Details.RetryAfterSeconds", "got %d, want 0 or more", s.Details.RetryAfterSeconds)
	}
	return nil
}
