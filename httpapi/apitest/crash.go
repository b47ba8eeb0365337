package apitest

import "slices"

// CrashBefore crashes a client just before one of its requests: the first that the fault hits, or another by Nth. The connections
// of the client are cut: the request is not carried out, and neither are new ones until Remove. Then crash is called, once. It ends
// the client, such as by the end of its context, and must not wait for this end. A test starts the client anew after Remove, or at
// once under another name. Its Client name and Match.UserAgent identify a client; without both its User-Agent does.
func CrashBefore(crash func()) Effect { return crashing("crash before", crash, false) }

// CrashAfter is like CrashBefore, but the request is carried out first. It gets no answer. It does not act on watches.
func CrashAfter(crash func()) Effect { return crashing("crash after", crash, true) }

// crashing returns an effect on one request.
func crashing(text string, crash func(), after bool) Effect {
	e := Effect{act: func(m *meeting) bool {
		if !m.inProgress && m.hit() {
			m.after = func() {
				m.disconnect(m.fault)
				crash()
				m.abort()
			}
			if !after {
				m.after()
			}
		}
		return false
	}}.First(1)
	e.text, e.on = text, func(verb string) bool { return !after || notWatch(verb) }
	if crash == nil {
		e.err = problem("crash", "got nil, want a function that ends the client")
	}
	return e
}

// disconnect cuts the connections of the client of a request, but this one, until the fault is removed.
func (x *exchange) disconnect(by *Fault) {
	var cut []*exchange
	x.api.mu.Lock()
	by.crashed = &Match{Client: x.req.Client}
	if i := slices.IndexFunc(by.on, func(m Match) bool { return m.UserAgent != "" && m.Matches(*x.req) }); i >= 0 {
		by.crashed.UserAgent = by.on[i].UserAgent
	} else if x.req.Client == "" {
		by.crashed.UserAgent = x.req.UserAgent
	}
	for other := range x.api.open {
		if other != x && by.hasCrashed(other.req) {
			cut = append(cut, other)
		}
	}
	x.api.mu.Unlock()
	for _, other := range cut {
		other.breakOff()
	}
}

// hasCrashed reports whether the fault has crashed the client of a request.
func (f *Fault) hasCrashed(r *Request) bool {
	return f.crashed != nil && f.crashed.Client == r.Client && f.crashed.Matches(*r)
}

// hasCrashed reports whether the client of a request has crashed. Its fault then hits the request.
func (a *API) hasCrashed(x *exchange) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	i := slices.IndexFunc(a.faults, func(f *Fault) bool { return f.hasCrashed(x.req) })
	if i >= 0 {
		x.req.Faults = append(x.req.Faults, a.faults[i])
	}
	return i >= 0
}
