package comparison

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	runtimefake "sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
)

// starts are the subjects with their defaults.
var starts = []struct {
	name string
	open func(t testing.TB) coordinationclient.LeasesGetter
}{
	{"kubecoord/client-go", func(t testing.TB) coordinationclient.LeasesGetter { return realClientGoDoor(t, plain(t)) }},
	{"kubecoord/controller-runtime", func(t testing.TB) coordinationclient.LeasesGetter { return realRuntimeDoor(t, plain(t)) }},
	{"NewClientset", func(testing.TB) coordinationclient.LeasesGetter { return fake.NewClientset().CoordinationV1() }},
	{"NewSimpleClientset", func(testing.TB) coordinationclient.LeasesGetter { return fake.NewSimpleClientset().CoordinationV1() }},
	{"controller-runtime's fake", func(testing.TB) coordinationclient.LeasesGetter { return runtimeDoor{runtimefake.NewFakeClient()} }},
}

func plain(t testing.TB) *rest.Config {
	api := apitest.New(t)
	return &rest.Config{Host: api.Host(), Transport: api.Transport()}
}

// BenchmarkStart measures the time to start each subject and its clients, up to
// the first answer. The first NewClientset of a process takes much longer than
// the following ones.
func BenchmarkStart(b *testing.B) {
	for _, s := range starts {
		b.Run(s.name, func(b *testing.B) {
			start(b, s.open)
			b.ReportAllocs()
			for b.Loop() {
				start(b, s.open)
			}
		})
	}
}

// start opens a subject and ends it.
func start(b *testing.B, open func(t testing.TB) coordinationclient.LeasesGetter) {
	life := &life{TB: b}
	defer life.end()
	_, err := open(life).Leases(namespace).List(b.Context(), metav1.ListOptions{})
	require.NoError(b, err)
}

// life is a testing.TB whose cleanups run at the end of one subject.
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
