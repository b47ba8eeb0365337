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
			Addresses: []endpoints.EndpointAddress{{IP: "10.0.0.1", TargetRef: &endpoints.ObjectReference{Kind: "Pod", Name: "web-0"}}},
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
	for _, s := range e.Subsets {
		fmt.Println(s.Ports[0].Protocol, s.Addresses[0].IP, s.Addresses[0].TargetRef.Name, s.NotReadyAddresses[0].IP)
	}

	// Output:
	// TCP 10.0.0.1 web-0 2001:db8::2
}

// A port may have another protocol than TCP, which is the default.
func ExampleProtocol() {
	ports := []endpoints.EndpointPort{
		{Name: "dns", Port: 53, Protocol: endpoints.ProtocolUDP}, {Name: "dns-tcp", Port: 53, Protocol: endpoints.ProtocolTCP},
		{Name: "calls", Port: 5060, Protocol: endpoints.ProtocolSCTP},
	}
	for _, p := range ports {
		fmt.Println(p.Name, p.Protocol)
	}

	// Output:
	// dns UDP
	// dns-tcp TCP
	// calls SCTP
}
