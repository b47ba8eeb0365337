package registry_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// claims records what it is asked to take and to release.
type claims struct {
	log    []string
	open   int // claims that have not ended
	refuse error
	during func(name string) // called by a claim
}

func (c *claims) Claim(_ context.Context, _ kind.Kind, o, old meta.Object, dryRun bool) (func(bool), error) {
	c.log = append(c.log, fmt.Sprint("claim ", o.GetObjectMeta().Name, " update ", old != nil, " dry ", dryRun))
	if o.GetObjectMeta().UID == "" {
		c.log = append(c.log, "no uid")
	}
	if c.refuse != nil {
		return nil, c.refuse
	}
	if during := c.during; during != nil {
		c.during = nil
		during(o.GetObjectMeta().Name)
	}
	o.GetObjectMeta().Labels = map[string]string{"claimed": "yes"}
	c.open++
	return func(stored bool) {
		c.open--
		c.log = append(c.log, fmt.Sprint("end ", stored))
	}, nil
}

func (c *claims) Release(_ context.Context, _ kind.Kind, o meta.Object) {
	c.log = append(c.log, "release "+o.GetObjectMeta().Name)
}

// taken returns the log since the last call.
func (c *claims) taken() []string {
	log := c.log
	c.log = nil
	return log
}

// TestAClaimEndsWithItsWrite: whatever a write becomes, what it claimed is kept with the object or given back, once.
func TestAClaimEndsWithItsWrite(t *testing.T) {
	st := newStore(t)
	leases := leaseResource(st)
	c := &claims{}
	st.SetClaims(c)
	at := registry.Request{Namespace: "ns", Name: "a"}
	create := func(req registry.Request, o *lease.Lease) error {
		_, err := leases.Create(t.Context(), o, &req)
		return err
	}
	update := func(req registry.Request, change func(*lease.Lease)) error {
		_, _, err := leases.Update(t.Context(), &req, registry.Replacement(func(current *registry.Item) (kinds.Object, error) {
			next := current.Copy().(*lease.Lease)
			change(next)
			return next, nil
		}))
		return err
	}
	set := func(n int32) func(*lease.Lease) {
		return func(l *lease.Lease) { l.Spec.LeaseDurationSeconds = &n }
	}

	require.NoError(t, create(at, newLease("ns/a")))
	assert.Equal(t, []string{"claim a update false dry false", "end true"}, c.taken())
	it, err := leases.Get(t.Context(), "ns", "a", "")
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"claimed": "yes"}, it.Copy().GetObjectMeta().Labels)

	assert.ErrorIs(t, create(at, newLease("ns/a")), meta.ReasonAlreadyExists)
	assert.Equal(t, []string{"claim a update false dry false", "end false"}, c.taken())
	bad := newLease("ns/b")
	set(-1)(bad)
	assert.ErrorIs(t, create(at, bad), meta.ReasonInvalid)
	assert.Equal(t, []string{"claim b update false dry false", "end false"}, c.taken())
	require.NoError(t, create(registry.Request{Namespace: "ns", DryRun: true}, newLease("ns/c")))
	assert.Equal(t, []string{"claim c update false dry true", "end false"}, c.taken())

	require.NoError(t, update(at, set(10)))
	assert.Equal(t, []string{"claim a update true dry false", "end true"}, c.taken())
	require.NoError(t, update(at, set(10)), "nothing changes")
	assert.Equal(t, []string{"claim a update true dry false", "end false"}, c.taken())
	assert.ErrorIs(t, update(at, set(-1)), meta.ReasonInvalid)
	assert.Equal(t, []string{"claim a update true dry false", "end false"}, c.taken())
	stale := registry.Request{Namespace: "ns", Name: "a"}
	assert.ErrorIs(t, update(stale, func(l *lease.Lease) { l.ResourceVersion = "1" }), meta.ReasonConflict)
	assert.Empty(t, c.taken(), "a conflict claims nothing")

	c.during = func(string) {
		require.NoError(t, update(at, set(11)))
	}
	require.NoError(t, update(at, set(12)))
	assert.Equal(t, []string{
		"claim a update true dry false", "claim a update true dry false", "end true", "end false", "claim a update true dry false", "end true",
	}, c.taken(), "a write that comes first sends the other back")

	c.during = func(name string) { require.NoError(t, create(at, newLease("ns/"+name))) }
	generated := newLease("ns/")
	generated.GenerateName = "made-"
	require.NoError(t, create(at, generated))
	assert.Equal(t, []string{"end true", "end false", "end true"}, slices.DeleteFunc(c.taken(), func(s string) bool { return s[:3] != "end" }), "a generated name was taken")

	c.refuse = errors.New("nothing is left")
	assert.EqualError(t, update(at, set(13)), "nothing is left")
	assert.Equal(t, []string{"claim a update true dry false"}, c.taken())
	c.refuse = nil

	require.NoError(t, update(at, func(l *lease.Lease) { l.Finalizers = []string{"example.com/f"} }))
	_, err = leases.Delete(t.Context(), new(at), &kinds.DeleteOptions{})
	require.NoError(t, err)
	c.taken()
	require.NoError(t, update(at, func(l *lease.Lease) { l.Finalizers = nil }))
	assert.Equal(t, []string{"claim a update true dry false", "release a", "end false"}, c.taken(), "the last finalizer")
	assert.Zero(t, c.open)
}
