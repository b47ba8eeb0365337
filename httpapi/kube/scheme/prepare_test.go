package scheme

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func request(conditions ...certificatesv1.CertificateSigningRequestCondition) *certificatesv1.CertificateSigningRequest {
	return &certificatesv1.CertificateSigningRequest{Status: certificatesv1.CertificateSigningRequestStatus{Conditions: conditions}}
}

// TestTimesOfConditionsOfASigningRequest: a condition without a time keeps its time as long as its status is the same (upstream:
// registry/certificates/certificates/strategy.go, populateConditionTimestamps).
func TestTimesOfConditionsOfASigningRequest(t *testing.T) {
	old := metav1.NewTime(time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC))
	had := certificatesv1.CertificateSigningRequestCondition{Type: "x", Status: corev1.ConditionTrue, LastTransitionTime: old, LastUpdateTime: old}
	same := request(certificatesv1.CertificateSigningRequestCondition{Type: "x", Status: corev1.ConditionTrue})
	conditionTimes(same, request(had))
	assert.Equal(t, old, same.Status.Conditions[0].LastTransitionTime)
	assert.NotEqual(t, old, same.Status.Conditions[0].LastUpdateTime)
	other := request(certificatesv1.CertificateSigningRequestCondition{Type: "x", Status: corev1.ConditionFalse})
	conditionTimes(other, request(had))
	assert.NotEqual(t, old, other.Status.Conditions[0].LastTransitionTime)
	assert.False(t, other.Status.Conditions[0].LastTransitionTime.IsZero())
}

// TestAStatusKeepsTheApproval: a write of the status changes nothing in an approval (upstream: csrStatusStrategy).
func TestAStatusKeepsTheApproval(t *testing.T) {
	approved := func(reason string) certificatesv1.CertificateSigningRequestCondition {
		return certificatesv1.CertificateSigningRequestCondition{Type: certificatesv1.CertificateApproved, Status: corev1.ConditionTrue, Reason: reason}
	}
	now := request(approved("Mine"), certificatesv1.CertificateSigningRequestCondition{Type: certificatesv1.CertificateFailed, Reason: "Mine"})
	requestStatus(now, request(approved("Theirs")))
	assert.Equal(t, "Theirs", now.Status.Conditions[0].Reason)
	assert.Equal(t, "Mine", now.Status.Conditions[1].Reason)
}

// TestAnEndpointSliceLosesItsTopologyWhenItChanges: unchanged endpoints keep the member that v1 has no use for (upstream:
// registry/discovery/endpointslice/strategy.go, dropTopologyOnV1).
func TestAnEndpointSliceLosesItsTopologyWhenItChanges(t *testing.T) {
	slice := func(address string) *discoveryv1.EndpointSlice {
		return &discoveryv1.EndpointSlice{Endpoints: []discoveryv1.Endpoint{{Addresses: []string{address}, DeprecatedTopology: map[string]string{"a": "b"}}}}
	}
	same, other := slice("10.0.0.1"), slice("10.0.0.2")
	updateEndpointSlice(same, slice("10.0.0.1"))
	assert.NotEmpty(t, same.Endpoints[0].DeprecatedTopology)
	updateEndpointSlice(other, slice("10.0.0.1"))
	assert.Empty(t, other.Endpoints[0].DeprecatedTopology)
}

// TestANodePortIsKeptOnce: a port that left out its node port does not get back one that another port has now.
func TestANodePortIsKeptOnce(t *testing.T) {
	spec := func(ports ...corev1.ServicePort) *corev1.ServiceSpec {
		return &corev1.ServiceSpec{Type: corev1.ServiceTypeNodePort, Ports: ports}
	}
	now := spec(corev1.ServicePort{Name: "b", NodePort: 30001}, corev1.ServicePort{Name: "a"})
	keepNodePorts(now, spec(corev1.ServicePort{Name: "a", NodePort: 30001}))
	assert.Zero(t, now.Ports[1].NodePort)
	now = spec(corev1.ServicePort{Name: "b", NodePort: 30002}, corev1.ServicePort{Name: "a"})
	keepNodePorts(now, spec(corev1.ServicePort{Name: "a", NodePort: 30001}))
	assert.Equal(t, int32(30001), now.Ports[1].NodePort)
}
