package httpapi_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
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

// The cost of a further kind does not depend on how many there are in its group: 3,500 took 60 times as long as 250.
func TestAFurtherKindCostsTheSame(t *testing.T) {
	further := func(i int) kind.Kind {
		return widgetKind(t, func(d *kind.Descriptor[meta.Object]) {
			d.Resource.Kind, d.Resource.Plural = fmt.Sprintf("Widget%05d", i), fmt.Sprintf("widgets%05d", i)
		})
	}
	cost := func(n int) float64 {
		api := newServerWith(t, store.Options{}, httpapi.Options{}).api
		all := make([]kind.Kind, n)
		for i := range all {
			all[i] = further(i)
		}
		require.NoError(t, api.AddKinds(t.Context(), all...))
		one := further(n)
		return testing.AllocsPerRun(10, func() {
			require.NoError(t, api.AddKinds(t.Context(), one))
			require.NoError(t, api.RemoveKinds(t.Context(), httpapi.RemoveOptions{}, one))
		})
	}
	few, many := cost(10), cost(1000)
	t.Log(few, many)
	assert.LessOrEqual(t, many, few+20)
}
