package controllerruntime

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
