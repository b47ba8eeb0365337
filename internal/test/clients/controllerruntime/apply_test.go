package controllerruntime

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	coordinationv1ac "k8s.io/client-go/applyconfigurations/coordination/v1"
	coordinationv1alpha2ac "k8s.io/client-go/applyconfigurations/coordination/v1alpha2"
	coordinationv1beta1ac "k8s.io/client-go/applyconfigurations/coordination/v1beta1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecoord/kubecoord/internal/test/clients/internal/testapi"
	"github.com/kubecoord/kubecoord/store"
)

const (
	planner  = client.FieldOwner("planner")
	operator = client.FieldOwner("operator")
)

func TestApplyCreatesAndChangesALease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClient(t, testapi.New(t, store.Options{}))
		get := func() *coordinationv1.Lease {
			l := &coordinationv1.Lease{}
			require.NoError(t, c.Get(t.Context(), key("a"), l))
			return l
		}
		plan := func(holder string) *coordinationv1ac.LeaseApplyConfiguration {
			return coordinationv1ac.Lease("a", testapi.Namespace).WithLabels(map[string]string{"app": "x"}).
				WithSpec(coordinationv1ac.LeaseSpec().WithHolderIdentity(holder).WithLeaseDurationSeconds(15))
		}
		applied := plan("one")
		require.NoError(t, c.Apply(t.Context(), applied, planner))
		l := get()
		assert.Equal(t, "one", *l.Spec.HolderIdentity)
		assert.Equal(t, l.UID, *applied.UID, "the configuration is updated to the stored object")
		assert.Equal(t, []string{"planner Apply"}, owners(l))

		require.NoError(t, c.Apply(t.Context(), plan("one"), planner))
		assert.Equal(t, l, get(), "a repeated apply changes nothing")

		err := c.Apply(t.Context(), plan("two"), operator)
		require.True(t, apierrors.IsConflict(err), "%v", err)
		assert.ErrorContains(t, err, `conflict with "planner": .spec.holderIdentity`)
		require.NoError(t, c.Apply(t.Context(), plan("two"), operator, client.ForceOwnership, client.DryRunAll))
		assert.Equal(t, l, get())
		require.NoError(t, c.Apply(t.Context(), plan("two"), operator, client.ForceOwnership))
		assert.Equal(t, "two", *get().Spec.HolderIdentity)
		assert.ElementsMatch(t, []string{"planner Apply", "operator Apply"}, owners(get()))

		nothing := coordinationv1ac.Lease("a", testapi.Namespace)
		require.NoError(t, c.Apply(t.Context(), nothing, planner))
		l = get()
		assert.Equal(t, "x", l.Labels["app"], "the operator still applies it")
		require.NoError(t, c.Apply(t.Context(), coordinationv1ac.Lease("a", testapi.Namespace).
			WithSpec(coordinationv1ac.LeaseSpec().WithHolderIdentity("two")), operator))
		l = get()
		assert.Empty(t, l.Labels)
		assert.Nil(t, l.Spec.LeaseDurationSeconds)
		assert.Equal(t, "two", *l.Spec.HolderIdentity)
	})
}

func TestApplyAcceptsEachConfigurationType(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClient(t, testapi.New(t, store.Options{}))
		for name, of := range map[string]func(value string) runtime.ApplyConfiguration{
			"lease": func(v string) runtime.ApplyConfiguration {
				return coordinationv1ac.Lease("lease", testapi.Namespace).WithSpec(coordinationv1ac.LeaseSpec().WithHolderIdentity(v))
			},
			"candidate v1beta1": func(v string) runtime.ApplyConfiguration {
				return coordinationv1beta1ac.LeaseCandidate("beta", testapi.Namespace).WithSpec(coordinationv1beta1ac.LeaseCandidateSpec().
					WithLeaseName("leader").WithBinaryVersion("1.37." + v).WithStrategy("OldestEmulationVersion").WithEmulationVersion("1.37.0"))
			},
			"candidate v1alpha2": func(v string) runtime.ApplyConfiguration {
				return coordinationv1alpha2ac.LeaseCandidate("alpha", testapi.Namespace).WithSpec(coordinationv1alpha2ac.LeaseCandidateSpec().
					WithLeaseName("leader").WithBinaryVersion("1.37." + v).WithStrategy("OldestEmulationVersion").WithEmulationVersion("1.37.0"))
			},
			"endpoints": func(v string) runtime.ApplyConfiguration {
				// Subsets are one field, compared before defaulting: a manager
				// that omits the protocol conflicts.
				return corev1ac.Endpoints("endpoints", testapi.Namespace).WithSubsets(corev1ac.EndpointSubset().
					WithAddresses(corev1ac.EndpointAddress().WithIP("10.0.0.1").WithHostname(v)).
					WithPorts(corev1ac.EndpointPort().WithPort(80).WithProtocol(corev1.ProtocolTCP)))
			},
		} {
			require.NoError(t, c.Apply(t.Context(), of("1"), planner), name)
			require.NoError(t, c.Apply(t.Context(), of("1"), operator), "%s: to agree is no conflict", name)
			err := c.Apply(t.Context(), of("2"), operator)
			assert.True(t, apierrors.IsConflict(err), "%s: %v", name, err)
			assert.ErrorContains(t, err, `conflict with "planner"`, name)
			require.NoError(t, c.Apply(t.Context(), of("2"), operator, client.ForceOwnership), name)
			require.NoError(t, c.Apply(t.Context(), of("2"), planner), name)
		}
		e := &corev1.Endpoints{}
		require.NoError(t, c.Get(t.Context(), key("endpoints"), e))
		assert.Equal(t, []corev1.EndpointSubset{{
			Addresses: []corev1.EndpointAddress{{IP: "10.0.0.1", Hostname: "2"}},
			Ports:     []corev1.EndpointPort{{Port: 80, Protocol: corev1.ProtocolTCP}},
		}}, e.Subsets)
	})
}

// Before client.Apply took configurations, an object was applied as a patch.
func TestObjectsAreAppliedAsPatches(t *testing.T) {
	eachForm(t, func(t *testing.T, f *fixture) {
		apply := func(labels map[string]string, opts ...client.PatchOption) error {
			o := f.fresh(t, "a")
			o.SetLabels(labels)
			return f.Patch(t.Context(), o, client.Apply, opts...)
		}
		if f.form == metadataOnly {
			f.given(t, "a")
		}
		require.NoError(t, apply(map[string]string{"one": "1"}, planner))
		err := apply(map[string]string{"one": "2"}, operator)
		require.True(t, apierrors.IsConflict(err), "%v", err)
		require.NoError(t, apply(map[string]string{"one": "2"}, operator, client.ForceOwnership, client.DryRunAll))
		assert.Equal(t, map[string]string{"one": "1"}, f.get(t, "a").GetLabels())
		require.NoError(t, apply(map[string]string{"one": "2"}, operator, client.ForceOwnership))
		assert.Equal(t, map[string]string{"one": "2"}, f.get(t, "a").GetLabels())
		require.NoError(t, apply(nil, operator))
		assert.Empty(t, f.get(t, "a").GetLabels())
	})
}
