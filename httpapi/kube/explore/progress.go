package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/kubecoord/kubecoord/httpapi/apitest/explore"
)

// progress tells how far the search is: on a terminal in one line that changes, elsewhere in a line every ten seconds. A finding has a line of its own as it
// comes.
type progress struct {
	out      io.Writer
	terminal bool
	began    time.Time

	mu    sync.Mutex
	told  time.Time
	shown bool // a line that is not ended
}

func newProgress(out io.Writer) *progress {
	p := &progress{out: out, began: time.Now(), told: time.Now()}
	if f, ok := out.(*os.File); ok {
		info, err := f.Stat()
		p.terminal = err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	return p
}

// see takes the progress after a run.
func (p *progress) see(now explore.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now.Found != "" {
		p.endLineLocked()
		fmt.Fprintf(p.out, "found, to be confirmed: %s\n", now.Found)
	}
	pause := 10 * time.Second
	if p.terminal {
		pause = time.Second / 4
	}
	if time.Since(p.told) < pause {
		return
	}
	p.told = time.Now()
	text := fmt.Sprintf("%d runs, %.1f a second, %d plans left, %d findings, %s left",
		now.Runs, float64(now.Runs)/time.Since(p.began).Seconds(), now.Left, now.Findings, now.Budget.Round(time.Second))
	if p.terminal {
		fmt.Fprintf(p.out, "\r\x1b[K%s", text)
		p.shown = true
		return
	}
	fmt.Fprintln(p.out, text)
}

// end ends the line.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.endLineLocked()
}

func (p *progress) endLineLocked() {
	if p.shown {
		fmt.Fprint(p.out, "\r\x1b[K")
		p.shown = false
	}
}
