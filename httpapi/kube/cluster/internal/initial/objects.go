package initial

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"net/netip"
	"os"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/apis/flowcontrol/bootstrap"

	"github.com/kubecoord/kubecoord/endpoints"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// priorityClasses returns the classes of the system (upstream: apis/scheduling/v1, SystemPriorityClasses).
func priorityClasses() []object {
	class := func(name string, value int32, description string) object {
		return object{group: schedulingv1.GroupName, plural: "priorityclasses", manager: serverManager, shared: true, name: name, value: func() any {
			return &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value, Description: description, PreemptionPolicy: new(corev1.PreemptLowerPriority)}
		}}
	}
	return []object{
		class("system-node-critical", 2000001000, "Used for system critical pods that must not be moved from their current node."),
		class("system-cluster-critical", 2000000000, "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary."),
	}
}

// The field managers of the two controllers of priority and fairness (upstream: registry/flowcontrol/rest, and apiserver,
// util/flowcontrol).
const (
	flowProducer = "api-priority-and-fairness-config-producer-v1"
	flowConsumer = "api-priority-and-fairness-config-consumer-v1"
)

// flowControl returns the mandatory and the suggested configuration of priority and fairness. It has no effect on requests here.
func flowControl() (all []object) {
	updated := func() map[string]string { return map[string]string{flowcontrolv1.AutoUpdateAnnotationKey: "true"} }
	for _, of := range slices.Concat(bootstrap.SuggestedPriorityLevelConfigurations, bootstrap.MandatoryPriorityLevelConfigurations) {
		all = append(all, object{group: flowcontrolv1.GroupName, plural: "prioritylevelconfigurations", manager: flowProducer, shared: true, name: of.Name, value: func() any {
			own := of.DeepCopy()
			own.Annotations = updated()
			return own
		}})
	}
	for _, of := range slices.Concat(bootstrap.SuggestedFlowSchemas, bootstrap.MandatoryFlowSchemas) {
		all = append(all, object{group: flowcontrolv1.GroupName, plural: "flowschemas", manager: flowProducer, shared: true, name: of.Name, value: func() any {
			own := of.DeepCopy()
			own.Annotations = updated()
			return own
		}, change: found})
	}
	return all
}

// found says in the status of a FlowSchema that its level exists, as the controller applies it.
func found(o meta.Object) {
	s, m := kind.ValueOf[flowcontrolv1.FlowSchema](o), o.GetObjectMeta()
	s.Status.Conditions = []flowcontrolv1.FlowSchemaCondition{{
		Type: flowcontrolv1.FlowSchemaConditionDangling, Status: flowcontrolv1.ConditionFalse, LastTransitionTime: metav1.NewTime(m.CreationTimestamp.Time),
		Reason: "Found", Message: `This FlowSchema references the PriorityLevelConfiguration object named "` + s.Spec.PriorityLevelConfiguration.Name + `" and it exists`,
	}}
	m.ManagedFields = append([]meta.ManagedFieldsEntry{{
		Manager: flowConsumer, Operation: meta.ManagedFieldsOperationApply, APIVersion: flowcontrolv1.SchemeGroupVersion.String(), FieldsType: "FieldsV1", Subresource: "status",
		FieldsV1: &meta.FieldsV1{Raw: []byte(`{"f:status":{"f:conditions":{"k:{\"type\":\"Dangling\"}":{".":{},"f:lastTransitionTime":{},"f:message":{},"f:reason":{},"f:status":{},"f:type":{}}}}}`)},
	}}, m.ManagedFields...)
}

// leaseSeconds is how long the Lease of a server is valid.
const leaseSeconds = 3600

// identityLease returns the Lease that says that there is a server (upstream: controlplane/apiserver, and apiserver, server/config.go,
// APIServerID).
func identityLease(address string, now time.Time) object {
	host, _ := os.Hostname()
	var name []byte
	for _, part := range []string{host, serverManager} {
		name = append(binary.BigEndian.AppendUint16(name, uint16(len(part))), part...)
	}
	sum := sha256.Sum256(name)
	id := "apiserver-" + strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:16]))
	return object{
		group: "coordination.k8s.io", plural: "leases", manager: serverManager,
		value: func() any {
			return &lease.Lease{
				ObjectMeta: meta.ObjectMeta{
					Name: id, Namespace: metav1.NamespaceSystem,
					Labels:      map[string]string{"apiserver.kubernetes.io/identity": serverManager, corev1.LabelHostname: host},
					Annotations: map[string]string{"kubernetes.io/peer-advertise-address": address},
				},
				Spec: lease.LeaseSpec{HolderIdentity: new(id), LeaseDurationSeconds: new(int32(leaseSeconds)), RenewTime: new(meta.NewMicroTime(now))},
			}
		},
		change: func(o meta.Object) {
			l := o.(*lease.Lease)
			l.Spec.HolderIdentity = new(id + "_" + string(l.UID))
		},
	}
}

// tokenTracking returns the ConfigMap that says since when the use of old tokens is noted (upstream:
// controlplane/controller/legacytokentracking).
func tokenTracking(now time.Time) object {
	return object{plural: "configmaps", manager: serverManager, value: func() any {
		return &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: "kube-apiserver-legacy-service-account-token-tracking"},
			Data:       map[string]string{"since": now.UTC().Format(time.DateOnly)},
		}
	}}
}

// clientCA returns the ConfigMap by which other API servers find users of requests (upstream:
// controlplane/controller/clusterauthenticationtrust).
func clientCA(pem []byte) object {
	return object{plural: "configmaps", manager: serverManager, value: func() any {
		return &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: "extension-apiserver-authentication"},
			Data:       map[string]string{"client-ca-file": string(pem)},
		}
	}}
}

// serviceName is the name of the service of the API server.
const serviceName = "kubernetes"

// endpointsOf returns the Endpoints of the service (upstream: controlplane/reconcilers).
func endpointsOf(at netip.Addr, port int) object {
	return object{plural: "endpoints", manager: serverManager, value: func() any {
		return &endpoints.Endpoints{
			ObjectMeta: meta.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: serviceName, Labels: map[string]string{discoveryv1.LabelSkipMirror: "true"}},
			Subsets: []endpoints.EndpointSubset{{
				Addresses: []endpoints.EndpointAddress{{IP: at.String()}},
				Ports:     []endpoints.EndpointPort{{Name: "https", Port: int32(port), Protocol: endpoints.ProtocolTCP}},
			}},
		}
	}}
}

// sliceOf returns its EndpointSlice.
func sliceOf(at netip.Addr, port int) object {
	family := discoveryv1.AddressTypeIPv4
	if at.Is6() {
		family = discoveryv1.AddressTypeIPv6
	}
	return object{group: discoveryv1.GroupName, plural: "endpointslices", manager: serverManager, value: func() any {
		return &discoveryv1.EndpointSlice{
			ObjectMeta:  metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: serviceName, Labels: map[string]string{discoveryv1.LabelServiceName: serviceName}},
			AddressType: family,
			Endpoints:   []discoveryv1.Endpoint{{Addresses: []string{at.String()}, Conditions: discoveryv1.EndpointConditions{Ready: new(true)}}},
			Ports:       []discoveryv1.EndpointPort{{Name: new("https"), Protocol: new(corev1.ProtocolTCP), Port: new(int32(port))}},
		}
	}}
}
