// Package endpoints is the kind Endpoints of the core group, version v1: the
// addresses and ports behind a service. Kubernetes advises against it since
// release 1.33 in favour of EndpointSlice, and sends a warning with every
// answer; so does this module over HTTP.
//
// In gives the typed view of the Endpoints in a store:
//
//	all := endpoints.In(st)
//	e, err := all.Get("default", "web")
//	for t := range endpoints.Expand(e.Subsets) {
//		fmt.Println(t.PortName, t)
//	}
//
// A store keeps subsets exactly as they were written: it does not sort, merge
// or remove duplicates, as API servers stopped to do in 1.20. Writers who want
// one spelling for one meaning use Pack, as the endpoints controller of
// Kubernetes does with a function of the same purpose.
package endpoints

import "github.com/kubecoord/kubecoord/store/meta"

// Endpoints are the addresses and ports behind the service of the same name
// (API reference, "Endpoints v1").
type Endpoints struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata" protobuf:"1"`
	// Subsets together are all endpoints. None is fine.
	Subsets []EndpointSubset `json:"subsets,omitempty" protobuf:"2" listType:"atomic"`
}

// EndpointSubset stands for each of its addresses with each of its ports.
// Expand multiplies it out.
type EndpointSubset struct {
	// Addresses are ready to serve. This or NotReadyAddresses must have an item.
	Addresses []EndpointAddress `json:"addresses,omitempty" protobuf:"1" listType:"atomic"`
	// NotReadyAddresses offer the same ports but should not be used now: they
	// start up, shut down, or failed a check.
	NotReadyAddresses []EndpointAddress `json:"notReadyAddresses,omitempty" protobuf:"2" listType:"atomic"`
	// Ports may be empty, where only the addresses matter.
	Ports []EndpointPort `json:"ports,omitempty" protobuf:"3" listType:"atomic"`
}

// EndpointAddress is one IP address and what is behind it.
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
	// TargetRef is the object behind the address, usually a Pod. It is not
	// checked.
	TargetRef *ObjectReference `json:"targetRef,omitempty" protobuf:"2"`
}

// EndpointPort is one port that all addresses of a subset offer.
type EndpointPort struct {
	_ struct{} `structType:"atomic"`

	// Name is a DNS label. It may be left out only where there is one port.
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

// ObjectReference points to any object, or to a part of one. All fields are
// optional, and none is checked.
type ObjectReference struct {
	_ struct{} `structType:"atomic"`

	// Kind is the kind in CamelCase, such as "Pod".
	Kind string `json:"kind,omitempty" protobuf:"1"`
	// Namespace the object lives in.
	Namespace string `json:"namespace,omitempty" protobuf:"2"`
	// Name of the object.
	Name string `json:"name,omitempty" protobuf:"3"`
	// UID tells the object from others that had its name.
	UID meta.UID `json:"uid,omitempty" protobuf:"4"`
	// APIVersion is "group/version", or just "version" for the core group.
	APIVersion string `json:"apiVersion,omitempty" protobuf:"5"`
	// ResourceVersion is the state of the object that is meant.
	ResourceVersion string `json:"resourceVersion,omitempty" protobuf:"6"`
	// FieldPath is the part of the object that is meant, such as
	// "spec.containers{web}".
	FieldPath string `json:"fieldPath,omitempty" protobuf:"7"`
}

// EndpointsList is a list of Endpoints as it is on the wire.
type EndpointsList struct {
	meta.TypeMeta `json:",inline"`
	meta.ListMeta `json:"metadata" protobuf:"1"`
	// Items are in the order of namespace and name.
	Items []Endpoints `json:"items" protobuf:"2"`
}
