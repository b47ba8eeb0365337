package registry_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store/admission"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// admission records what it is asked, and refuses what refuse returns an error for.
type decider struct {
	mu     sync.Mutex
	asked  []string
	refuse func(step string, a *admission.Attributes) error
}

func (a *decider) Admit(_ context.Context, at *admission.Attributes) error { return a.ask("admit", at) }

func (a *decider) Validate(_ context.Context, at *admission.Attributes) error {
	return a.ask("validate", at)
}

func (a *decider) ask(step string, at *admission.Attributes) error {
	text := fmt.Sprint(step, " ", at.Operation, " ", at.Name)
	if opts, ok := at.Options.(kinds.DeleteOptions); ok && opts.GracePeriodSeconds != nil {
		text += fmt.Sprint(" grace ", *opts.GracePeriodSeconds)
	}
	if at.Old != nil && at.Old.GetObjectMeta().DeletionTimestamp != nil {
		text += " marked"
	}
	a.mu.Lock()
	a.asked = append(a.asked, text)
	a.mu.Unlock()
	if a.refuse == nil {
		return nil
	}
	return a.refuse(step, at)
}

// taken returns the questions since the last time.
func (a *decider) taken() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	asked := a.asked
	a.asked = nil
	return asked
}

func both(what string) []string { return []string{"admit " + what, "validate " + what} }

// admitting sets an admission of a store.
func admitting(st *registry.Store) *decider {
	a := &decider{}
	st.SetAdmission(a)
	return a
}

// As upstream, a deletion that ends at once is an update, which marks the object, and the removal.
func TestAdmissionOfADeletionWithoutGrace(t *testing.T) {
	r := gracefulValves(t, nil)
	a := admitting(r.Store())
	at := valveSpec{Open: true}.in(t, r)
	a.taken()

	_, err := r.Delete(t.Context(), new(at), &kinds.DeleteOptions{})
	require.NoError(t, err)
	assert.Equal(t, both("DELETE a grace 5"), a.taken(), "the grace of the kind")
	_, err = r.Delete(t.Context(), new(at), &kinds.DeleteOptions{GracePeriodSeconds: new(int64(9))})
	require.NoError(t, err)
	assert.Empty(t, a.taken(), "a deletion with more grace than is left changes nothing")
	_, err = r.Delete(t.Context(), new(at), &kinds.DeleteOptions{GracePeriodSeconds: new(int64(0)), DryRun: []string{kinds.DryRunAll}})
	require.NoError(t, err)
	assert.Equal(t, both("DELETE a grace 0 marked"), a.taken(), "a dry run does not reach the removal")
	_, err = r.Delete(t.Context(), new(at), &kinds.DeleteOptions{GracePeriodSeconds: new(int64(0))})
	require.NoError(t, err)
	assert.Equal(t, append(both("DELETE a grace 0 marked"), both("DELETE a grace 0 marked")...), a.taken())
}

func TestAdmissionThatRefusesTheRemovalLeavesTheMark(t *testing.T) {
	r := gracefulValves(t, nil)
	a := admitting(r.Store())
	at := valveSpec{Open: true}.in(t, r)
	a.refuse = func(_ string, at *admission.Attributes) error {
		if at.Old.GetObjectMeta().DeletionTimestamp != nil {
			return errors.New("not the second time")
		}
		return nil
	}
	_, err := r.Delete(t.Context(), new(at), &kinds.DeleteOptions{GracePeriodSeconds: new(int64(0))})
	require.EqualError(t, err, "not the second time")
	it, err := r.Get(t.Context(), at.Namespace, at.Name, "")
	require.NoError(t, err)
	assert.NotNil(t, it.Stored().GetObjectMeta().DeletionTimestamp)
}

func TestAdmissionOfTheLastFinalizer(t *testing.T) {
	st := newStore(t)
	a, r := admitting(st), leaseResource(st)
	mustCreate(t, leasesIn(st), newLease("ns/a", func(l *lease.Lease) { l.Finalizers = []string{"example.com/keep"} }))
	a.taken()
	at := registry.Request{Namespace: "ns", Name: "a"}
	_, err := r.Delete(t.Context(), new(at), &kinds.DeleteOptions{})
	require.NoError(t, err)
	assert.Equal(t, both("DELETE a"), a.taken())
	_, _, err = r.Update(t.Context(), &at, registry.Replacement(func(current *registry.Item) (kinds.Object, error) {
		o := current.Copy()
		o.GetObjectMeta().Finalizers = nil
		return o, nil
	}))
	require.NoError(t, err)
	assert.Equal(t, both("UPDATE a marked"), a.taken(), "the removal that follows is not asked about")
	_, err = r.Get(t.Context(), "ns", "a", "")
	assert.Error(t, err)
}

// Each attempt of a write is another state, and asked about.
func TestAdmissionIsAskedByEachAttempt(t *testing.T) {
	for _, refused := range []bool{false, true} {
		st := newStore(t)
		createAll(t, leasesIn(st), "ns/a")
		a, r := admitting(st), leaseResource(st)
		others := 0
		a.refuse = func(step string, at *admission.Attributes) error {
			if step == "validate" && others < 2 { // another write comes first
				others++
				_, _, err := r.Update(admission.Below(t.Context()), &registry.Request{Namespace: "ns", Name: "a"},
					registry.Replacement(func(current *registry.Item) (kinds.Object, error) {
						l := current.Copy().(*lease.Lease)
						l.Spec.HolderIdentity = new(fmt.Sprint("other", others))
						return l, nil
					}))
				require.NoError(t, err)
			}
			if holder := at.Old.(*lease.Lease).Spec.HolderIdentity; refused && holder != nil && *holder == "other2" {
				return meta.NewStatusError(http.StatusForbidden, meta.ReasonForbidden, nil, "the third attempt")
			}
			return nil
		}
		change := &registry.Patch{Scheme: kinds.NewScheme(r.Kind), Type: registry.MergePatch, Data: []byte(`{"spec":{"leaseTransitions":7}}`)}
		it, _, err := r.Update(t.Context(), &registry.Request{Namespace: "ns", Name: "a"}, change)
		want := append(append(both("UPDATE a"), both("UPDATE a")...), both("UPDATE a")...)
		if refused {
			assert.EqualError(t, err, "the third attempt")
			assert.Equal(t, want[:5], a.taken())
			continue
		}
		require.NoError(t, err)
		assert.Equal(t, want, a.taken())
		spec := it.Stored().(*lease.Lease).Spec
		assert.Equal(t, "other2", *spec.HolderIdentity)
		assert.EqualValues(t, 7, *spec.LeaseTransitions)
	}
}

// A generated name that is taken is another attempt to create the same object: it is admitted once, and validated with each name.
func TestAdmissionOfGeneratedNamesThatAreTaken(t *testing.T) {
	st := newStoreWith(t, registry.Options{Seed: 1})
	leases := leasesIn(st)
	first := mustCreate(t, leases, &lease.Lease{ObjectMeta: meta.ObjectMeta{Namespace: "ns", GenerateName: "g-"}})
	again := newStoreWith(t, registry.Options{Seed: 1})
	takeName(t, again, first.Name)
	a := admitting(again)
	second := mustCreate(t, leasesIn(again), &lease.Lease{ObjectMeta: meta.ObjectMeta{Namespace: "ns", GenerateName: "g-"}})
	asked := a.taken()
	require.Greater(t, len(asked), 2, "the first name is taken")
	assert.Equal(t, "admit CREATE ", asked[0])
	assert.Equal(t, "validate CREATE "+second.Name, asked[len(asked)-1])
	for _, text := range asked[1:] {
		assert.Contains(t, text, "validate CREATE g-")
	}
}

// Reads, Restore and writes of the server itself are not asked about.
func TestWritesBelowAdmission(t *testing.T) {
	st := newStore(t)
	a, r := admitting(st), leaseResource(st)
	restored, err := r.PrepareRestore(newLease("ns/a"), registry.Request{Namespace: "ns"})
	require.NoError(t, err)
	require.NoError(t, st.Restore([]*registry.Restored{restored}, 0))
	ctx, at := admission.Below(t.Context()), registry.Request{Namespace: "ns", Name: "a"}
	_, _, err = r.Update(ctx, &at, registry.Replacement(func(current *registry.Item) (kinds.Object, error) { return current.Copy(), nil }))
	require.NoError(t, err)
	_, err = r.Create(ctx, newLease("ns/b"), &registry.Request{Namespace: "ns"})
	require.NoError(t, err)
	_, err = r.List(t.Context(), registry.ListOptions{})
	require.NoError(t, err)
	_, err = r.Delete(ctx, new(at), &kinds.DeleteOptions{})
	require.NoError(t, err)
	_, err = r.DeleteCollection(ctx, registry.Request{}, registry.ListOptions{}, kinds.DeleteOptions{})
	require.NoError(t, err)
	assert.Empty(t, a.taken())
}

// A write of the Go API has the options that the same request would have.
func TestOptionsOfAWriteThatIsNoRequest(t *testing.T) {
	st := newStore(t)
	a := admitting(st)
	var options []any
	a.refuse = func(_ string, at *admission.Attributes) error {
		options = append(options, at.Options)
		return nil
	}
	at := registry.Request{Namespace: "ns", FieldManager: "m", DryRun: true}
	_, err := leaseResource(st).Create(t.Context(), newLease("ns/a"), &at)
	require.NoError(t, err)
	want := kinds.WriteOptions{FieldManager: "m", DryRun: []string{kinds.DryRunAll}}
	assert.Equal(t, []any{want, want}, options)
}

// As upstream, a write of a namespace is in that namespace.
func TestAdmissionOfNamespaces(t *testing.T) {
	k, err := kinds.NewKind(kind.Descriptor[meta.Object]{
		Resource: kind.Resource{Kind: "Namespace", ClusterScoped: true},
		New:      func() kinds.Object { return &valve{} },
		Versions: []kind.Version[meta.Object]{{Name: "v1"}},
	})
	require.NoError(t, err)
	st := newStore(t)
	a, r := admitting(st), st.Resource(k)
	in := map[string]bool{}
	a.refuse = func(_ string, at *admission.Attributes) error {
		in[fmt.Sprintf("%s %s in %q", at.Operation, at.Name, at.Namespace)] = true
		return nil
	}
	at := registry.Request{Name: "a"}
	_, err = r.Create(t.Context(), &valve{ObjectMeta: meta.ObjectMeta{Name: "a"}}, &at)
	require.NoError(t, err)
	_, _, err = r.Update(t.Context(), &at, registry.Replacement(func(current *registry.Item) (kinds.Object, error) { return current.Copy(), nil }))
	require.NoError(t, err)
	_, err = r.Delete(t.Context(), new(at), &kinds.DeleteOptions{})
	require.NoError(t, err)
	assert.Equal(t, map[string]bool{`CREATE a in "a"`: true, `UPDATE a in "a"`: true, `DELETE a in "a"`: true}, in)
}

// The object of an update is the same in each attempt, whatever the Admission did to it in the one before.
func TestAdmissionChangesEachAttemptAnew(t *testing.T) {
	r := gracefulValves(t, func(d *kind.Descriptor[meta.Object]) { d.Strategy.Update.Unconditional = true })
	at := valveSpec{}.in(t, r)
	a, others := admitting(r.Store()), 0
	a.refuse = func(step string, at *admission.Attributes) error {
		if step == "admit" {
			at.Object.(*valve).Status.Flow++
			return nil
		}
		if others++; others == 1 { // another write comes first
			_, _, err := r.Update(admission.Below(t.Context()), &registry.Request{Namespace: "ns", Name: "a"},
				registry.Replacement(func(current *registry.Item) (kinds.Object, error) {
					v := current.Copy().(*valve)
					v.Spec.Open = true
					return v, nil
				}))
			require.NoError(t, err)
		}
		return nil
	}
	it, _, err := r.Update(t.Context(), &at, r.Replace(&valve{ObjectMeta: objectMeta("ns/a"), Status: valveStatus{Flow: 10}}))
	require.NoError(t, err)
	assert.Equal(t, 2, others)
	assert.Equal(t, 11, it.Stored().(*valve).Status.Flow)
}
