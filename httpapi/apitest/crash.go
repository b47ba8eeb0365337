package apitest

// CrashBefore crashes a client just before one of its requests: the first that the fault hits, or another by
// Nth. The connections of the client, which its Client name identifies, are cut: the request is not carried out, and
// neither are new ones until Remove. Then crash is called, once. It ends the client, such as by the end of its context, and
// must not wait for this end. A test starts the client anew after Remove, or at once under another name.
func CrashBefore(crash func()) Effect {
	return crashing("crash before", crash, nil, func(x *exchange, end func()) bool {
		end()
		return true
	})
}

// CrashAfter is like CrashBefore, but the request is carried out first. It gets no answer. It does not act on
// watches.
func CrashAfter(crash func()) Effect {
	return crashing("crash after", crash, notWatch, func(x *exchange, end func()) bool {
		x.after = end
		return false
	})
}

// crashing returns an effect on one request. do gets the function that ends the client and the request.
func crashing(text string, crash func(), on func(verb string) bool, do func(x *exchange, end func()) bool) Effect {
	var err error
	if crash == nil {
		err = problem("crash", "got nil, want a function that ends the client")
	}
	e := Effect{act: func(m *meeting) bool {
		return !m.inProgress && m.hit() && do(m.exchange, func() {
			m.disconnect(m.fault)
			crash()
			m.abort()
		})
	}}.First(1)
	e.text, e.err, e.on = text, err, on
	return e
}

// disconnect cuts the connections of the client of a request, but this one, until the fault is removed.
func (x *exchange) disconnect(by *Fault) {
	var cut []*exchange
	x.api.mu.Lock()
	if !by.gone {
		x.api.crashed[x.req.Client] = by
	}
	for other := range x.api.open {
		if other != x && other.req.Client == x.req.Client {
			cut = append(cut, other)
		}
	}
	x.api.mu.Unlock()
	for _, other := range cut {
		other.breakOff()
	}
}

// hasCrashed reports whether the client of a request has crashed. Its fault then hits the request.
func (a *API) hasCrashed(x *exchange) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	by := a.crashed[x.req.Client]
	if by != nil {
		x.req.Faults = append(x.req.Faults, by)
	}
	return by != nil
}
