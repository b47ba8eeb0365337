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

// subject is a server or fake that a test may give to the code under test.
type subject interface {
	door
	control
}

// door is the clients of a subject.
type door interface {
	// Leases passes through the faults of the subject.
	coordinationclient.LeasesGetter
	// create creates an object of any kind.
	create(ctx context.Context, o client.Object) error
	// getUntyped and getMetadata read a Lease without its Go type, and
	// discovered reports whether discovery lists Leases.
	getUntyped(ctx context.Context, name string) error
	getMetadata(ctx context.Context, name string) error
	discovered() bool
	widgets(t *testing.T) widgets
	// semantics is the client that reflectors ask whether WatchList is supported.
	semantics() any
}

// control is the functions of a subject for a test. A subject without one of
// them embeds nothing.
type control interface {
	// config connects clients in this process, url other processes.
	config() *rest.Config
	url() string
	// requests and warnings return the requests so far and their warnings.
	// verdict returns the findings about the holders of Leases.
	requests() []string
	warnings() []string
	verdict() string
	// load and dump read and write a state as YAML.
	load(yaml string)
	dump() string
	// fork returns another subject that starts with the same state, or nil.
	fork(t testing.TB) subject
	// expire drops the history.
	expire()

	// These make the calls of a verb fail, and return the means by which they
	// do. The call is answered with an error, carried out and answered with an
	// error, or never answered.
	fail(verb string, status metav1.Status) string
	loseAnswer(verb string) string
	hang(verb string) string
	// can answers gets with an object that does not exist, and end makes the
	// server end the next watch.
	can(l *coordinationv1.Lease) string
	end() string
}

// nothing is the control of a subject without any.
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

// get reads a Lease that must exist.
func get(t *testing.T, s subject, name string) *coordinationv1.Lease {
	t.Helper()
	l, err := leasesOf(s).Get(t.Context(), name, metav1.GetOptions{})
	require.NoError(t, err)
	return l
}

// hold gives a Lease another holder and returns the error.
func hold(t *testing.T, s subject, l *coordinationv1.Lease, holder string) error {
	l = l.DeepCopy()
	l.Spec.HolderIdentity = &holder
	_, err := leasesOf(s).Update(t.Context(), l, metav1.UpdateOptions{})
	return err
}
