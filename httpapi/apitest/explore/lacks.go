package explore

import (
	"slices"
	"time"
)

// lacks is for how long the programs of a run wait for a processor during a rest: on a machine with too much to do, one that is quiet may only be late.
type lacks struct {
	waited func() time.Duration // until now
	looks  []look               // the first is the last one before something happened last
	first  look
}

// look is what waited returned at a time.
type look struct{ at, waited time.Duration }

// betweenWaits is the time between two looks, each of which reads some files.
const betweenWaits = 500 * time.Millisecond

// mostLack is how many times the quiet a rest comes later at most, and how many times its usual time a start may take longer: the threads of a program may
// wait at the same time.
const mostLack = 3

func (l *life) lacks() *lacks {
	waited := func() (sum time.Duration) {
		l.mu.Lock()
		all := slices.Clone(l.started)
		l.mu.Unlock()
		for _, p := range all {
			sum += p.waitedForCPU()
		}
		return sum
	}
	first := look{l.since(time.Now()), waited()}
	return &lacks{waited, []look{first}, first}
}

// since returns for how long programs have waited since something happened last, if that is long enough ago for a rest.
func (w *lacks) since(last, quiet, now time.Duration) time.Duration {
	for len(w.looks) > 1 && w.looks[1].at <= last {
		w.looks = w.looks[1:]
	}
	newest := w.looks[len(w.looks)-1]
	due := now-last >= quiet
	if pause := now - newest.at; pause >= betweenWaits || due && pause >= betweenWaits/5 {
		newest = look{now, w.waited()}
		w.looks = append(w.looks, newest)
	}
	if !due {
		return 0
	}
	return min(newest.waited-w.looks[0].waited, mostLack*quiet)
}

// all returns for how long they have waited since the begin.
func (w *lacks) all() time.Duration { return w.looks[len(w.looks)-1].waited - w.first.waited }
