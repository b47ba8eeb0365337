package etcd

import (
	"context"
	"time"
)

// progress asks etcd how far the changes of one watch have come. A request or its answer
// may be lost, so it is repeated.
type progress struct {
	request     func()
	timer       *time.Timer // when to ask next
	outstanding bool        // a request has no answer yet
	wanted      bool        // the answer must be as new as the newest that somebody has read
}

// newProgress returns the progress of the watch that has the context.
func (r *reader) newProgress(ctx context.Context) *progress {
	return &progress{timer: time.NewTimer(silence), request: func() {
		ctx, cancel := context.WithTimeout(ctx, silence)
		defer cancel()
		// An error shows as silence.
		_ = r.client.RequestProgress(ctx)
	}}
}

func (p *progress) ask() {
	p.outstanding = true
	p.timer.Reset(silence)
	if p.wanted {
		p.timer.Reset(askAgain)
	}
	p.request()
}

// want asks for an answer that is as new as the newest that somebody has read.
func (p *progress) want() {
	again := p.outstanding && !p.wanted // etcd may have dropped that request
	p.wanted = true
	if again {
		p.timer.Reset(askAgain)
	} else if !p.outstanding {
		p.ask()
	}
}

// answered notes an answer. old reports that somebody has read something newer.
func (p *progress) answered(old bool) {
	p.outstanding, p.wanted = false, p.wanted && old
	p.timer.Reset(silence)
	if p.wanted {
		p.timer.Reset(askSoon)
	}
}
