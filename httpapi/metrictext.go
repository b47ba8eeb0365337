package httpapi

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// This file is the text form of Prometheus, version 0.0.4, and the numbers behind it. The library
// of the field would be a dependency of the root module.

// metricsType is the media type of the text form.
const metricsType = "text/plain; version=0.0.4; charset=utf-8"

// metricText is an answer to a scrape.
type metricText struct{ bytes.Buffer }

// family begins a metric. Its samples follow, in the order of calls.
func (t *metricText) family(name, kind, help string) {
	fmt.Fprintf(t, "# HELP %s %s\n# TYPE %s %s\n", name, strings.NewReplacer(`\`, `\\`, "\n", `\n`).Replace(help), name, kind)
}

// sample writes a value. labels are names and values in turn.
func (t *metricText) sample(name string, value float64, labels ...string) {
	t.WriteString(name)
	for i := 0; i+1 < len(labels); i += 2 {
		t.WriteByte("{,"[min(i, 1)])
		t.WriteString(labels[i])
		t.WriteString(`="`)
		t.WriteString(strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`).Replace(strings.ToValidUTF8(labels[i+1], "\uFFFD")))
		t.WriteByte('"')
	}
	if len(labels) > 0 {
		t.WriteByte('}')
	}
	t.WriteByte(' ')
	t.WriteString(strconv.FormatFloat(value, 'g', -1, 64))
	t.WriteByte('\n')
}

// labels are the values of the labels of a sample.
type labels interface {
	comparable
	// pairs returns names and values in turn.
	pairs() []string
}

// series are the numbers of one metric by the values of its labels.
type series[L labels, N any] struct {
	mu sync.RWMutex // guards by
	by map[L]*N
}

// find returns the number for the labels, or nil.
func (s *series[L, N]) find(l L) *N {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.by[l]
}

// of returns the number for the labels, which it may add.
func (s *series[L, N]) of(l L) *N {
	if n := s.find(l); n != nil {
		return n
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.by[l]
	if n == nil {
		if s.by == nil {
			s.by = map[L]*N{}
		}
		n = new(N)
		s.by[l] = n
	}
	return n
}

// each calls visit for each number with its labels, in the order of their values.
func (s *series[L, N]) each(visit func(l L, n *N)) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	all := slices.Collect(maps.Keys(s.by))
	slices.SortFunc(all, func(a, b L) int { return slices.Compare(a.pairs(), b.pairs()) })
	for _, l := range all {
		visit(l, s.by[l])
	}
}

// buckets are the upper bounds of durations in seconds (upstream: apiserver, endpoints/metrics).
var buckets = [...]float64{0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60}

// durations is a histogram. Its counts are for one bucket each; the last has no upper bound.
type durations struct {
	counts [len(buckets) + 1]atomic.Int64
	sum    atomic.Int64 // in nanoseconds
}

func (d *durations) observe(took time.Duration) {
	i, _ := slices.BinarySearch(buckets[:], took.Seconds())
	d.counts[i].Add(1)
	d.sum.Add(int64(took))
}

func (d *durations) add(other *durations) {
	for i := range d.counts {
		d.counts[i].Add(other.counts[i].Load())
	}
	d.sum.Add(other.sum.Load())
}

func (d *durations) count() (all int64) {
	for i := range d.counts {
		all += d.counts[i].Load()
	}
	return all
}

// histogram writes the samples of a histogram.
func (t *metricText) histogram(name string, d *durations, labels []string) {
	var count int64
	for i := range d.counts {
		count += d.counts[i].Load()
		bound := "+Inf"
		if i < len(buckets) {
			bound = strconv.FormatFloat(buckets[i], 'g', -1, 64)
		}
		t.sample(name+"_bucket", float64(count), slices.Concat(labels, []string{"le", bound})...)
	}
	t.sample(name+"_sum", time.Duration(d.sum.Load()).Seconds(), labels...)
	t.sample(name+"_count", float64(count), labels...)
}
