package serve

import (
	"log"
	"strings"
	"sync"
	"time"

	"github.com/kubecoord/kubecoord/httpapi"
)

// calmLog logs one line a second. The next line says how many were left out.
type calmLog struct {
	mu   sync.Mutex
	last time.Time
	left int
}

func (l *calmLog) printf(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if now.Sub(l.last) < time.Second {
		l.left++
		return
	}
	l.last = now
	if l.left > 0 {
		format += " (and %d more)"
		args = append(args, l.left)
		l.left = 0
	}
	log.Printf(format, args...)
}

// Write is for the log of an http.Server.
func (l *calmLog) Write(line []byte) (int, error) {
	l.printf("%s", strings.TrimSuffix(string(line), "\n"))
	return len(line), nil
}

// refusal logs answers to requests that broke a limit.
func (l *calmLog) refusal(e httpapi.LogEntry) {
	switch e.Code {
	case 403, 413, 429, 504:
		l.printf("refused: %s %q %d %q", e.Method, e.Path, e.Code, e.UserAgent)
	}
}
