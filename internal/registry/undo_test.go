package registry_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/admission"
	"github.com/kubecoord/kubecoord/store/meta"
)

// What an Admission takes beside a write is given back once if nothing comes of the write, also for each attempt that starts again.
func TestAdmissionTakesBackWhatAFailedWriteHasTaken(t *testing.T) {
	st := newStore(t)
	leases, r := leasesIn(st), leaseResource(st)
	a := admitting(st)
	held := 0
	a.refuse = func(step string, at *admission.Attributes) error {
		if step == "validate" && at.Operation != admission.Delete {
			held++
			at.OnFailure(func() { held-- })
		}
		return nil
	}
	createAll(t, leases, "ns/a")
	assert.Equal(t, 1, held, "a create keeps it")

	_, err := leases.Create(t.Context(), newLease("ns/a"), store.CreateOptions{})
	require.ErrorIs(t, err, meta.ReasonAlreadyExists)
	assert.Equal(t, 1, held, "a create of what exists gives it back")

	refused := errors.New("refused")
	keep := a.refuse
	a.refuse = func(step string, at *admission.Attributes) error {
		return errors.Join(keep(step, at), refusal(step, refused))
	}
	_, err = leases.Create(t.Context(), newLease("ns/b"), store.CreateOptions{})
	require.ErrorIs(t, err, refused)
	assert.Equal(t, 1, held, "a refusal after it gives it back")
	a.refuse = keep

	raced := false
	a.refuse = func(step string, at *admission.Attributes) error {
		if step == "validate" && !raced {
			raced = true
			_, _, err := r.Update(admission.Below(t.Context()), &registry.Request{Namespace: "ns", Name: "a"}, labelled("other"))
			require.NoError(t, err)
		}
		return keep(step, at)
	}
	a.taken()
	_, _, err = r.Update(t.Context(), &registry.Request{Namespace: "ns", Name: "a"}, labelled("own"))
	require.NoError(t, err)
	assert.Len(t, slices.DeleteFunc(a.taken(), func(s string) bool { return s != "validate UPDATE a" }), 2, "the write began again")
	assert.Equal(t, 2, held, "only the attempt that was stored keeps it")
}

// labelled is an update that sets a label.
func labelled(value string) registry.Change {
	return registry.Replacement(func(current *registry.Item) (kinds.Object, error) {
		o := current.Copy()
		o.GetObjectMeta().Labels = map[string]string{"x": value}
		return o, nil
	})
}

func refusal(step string, err error) error {
	if step == "validate" {
		return err
	}
	return nil
}
