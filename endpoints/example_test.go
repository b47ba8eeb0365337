package endpoints_test

import (
	"context"
	"fmt"

	"github.com/kubecoord/kubecoord/endpoints"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

func Example() {
	all := endpoints.In(store.New(store.Options{}))

	_, err := all.Create(context.Background(), &endpoints.Endpoints{
		ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "web"},
		Subsets: []endpoints.EndpointSubset{{
			Addresses: []endpoints.EndpointAddress{{IP: "10.0.0.1"}},
			Ports:     []endpoints.EndpointPort{{Name: "http", Port: 8080}},
		}},
	}, store.CreateOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}

	e, err := all.Modify(context.Background(), "default", "web", func(e *endpoints.Endpoints) error {
		s := &e.Subsets[0]
		s.NotReadyAddresses = append(s.NotReadyAddresses, endpoints.EndpointAddress{IP: "2001:db8::2"})
		return nil
	}, store.UpdateOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for t := range endpoints.Expand(e.Subsets) {
		fmt.Println(t.PortName, t.Protocol, t, t.Ready)
	}

	// Output:
	// http TCP 10.0.0.1:8080 true
	// http TCP [2001:db8::2]:8080 false
}

func ExampleExpand() {
	subsets := []endpoints.EndpointSubset{{
		Addresses: []endpoints.EndpointAddress{
			{IP: "10.0.0.1", NodeName: new("node-a")},
			{IP: "10.0.0.2", NodeName: new("node-b")},
		},
		Ports: []endpoints.EndpointPort{{Name: "http", Port: 80}, {Name: "metrics", Port: 9090}},
	}}
	for t := range endpoints.Expand(subsets) {
		if t.Ready && t.PortName == "http" {
			fmt.Println(t, "on", *t.Source.NodeName)
		}
	}

	// Output:
	// 10.0.0.1:80 on node-a
	// 10.0.0.2:80 on node-b
}

// A resolver keeps the endpoints of one protocol that are Pods.
func ExampleEndpoint() {
	pod := &endpoints.ObjectReference{Kind: "Pod", Namespace: "default", Name: "dns-0"}
	subsets := []endpoints.EndpointSubset{{
		Addresses: []endpoints.EndpointAddress{{IP: "10.0.0.1", TargetRef: pod}},
		Ports: []endpoints.EndpointPort{
			{Name: "dns", Port: 53, Protocol: endpoints.ProtocolUDP}, {Name: "dns-tcp", Port: 53, Protocol: endpoints.ProtocolTCP},
			{Name: "calls", Port: 5060, Protocol: endpoints.ProtocolSCTP},
		},
	}}
	byProtocol := map[endpoints.Protocol]endpoints.Endpoint{}
	for t := range endpoints.Expand(subsets) {
		byProtocol[t.Protocol] = t
	}
	udp := byProtocol[endpoints.ProtocolUDP]
	fmt.Println(udp, udp.PortName, udp.Source.TargetRef.Name)
	// Output: 10.0.0.1:53 dns dns-0
}
