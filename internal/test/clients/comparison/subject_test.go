package comparison

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// namespace is where the objects of the scenarios live.
const namespace = "test"

// subject is something that a test may give to the code that it tests.
type subject interface {
	door
	control
}

// door is the clients that it has.
type door interface {
	// Leases are behind the faults that were put in place.
	coordinationclient.LeasesGetter
	// create creates an object of any kind.
	create(ctx context.Context, o client.Object) error
	// getUntyped and getMetadata read a Lease without its Go type, and
	// discovered reports whether discovery tells of Leases.
	getUntyped(ctx context.Context, name string) error
	getMetadata(ctx context.Context, name string) error
	discovered() bool
	widgets(t *testing.T) widgets
	// semantics is what tells reflectors whether there is WatchList.
	semantics() any
}

// control is what it offers to a test beside its clients. Those that do not
// offer something embed nothing.
type control interface {
	// config is how clients of all kinds connect in this process, url how
	// programs of other processes do.
	config() *rest.Config
	url() string
	// requests and warnings are what was asked, and what was said of it; verdict
	// is what is wrong with how Leases were held.
	requests() []string
	warnings() []string
	verdict() string
	// load and dump read and write a state as YAML.
	load(yaml string)
	dump() string
	// fork returns another one that goes on from the same state, or nil.
	fork(t testing.TB) subject
	// expire makes it forget what was before.
	expire()

	// These make the calls of a verb go wrong, and return by what means: they
	// are answered with an error, carried out and answered with an error, or
	// never answered.
	fail(verb string, status metav1.Status) string
	loseAnswer(verb string) string
	hang(verb string) string
	// can answers gets with an object that is not there, and end makes the next
	// watch end by itself.
	can(l *coordinationv1.Lease) string
	end() string
}

// nothing is the control of who offers none.
type nothing struct{}

func (nothing) config() *rest.Config              { return nil }
func (nothing) url() string                       { return "" }
func (nothing) requests() []string                { return nil }
func (nothing) warnings() []string                { return nil }
func (nothing) verdict() string                   { return "" }
func (nothing) load(string)                       {}
func (nothing) fork(testing.TB) subject           { return nil }
func (nothing) dump() string                      { return "" }
func (nothing) expire()                           {}
func (nothing) fail(string, metav1.Status) string { return "" }
func (nothing) loseAnswer(string) string          { return "" }
func (nothing) hang(string) string                { return "" }
func (nothing) can(*coordinationv1.Lease) string  { return "" }
func (nothing) end() string                       { return "" }

// leasesOf returns the client of the Leases of a scenario.
func leasesOf(s subject) coordinationclient.LeaseInterface { return s.Leases(namespace) }

// newLease returns a Lease that can be created.
func newLease(name string) *coordinationv1.Lease {
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: new("a"), LeaseDurationSeconds: new(int32(15))},
	}
}

// given creates Leases.
func given(t *testing.T, s subject, names ...string) {
	t.Helper()
	for _, name := range names {
		_, err := leasesOf(s).Create(t.Context(), newLease(name), metav1.CreateOptions{})
		require.NoError(t, err)
	}
}

// get reads a Lease that is there.
func get(t *testing.T, s subject, name string) *coordinationv1.Lease {
	t.Helper()
	l, err := leasesOf(s).Get(t.Context(), name, metav1.GetOptions{})
	require.NoError(t, err)
	return l
}

// hold gives a Lease another holder, and says what came of it.
func hold(t *testing.T, s subject, l *coordinationv1.Lease, holder string) error {
	l = l.DeepCopy()
	l.Spec.HolderIdentity = &holder
	_, err := leasesOf(s).Update(t.Context(), l, metav1.UpdateOptions{})
	return err
}
