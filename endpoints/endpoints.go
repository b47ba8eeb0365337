// Package endpoints is the kind Endpoints of the core group, version v1: the
// addresses and ports behind a service. Kubernetes has deprecated it since release
// 1.33 in favour of EndpointSlice, and sends a warning with every answer. So does this
// module over HTTP.
//
// In returns the Endpoints of a store:
//
//	all := endpoints.In(st)
//	e, err := all.Get(ctx, "default", "web")
//
// A store keeps subsets as they were written. Like API servers since 1.20 it does not
// sort or merge them, nor remove duplicates.
package endpoints

import "github.com/kubecoord/kubecoord/store/meta"

// Endpoints are the addresses and ports behind the service of the same name
// (API reference, "Endpoints v1").
type Endpoints struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata" protobuf:"1"`
	// Subsets are kept as written.
	Subsets []EndpointSubset `json:"subsets,omitempty" protobuf:"2" listType:"atomic"`
}

// EndpointSubset means each of its addresses with each of its ports.
type EndpointSubset struct {
	// Addresses are ready to serve. Addresses or NotReadyAddresses must have an item.
	Addresses []EndpointAddress `json:"addresses,omitempty" protobuf:"1" listType:"atomic"`
	// NotReadyAddresses have the same ports but should not be used now, because they
	// start, stop, or failed a check.
	NotReadyAddresses []EndpointAddress `json:"notReadyAddresses,omitempty" protobuf:"2" listType:"atomic"`
	// Ports may be empty if only the addresses matter.
	Ports []EndpointPort `json:"ports,omitempty" protobuf:"3" listType:"atomic"`
}

// EndpointAddress is one IP address with its host, node and object.
type EndpointAddress struct {
	_ struct{} `structType:"atomic"`

	// IP is an IPv4 or IPv6 address without leading zeros. It must not be
	// unspecified, loopback, link-local, or link-local multicast. Required.
	IP string `json:"ip" protobuf:"1"`
	// Hostname is a DNS label, or "".
	Hostname string `json:"hostname,omitempty" protobuf:"3"`
	// NodeName is the node that the endpoint runs on, if known: a DNS
	// subdomain.
	NodeName *string `json:"nodeName,omitempty" protobuf:"4"`
	// TargetRef is the object at the address, usually a Pod. It is not validated.
	TargetRef *ObjectReference `json:"targetRef,omitempty" protobuf:"2"`
}

// EndpointPort is one port of all addresses of a subset.
type EndpointPort struct {
	_ struct{} `structType:"atomic"`

	// Name is a DNS label. It may be empty only if there is one port.
	Name string `json:"name,omitempty" protobuf:"1"`
	// Port is the number, 1 to 65535. Required.
	Port int32 `json:"port" protobuf:"2"`
	// Protocol is TCP, UDP or SCTP. Default: TCP.
	Protocol Protocol `json:"protocol,omitempty" protobuf:"3"`
	// AppProtocol names the application's protocol, such as "https" or
	// "kubernetes.io/h2c", if known: a qualified name.
	AppProtocol *string `json:"appProtocol,omitempty" protobuf:"4"`
}

// Protocol is the transport protocol of a port.
type Protocol string

// The protocols that a port may have.
const (
	ProtocolTCP  Protocol = "TCP"
	ProtocolUDP  Protocol = "UDP"
	ProtocolSCTP Protocol = "SCTP"
)

// ObjectReference refers to an object, or to a part of one. All fields are optional,
// and none is validated.
type ObjectReference struct {
	_ struct{} `structType:"atomic"`

	// Kind is the kind in CamelCase, such as "Pod".
	Kind string `json:"kind,omitempty" protobuf:"1"`
	// Namespace is the namespace of the object.
	Namespace string `json:"namespace,omitempty" protobuf:"2"`
	// Name is the name of the object.
	Name string `json:"name,omitempty" protobuf:"3"`
	// UID distinguishes the object from earlier ones of the same name.
	UID meta.UID `json:"uid,omitempty" protobuf:"4"`
	// APIVersion is "group/version", or just "version" for the core group.
	APIVersion string `json:"apiVersion,omitempty" protobuf:"5"`
	// ResourceVersion is a state of the object.
	ResourceVersion string `json:"resourceVersion,omitempty" protobuf:"6"`
	// FieldPath is a part of the object, such as
	// "spec.containers{web}".
	FieldPath string `json:"fieldPath,omitempty" protobuf:"7"`
}
