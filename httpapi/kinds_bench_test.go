package httpapi_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// hundredKinds returns kinds in 20 groups, as client-go and some CustomResourceDefinitions have them.
func hundredKinds(t testing.TB) (all []kind.Kind) {
	t.Helper()
	for i := range 100 {
		all = append(all, widgetKind(t, func(d *kind.Descriptor[meta.Object]) {
			d.Resource.Group, d.Resource.Kind = fmt.Sprintf("group%d.example.com", i%20), fmt.Sprintf("Widget%d", i)
		}))
	}
	return all
}

// A server of kinds that others have used costs what depends on its number of groups and kinds.
func BenchmarkNewWithHundredKinds(b *testing.B) {
	all := hundredKinds(b)
	b.ReportAllocs()
	for b.Loop() {
		st := store.New(store.Options{})
		api := httpapi.New(st, httpapi.Options{Kinds: all})
		api.Close()
		st.Close()
	}
}

// A further server may cost 20 KB: the limit of issue 22.
func TestNewWithHundredKindsIsCheap(t *testing.T) {
	all := hundredKinds(t)
	total := func() uint64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.TotalAlloc
	}
	const servers = 50
	before := total()
	for range servers {
		st := store.New(store.Options{})
		httpapi.New(st, httpapi.Options{Kinds: all}).Close()
		st.Close()
	}
	require.LessOrEqual(t, (total()-before)/servers, uint64(20<<10))
}
