package explore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
)

// process is one start of a controller, or of another part of a run.
type process struct {
	life       *life
	controller int // index, or -1
	name       string
	transport  http.RoundTripper
	dead       context.Context // ends when the process crashes
	end        context.CancelFunc
	crashing   atomic.Bool // its next request that fails is its last
	crashed    bool        // guarded by life.mu
	stop       context.CancelFunc
	done       chan struct{}
	err        error          // of Run; after done
	handling   sync.WaitGroup // requests of a program
	output     *tail          // of a program, or nil
	program    *program       // that it is a start of, or nil
	asked      int            // how many requests a program has sent; guarded by mu
	runs       *os.Process    // of a program, once it has started; guarded by mu
	waited     time.Duration  // for a processor, when that was looked at last; guarded by mu

	mu       sync.Mutex
	inFlight map[*sent]context.CancelFunc // its requests
}

func (l *life) newProcess(controller int, name string) *process {
	p := &process{life: l, controller: controller, name: name, transport: l.api.Transport(), done: make(chan struct{})}
	p.dead, p.end = context.WithCancel(context.Background())
	p.inFlight = map[*sent]context.CancelFunc{}
	return p
}

// die breaks off the requests of the process, and lets all later ones fail.
func (p *process) die() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.end()
	for _, cancel := range p.inFlight {
		cancel()
	}
	if p.program != nil {
		p.program.door.shut()
	}
}

func (p *process) conn() Conn {
	return Conn{Host: p.life.api.Host(), Transport: p, Name: p.name, Shared: &p.life.x.shared}
}

// errCrashed is the error of each request of a process that has crashed.
var errCrashed = errors.New("explore: the process has crashed")

// sent is a request of a process.
type sent struct {
	by      *process
	from    place       // in an undisturbed run
	changed atomic.Bool // an object
}

type sentKey struct{}

// outcome says whether a request was carried out that got no answer.
func (s *sent) outcome() string {
	if s.changed.Load() {
		return ": its request was carried out"
	}
	return ": its request has changed nothing"
}

// RoundTrip sends a request, unless the process has crashed, and ends it when the process does.
func (p *process) RoundTrip(req *http.Request) (*http.Response, error) {
	if p.dead.Err() != nil {
		if req.Body != nil {
			req.Body.Close()
		}
		return nil, errCrashed
	}
	s := &sent{by: p, from: p.life.placeOf(p, req)}
	ctx, end := p.begin(req.Context(), s)
	sent := time.Now()
	resp, err := p.transport.RoundTrip(req.WithContext(ctx))
	if err != nil {
		if p.crashing.CompareAndSwap(true, false) {
			p.crash(s.outcome())
		}
		end()
		return nil, err
	}
	if d := time.Since(sent); d >= time.Second {
		p.life.note(p.name, fmt.Sprintf("%s after it was sent, the answer to %s %s is %d", d.Round(time.Second), req.Method, req.URL.Path, resp.StatusCode), false)
	}
	resp.Body = &endingBody{resp.Body, end}
	return resp, nil
}

// begin adds a request to those that a crash ends, and returns its context and the function that ends it.
func (p *process) begin(ctx context.Context, s *sent) (of context.Context, end func()) {
	of, cancel := context.WithCancel(context.WithValue(apitest.WithClient(ctx, p.name), sentKey{}, s))
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.inFlight[s] = cancel; p.dead.Err() != nil {
		cancel()
	}
	return of, func() {
		cancel()
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.inFlight, s)
	}
}

// CancelRequest does nothing. client-go calls it when its own timeout fires, and ends the context too.
func (p *process) CancelRequest(*http.Request) {}

type endingBody struct {
	io.ReadCloser
	end func()
}

// Close closes the body and ends the request.
func (b *endingBody) Close() error {
	defer b.end()
	return b.ReadCloser.Close()
}

// crash ends the process at once: its requests break off, and what arrives later is not carried out.
func (p *process) crash(why string) {
	p.life.mu.Lock()
	p.crashed = true
	p.life.noteLocked(p.name, "crashes"+why, true)
	p.life.mu.Unlock()
	p.die()
	p.stop()
}

// run calls Run, or runs the program, and returns how it ended.
func (p *process) run(ctx context.Context) error {
	c := &p.life.x.s.Controllers[p.controller]
	if p.program != nil {
		return p.exec(ctx, c)
	}
	return call(func() error { return c.Run(ctx, p.conn()) })
}

// panicked is the error of a Run that panicked.
type panicked struct {
	error
	stack []string
}

func (p panicked) text() string { return fmt.Sprintf("%v\n%s", p.error, strings.Join(p.stack, "\n")) }

// supervise starts one replica of a controller again whenever it ends, until ctx ends.
func (l *life) supervise(ctx context.Context, controller, replica int) {
	defer l.running.Done()
	c := &l.x.s.Controllers[controller]
	base := c.name()
	if c.replicas() > 1 {
		base += fmt.Sprintf("-%c", 'a'+replica%26)
	}
	var of *program
	if c.Command != nil {
		var err error
		if of, err = l.newProgram(c, base); err != nil {
			l.fail(fmt.Sprintf("%s: %v", l.x.commandOf(c), err))
			return
		}
		defer of.close()
	}
	for n := 1; ctx.Err() == nil; n++ {
		name := base
		if n > 1 {
			name = fmt.Sprintf("%s.%d", base, n)
		}
		p := l.newProcess(controller, name)
		running, stop := context.WithCancel(ctx)
		p.stop = stop
		if of != nil {
			of.let(p)
		}
		l.begin(p)
		go func() {
			defer close(p.done)
			p.err = p.run(running)
		}()
		select {
		case <-running.Done():
		case <-p.done:
		}
		ordered := running.Err() != nil
		stop()
		select {
		case <-p.done:
		case <-time.After(waitForEnd):
			l.find("ends", key{"controller", base}, fmt.Sprintf("%s does not return within %s after its context has ended", base, waitForEnd))
		}
		p.die()
		p.handling.Wait() // nothing that it has asked for is carried out later
		if ctx.Err() == nil {
			switch {
			case !ordered:
				l.endedByItself(p, base)
			case errors.Is(p.err, errSlow) && l.plan != nil && l.plan.action == terminate:
				l.find("ends", key{"controller", base}, fmt.Sprintf("%s: %v", base, p.err))
			}
			sleep(ctx, l.x.pace.afterCrash)
			l.waitForHold(ctx, c)
		}
	}
}

// sleep waits, unless ctx ends before.
func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
