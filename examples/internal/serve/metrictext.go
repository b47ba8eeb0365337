package serve

import (
	"bytes"
	"fmt"
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

// single writes a metric with one sample.
func (t *metricText) single(name, kind, help string, value float64) {
	t.family(name, kind, help)
	t.sample(name, value)
}

// series are the numbers of one metric by the values of its labels.
type series[N any] struct {
	labels []string
	mu     sync.RWMutex  // guards by
	by     map[string]*N // by keyOf
}

const betweenLabels = "\x00"

// keyOf returns the key for the values of the labels.
func keyOf(values ...string) string { return strings.Join(values, betweenLabels) }

// of returns the number for a key.
func (s *series[N]) of(key string) *N {
	s.mu.RLock()
	n := s.by[key]
	s.mu.RUnlock()
	if n != nil {
		return n
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if n = s.by[key]; n == nil {
		if s.by == nil {
			s.by = map[string]*N{}
		}
		n = new(N)
		s.by[key] = n
	}
	return n
}

// each calls visit for each number with its labels, in order.
func (s *series[N]) each(visit func(n *N, labels []string)) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	keys := make([]string, 0, len(s.by))
	for key := range s.by {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		var labels []string
		for i, value := range strings.Split(key, betweenLabels) {
			labels = append(labels, s.labels[i], value)
		}
		visit(s.by[key], labels)
	}
}

// counters is a counter by labels.
type counters = series[atomic.Int64]

func (t *metricText) counters(name, help string, s *counters) {
	t.family(name, "counter", help)
	s.each(func(n *atomic.Int64, labels []string) { t.sample(name, float64(n.Load()), labels...) })
}

// buckets are the upper bounds of durations in seconds (upstream: apiserver,
// endpoints/metrics, and storage/etcd3/metrics).
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

func (t *metricText) histograms(name, help string, s *series[durations]) {
	t.family(name, "histogram", help)
	s.each(func(d *durations, labels []string) {
		var count int64
		for i := range d.counts {
			count += d.counts[i].Load()
			bound := "+Inf"
			if i < len(buckets) {
				bound = strconv.FormatFloat(buckets[i], 'g', -1, 64)
			}
			t.sample(name+"_bucket", float64(count), append(slices.Clip(labels), "le", bound)...)
		}
		t.sample(name+"_sum", time.Duration(d.sum.Load()).Seconds(), labels...)
		t.sample(name+"_count", float64(count), labels...)
	})
}
