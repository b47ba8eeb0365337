package comparison

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// BenchmarkStart measures each subject from nothing to its first answer, its
// clients included.
func BenchmarkStart(b *testing.B) {
	for _, c := range columns {
		for _, v := range c.variants {
			b.Run(c.title+" "+v.name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					start(b, v)
				}
			})
		}
	}
}

// start opens a subject and ends it.
func start(b *testing.B, v variant) {
	life := &life{TB: b}
	defer life.end()
	_, err := v.open(life).Leases(namespace).List(b.Context(), metav1.ListOptions{})
	require.NoError(b, err)
}

// life is the part of a benchmark in which one subject lives.
type life struct {
	testing.TB
	cleanups []func()
}

// Cleanup has f called by end.
func (l *life) Cleanup(f func()) { l.cleanups = append(l.cleanups, f) }

func (l *life) end() {
	for i := len(l.cleanups) - 1; i >= 0; i-- {
		l.cleanups[i]()
	}
}
