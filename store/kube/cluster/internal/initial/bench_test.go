package initial_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store/kube/cluster"
)

// BenchmarkStart starts a further server of a process, with the objects and without.
func BenchmarkStart(b *testing.B) {
	for _, objects := range []bool{false, true} {
		name := "without"
		if objects {
			name = "with"
		}
		b.Run(name, func(b *testing.B) {
			o := cluster.Bare()
			o.Objects = objects
			b.ReportAllocs()
			for b.Loop() {
				s, err := cluster.New(o, httpapi.Options{})
				require.NoError(b, err)
				s.Close()
			}
		})
	}
}
