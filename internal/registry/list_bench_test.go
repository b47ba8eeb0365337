package registry_test

import (
	"fmt"
	"testing"

	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store"
)

// Each list is of another selector, so that none is remembered. One object in ten matches.
func BenchmarkListByLabel(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		for _, shared := range []bool{true, false} {
			st, leases := benchStore(b, 0)
			for i := range n {
				l := benchLease(fmt.Sprintf("ns/l%06d", i))
				l.Labels = map[string]string{"app": "agent", "shard": fmt.Sprint(i % 10)}
				if !shared {
					l.Labels["node"] = fmt.Sprint(i)
				}
				_, err := leases.Create(b.Context(), l, store.CreateOptions{})
				if err != nil {
					b.Fatal(err)
				}
			}
			r := leaseResource(st)
			i := 0
			b.Run(fmt.Sprintf("objects=%d/shared=%t", n, shared), func(b *testing.B) {
				b.ReportAllocs()
				for ; b.Loop(); i++ {
					l, err := r.List(b.Context(), registry.ListOptions{LabelSelector: fmt.Sprintf("shard=3,other!=%d", i)})
					if err != nil || len(l.Items) != n/10 {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
