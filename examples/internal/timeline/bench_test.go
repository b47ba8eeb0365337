package timeline

import (
	"fmt"
	"io"
	"testing"

	"github.com/kubecoord/kubecoord/candidate"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

// full returns a Recorder that remembers as much as it can of a thousand leases
// with ten candidates each.
func full(b *testing.B) *Recorder {
	st := store.New(store.Options{})
	b.Cleanup(st.Close)
	rec := NewRecorder(st, Options{})
	for i := range 1000 {
		for j := range 10 {
			c := &candidate.LeaseCandidate{ObjectMeta: meta.ObjectMeta{Namespace: "ns", Name: fmt.Sprintf("c-%d-%d", i, j)}}
			c.Spec = candidate.LeaseCandidateSpec{LeaseName: fmt.Sprint("lease-", i), BinaryVersion: "1.0.0", EmulationVersion: "1.0.0", Strategy: lease.OldestEmulationVersion}
			c.ResourceVersion = "1"
			rec.seeCandidate(c)
		}
	}
	for i := range 25000 {
		rec.Log(event(candidate.Pinged, "ns", fmt.Sprint("lease-", i%1000), fmt.Sprintf("c-%d-%d", i%1000, i%10)))
	}
	return rec
}

func BenchmarkTimeline(b *testing.B) {
	rec := full(b)
	b.ReportAllocs()
	for b.Loop() {
		rec.Timeline()
	}
}

func BenchmarkSVG(b *testing.B) {
	for _, candidates := range []int{3, 30, 3000} {
		t := crowd(candidates, 100)
		b.Run(fmt.Sprintf("candidates=%d", candidates), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				SVG(io.Discard, t)
			}
		})
	}
}

func BenchmarkLog(b *testing.B) {
	rec := full(b)
	ev := event(candidate.Pinged, "ns", "lease-1", "c-1-1")
	b.ReportAllocs()
	for b.Loop() {
		rec.Log(ev)
	}
}
