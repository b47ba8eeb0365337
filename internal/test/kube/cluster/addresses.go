package cluster

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
)

const (
	services    = "/api/v1/namespaces/NAMESPACE/services"
	ipAddresses = "/apis/networking.k8s.io/v1/ipaddresses"
	ranges      = "/apis/networking.k8s.io/v1/servicecidrs"
)

// service returns the body of a service. Without ports it has port 80.
func service(name, spec string) string {
	if !strings.Contains(spec, "ports:") && !strings.Contains(spec, "externalName:") {
		spec += ", ports: [{port: 80}]"
	}
	return "{apiVersion: v1, kind: Service, metadata: {name: " + name + "}, spec: {" + strings.TrimPrefix(spec, ", ") + "}}"
}

// serve plays the create of a service, and plays it as a dry run before.
func (p *play) serve(step, name, spec string) {
	p.do(step+", dry run", http.MethodPost, services+"?dryRun=All", service(name, spec))
	p.do(step, http.MethodPost, services, service(name, spec))
}

// gone deletes services.
func (p *play) gone(names ...string) {
	for _, name := range names {
		p.do("delete "+name, http.MethodDelete, services+"/"+name, "")
	}
}

// addressesGiven plays cluster IPs: which services get one, and which ones they may name.
func addressesGiven(p *play) {
	p.do("the range of the server", http.MethodGet, ranges+"/kubernetes", "")
	p.do("the address of the server", http.MethodGet, ipAddresses+"/10.0.0.1", "")

	p.serve("cluster IP", "a", "")
	p.do("get", http.MethodGet, services+"/a", "")
	p.do("again", http.MethodPost, services, service("a", "clusterIP: 10.0.0.2"))
	p.do("the address of again", http.MethodGet, ipAddresses+"/10.0.0.2", "")
	p.do("update without the IP", http.MethodPut, services+"/a", service("a", "ports: [{port: 81}]"))
	p.patch("no IP", services+"/a", merge, `{"spec":{"clusterIP":null}}`)
	p.patch("no IPs", services+"/a", merge, `{"spec":{"clusterIPs":null}}`)
	p.patch("neither", services+"/a", merge, `{"spec":{"clusterIP":null,"clusterIPs":null}}`)
	p.patch("another IP", services+"/a", merge, `{"spec":{"clusterIP":"10.0.0.3"}}`)
	p.patch("other IPs", services+"/a", merge, `{"spec":{"clusterIPs":["10.0.0.3"]}}`)
	p.patch("both", services+"/a", merge, `{"spec":{"clusterIP":"10.0.0.3","clusterIPs":["10.0.0.3"]}}`)
	p.patch("headless", services+"/a", merge, `{"spec":{"clusterIP":"None","clusterIPs":["None"]}}`)
	p.patch("a label", services+"/a", merge, `{"metadata":{"labels":{"x":"red"}}}`)
	p.patch("apply", services+"/a?fieldManager=m&force=true", apply, service("a", "ports: [{port: 81, protocol: TCP}]"))
	p.patch("apply a new one", services+"/b?fieldManager=m", apply, service("b", "ports: [{port: 82, protocol: TCP}]"))
	p.patch("apply it again", services+"/b?fieldManager=m", apply, service("b", "ports: [{port: 82, protocol: TCP}]"))
	p.patch("apply it with an IP", services+"/b?fieldManager=m", apply, service("b", "clusterIP: 10.0.0.4, ports: [{port: 82, protocol: TCP}]"))
	p.do("create by an update", http.MethodPut, services+"/c", service("c", "clusterIP: 10.0.0.5"))
	p.do("a generated name", http.MethodPost, services, "{apiVersion: v1, kind: Service, metadata: {generateName: NAMESPACE-gen-}, spec: {ports: [{port: 80}]}}")
	p.serve("headless", "d", "clusterIP: None, selector: {a: b}")
	p.serve("headless without a selector", "e", "clusterIP: None")
	p.serve("headless for one family", "f", "clusterIP: None, ipFamilies: [IPv6]")
	p.serve("headless for one stack", "g", "clusterIP: None, ipFamilyPolicy: SingleStack")
	p.serve("external", "h", "type: ExternalName, externalName: a.example.com")
	p.serve("external with an IP", "i", "type: ExternalName, externalName: a.example.com, clusterIP: 10.0.0.6")

	p.serve("named", "w", "clusterIP: 10.0.0.7")
	p.do("its address", http.MethodGet, ipAddresses+"/10.0.0.7", "")
	for _, ip := range []string{"10.0.0.7", "10.0.0.1", "10.0.0.0", "10.0.0.255", "10.0.1.1", "192.168.7.7", "10.0.0.300", "010.0.0.8", "fd00::1", "a", "::ffff:10.0.0.8"} {
		p.serve("the IP "+ip, "x", fmt.Sprintf("clusterIP: %q", ip))
	}
	p.serve("two IPs", "x", `clusterIP: 10.0.0.8, clusterIPs: [10.0.0.8, 10.0.0.9]`)
	p.serve("two IPs of two families", "x", `clusterIP: 10.0.0.8, clusterIPs: [10.0.0.8, "fd00::9"]`)
	p.serve("three IPs", "x", `clusterIP: 10.0.0.8, clusterIPs: [10.0.0.8, "fd00::9", 10.0.0.9]`)
	p.serve("IPs that differ", "x", `clusterIP: 10.0.0.8, clusterIPs: [10.0.0.9]`)
	p.serve("IPs alone", "x", `clusterIPs: [10.0.0.9]`)
	p.serve("None and an IP", "x", `clusterIP: None, clusterIPs: [None, 10.0.0.9]`)
	for _, families := range []string{"[IPv4]", "[IPv6]", "[IPv4, IPv6]", "[IPv6, IPv4]", "[IPv4, IPv4]", "[IPv5]", "[]"} {
		for _, policy := range []string{"", "SingleStack", "PreferDualStack", "RequireDualStack"} {
			spec := "ipFamilies: " + families
			if policy != "" {
				spec += ", ipFamilyPolicy: " + policy
			}
			p.do(strings.TrimSpace("families "+families+" "+policy), http.MethodPost, services+"?dryRun=All", service("x", spec))
		}
	}
	p.serve("an unknown policy", "x", "ipFamilyPolicy: Some")
	p.serve("a dual stack", "x", "ipFamilyPolicy: RequireDualStack")
	p.serve("a dual stack if there is one", "j", "ipFamilyPolicy: PreferDualStack")
	p.patch("a dual stack at last", services+"/j", merge, `{"spec":{"ipFamilyPolicy":"RequireDualStack"}}`)
	p.patch("a single stack", services+"/j", merge, `{"spec":{"ipFamilyPolicy":"SingleStack"}}`)
	p.patch("another family", services+"/j", merge, `{"spec":{"ipFamilies":["IPv6"]}}`)
	p.patch("two families", services+"/j", merge, `{"spec":{"ipFamilies":["IPv4","IPv6"]}}`)

	p.do("what is not valid", http.MethodPost, services, service("x", "clusterIP: 10.0.0.10, ports: [{port: 0}]"))
	p.do("its address", http.MethodGet, ipAddresses+"/10.0.0.10", "")
	p.patch("to external", services+"/w", merge, `{"spec":{"type":"ExternalName","externalName":"a.example.com"}}`)
	p.do("the address of external", http.MethodGet, ipAddresses+"/10.0.0.7", "")
	p.patch("from external", services+"/w", merge, `{"spec":{"type":"ClusterIP","externalName":null,"clusterIP":"10.0.0.11"}}`)
	p.do("the address from external", http.MethodGet, ipAddresses+"/10.0.0.11", "")
	p.patch("from external to any", services+"/h", merge, `{"spec":{"type":"ClusterIP","externalName":null,"ports":[{"port":80}]}}`)
	p.patch("from headless to external", services+"/d", merge, `{"spec":{"type":"ExternalName","externalName":"a.example.com"}}`)

	p.patch("a finalizer", services+"/w", merge, `{"metadata":{"finalizers":["example.com/keep"]}}`)
	p.do("its Endpoints", http.MethodPost, "/api/v1/namespaces/NAMESPACE/endpoints", "{apiVersion: v1, kind: Endpoints, metadata: {name: w}}")
	p.do("delete, dry run", http.MethodDelete, services+"/w?dryRun=All", "")
	p.do("delete", http.MethodDelete, services+"/w", "")
	p.do("the address of a deleted one", http.MethodGet, ipAddresses+"/10.0.0.11", "")
	p.patch("no finalizer", services+"/w/status", merge, `{"metadata":{"finalizers":null}}`)
	p.do("the address of one that is gone", http.MethodGet, ipAddresses+"/10.0.0.11", "")
	p.do("the Endpoints of one that is gone", http.MethodGet, "/api/v1/namespaces/NAMESPACE/endpoints/w", "")
	p.do("the address is free", http.MethodPost, services, service("w", "clusterIP: 10.0.0.11"))
	p.gone("a", "b", "c", "d", "e", "f", "g", "h", "j", "w")
	p.do("delete all", http.MethodDelete, services+"?labelSelector=%21none", "")
}

// portsGiven plays node ports and ports for health checks.
func portsGiven(p *play) {
	const udp = "ports: [{name: a, port: 80}, {name: b, port: 80, protocol: UDP}, {name: c, port: 81}]"
	p.serve("node port", "a", "type: NodePort")
	p.serve("node ports", "b", "type: NodePort, "+udp)
	p.serve("load balancer", "c", "type: LoadBalancer, "+udp)
	p.serve("local", "d", "type: LoadBalancer, externalTrafficPolicy: Local")
	p.serve("without node ports", "e", "type: LoadBalancer, allocateLoadBalancerNodePorts: false")
	p.serve("without node ports but one", "f", "type: LoadBalancer, allocateLoadBalancerNodePorts: false, ports: [{name: a, port: 80}, {name: b, port: 81, nodePort: 30011}]")
	p.serve("named", "g", "type: NodePort, ports: [{port: 80, nodePort: 30012}]")
	p.serve("named for two protocols", "h", "type: NodePort, ports: [{name: a, port: 80, nodePort: 30013}, {name: b, port: 80, protocol: UDP, nodePort: 30013}]")
	p.serve("named for one of two protocols", "i", "type: NodePort, ports: [{name: a, port: 80}, {name: b, port: 80, protocol: UDP, nodePort: 30014}]")
	p.serve("two for two protocols", "j", "type: NodePort, ports: [{name: a, port: 80, nodePort: 30015}, {name: b, port: 80, protocol: UDP, nodePort: 30016}]")
	p.serve("named for health checks", "k", "type: LoadBalancer, externalTrafficPolicy: Local, healthCheckNodePort: 30017, ports: [{port: 80, nodePort: 30018}]")
	for _, port := range []string{"30012", "30017", "80", "29999", "32768", "70000", "-1"} {
		p.serve("the port "+port, "x", "type: NodePort, ports: [{name: a, port: 80, nodePort: 30019}, {name: b, port: 81, nodePort: "+port+"}]")
		p.serve("health checks at "+port, "x", "type: LoadBalancer, externalTrafficPolicy: Local, healthCheckNodePort: "+port+", ports: [{port: 80, nodePort: 30020}]")
	}
	p.serve("one port twice", "x", "type: NodePort, ports: [{name: a, port: 80, nodePort: 30019}, {name: b, port: 81, nodePort: 30019}]")
	p.serve("one port twice, of two protocols", "x", "type: NodePort, ports: [{name: a, port: 80, nodePort: 30019}, {name: b, port: 81, protocol: UDP, nodePort: 30019}]")
	p.serve("one port and health checks", "x", "type: LoadBalancer, externalTrafficPolicy: Local, healthCheckNodePort: 30019, ports: [{port: 80, nodePort: 30019}]")
	p.serve("a node port of a cluster IP", "x", "ports: [{port: 80, nodePort: 30019}]")
	p.serve("what is not valid", "x", "type: NodePort, ports: [{port: 0, nodePort: 30019}]")
	p.serve("all of these are free", "l", "type: LoadBalancer, externalTrafficPolicy: Local, healthCheckNodePort: 30020, ports: [{port: 80, nodePort: 30019}]")

	put := func(step, name, spec string) {
		p.do(step+", dry run", http.MethodPut, services+"/"+name+"?dryRun=All", service(name, spec))
		p.do(step, http.MethodPut, services+"/"+name, service(name, spec))
	}
	put("update without the port", "g", "type: NodePort")
	put("update to another port", "g", "type: NodePort, ports: [{port: 80, nodePort: 30021}]")
	p.serve("the port before is free", "m", "type: NodePort, ports: [{port: 80, nodePort: 30012}]")
	put("update to a port that is taken", "g", "type: NodePort, ports: [{port: 80, nodePort: 30012}]")
	put("update to a port out of range", "g", "type: NodePort, ports: [{port: 80, nodePort: 80}]")
	put("one more port", "g", "type: NodePort, ports: [{name: a, port: 80}, {name: b, port: 81}]")
	put("ports in another order", "g", "type: NodePort, ports: [{name: b, port: 81}, {name: a, port: 80, nodePort: 30021}]")
	put("the same port twice", "g", "type: NodePort, ports: [{name: b, port: 81, nodePort: 30022}, {name: a, port: 80, nodePort: 30022}]")
	put("what is not valid in an update", "g", "type: NodePort, ports: [{port: 0, nodePort: 30023}]")
	put("to a cluster IP", "g", "")
	put("to a cluster IP with its port", "m", "ports: [{port: 80, nodePort: 30012}]")
	put("to a load balancer", "g", "type: LoadBalancer, externalTrafficPolicy: Local")
	put("to a node port", "g", "type: NodePort")
	put("to external", "g", "type: ExternalName, externalName: a.example.com")
	put("from external", "g", "type: NodePort, ports: [{port: 80, nodePort: 30021}]")
	put("to local", "c", "type: LoadBalancer, externalTrafficPolicy: Local, "+udp)
	put("to local at a port", "e", "type: LoadBalancer, externalTrafficPolicy: Local, healthCheckNodePort: 30024, allocateLoadBalancerNodePorts: false")
	put("other health checks", "e", "type: LoadBalancer, externalTrafficPolicy: Local, healthCheckNodePort: 30025, allocateLoadBalancerNodePorts: false")
	put("health checks at a port that is taken", "f", "type: LoadBalancer, externalTrafficPolicy: Local, healthCheckNodePort: 30024, allocateLoadBalancerNodePorts: false")
	put("not local", "e", "type: LoadBalancer, externalTrafficPolicy: Cluster")
	put("node ports at last", "f", "type: LoadBalancer, allocateLoadBalancerNodePorts: true, ports: [{name: a, port: 80}, {name: b, port: 81}]")
	p.do("delete", http.MethodDelete, services+"/h", "")
	p.serve("the port of the deleted one is free", "h", "type: NodePort, ports: [{port: 80, nodePort: 30013}]")
	p.gone("a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m")
}

// dualStackRanges are the ranges of cluster IPs of a server with both families. The last part of the second is given to no service that does
// not name it.
const dualStackRanges = "10.0.0.0/24,fd00:77::/112"

// dualStack plays services of two families.
func dualStack(p *play) {
	p.Norm.Replace(regexp.MustCompile(`\bfd00:77::[1-9a-f][0-9a-f]{2,3}\b`), "{ip6}")
	p.do("the range of the server", http.MethodGet, ranges+"/kubernetes", "", "Accept: application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1")
	for _, families := range []string{"", "[IPv4]", "[IPv6]", "[IPv4, IPv6]", "[IPv6, IPv4]"} {
		for _, policy := range []string{"", "SingleStack", "PreferDualStack", "RequireDualStack"} {
			spec := ""
			if families != "" {
				spec += ", ipFamilies: " + families
			}
			if policy != "" {
				spec += ", ipFamilyPolicy: " + policy
			}
			step := strings.TrimSpace("families " + families + " " + policy)
			p.serve(step, "x", spec)
			p.do("delete: "+step, http.MethodDelete, services+"/x", "")
			p.do("headless: "+step, http.MethodPost, services+"?dryRun=All", service("x", "clusterIP: None, selector: {a: b}"+spec))
			p.do("headless without a selector: "+step, http.MethodPost, services+"?dryRun=All", service("x", "clusterIP: None"+spec))
		}
	}
	p.serve("both named", "a", `ipFamilyPolicy: RequireDualStack, clusterIP: 10.0.0.3, clusterIPs: [10.0.0.3, "fd00:77::3"]`)
	p.do("the first address", http.MethodGet, ipAddresses+"/10.0.0.3", "")
	p.do("the second address", http.MethodGet, ipAddresses+"/fd00:77::3", "")
	p.serve("the second named first", "b", `ipFamilyPolicy: PreferDualStack, clusterIP: "fd00:77::5"`)
	p.serve("not as the families say", "x", `ipFamilies: [IPv6], clusterIP: 10.0.0.4`)
	p.serve("another range", "x", `clusterIP: "fd00:78::6"`)
	p.serve("no network", "x", `clusterIP: "fd00:77::"`)
	p.serve("the last address", "c", `clusterIP: "fd00:77::ffff"`)

	p.serve("single", "d", "clusterIP: 10.0.0.6")
	p.patch("a second family", services+"/d", merge, `{"spec":{"ipFamilyPolicy":"PreferDualStack"}}`)
	p.patch("a label", services+"/d", merge, `{"metadata":{"labels":{"x":"red"}}}`)
	p.patch("required", services+"/d", merge, `{"spec":{"ipFamilyPolicy":"RequireDualStack"}}`)
	p.patch("the second away", services+"/d", merge, `{"spec":{"ipFamilies":["IPv4"],"clusterIPs":["10.0.0.6"]}}`)
	p.patch("the families in another order", services+"/d", merge, `{"spec":{"ipFamilies":["IPv6","IPv4"]}}`)
	p.patch("single again", services+"/d", merge, `{"spec":{"ipFamilyPolicy":"SingleStack"}}`)
	p.patch("a second address", services+"/d", merge, `{"spec":{"ipFamilyPolicy":"RequireDualStack","clusterIPs":["10.0.0.6","fd00:77::6"]}}`)
	// The scenario does not read the IPAddress of fd00:77::6: the repair loop of a kube-apiserver may delete it first.
	p.patch("single with what it names", services+"/d", merge, `{"spec":{"ipFamilyPolicy":"SingleStack","ipFamilies":["IPv4"],"clusterIPs":["10.0.0.6"]}}`)
	p.do("the second address is gone", http.MethodGet, ipAddresses+"/fd00:77::6", "")
	p.patch("a second address that is taken", services+"/d", merge, `{"spec":{"ipFamilyPolicy":"RequireDualStack","clusterIPs":["10.0.0.6","fd00:77::3"]}}`)
	p.patch("two families that are not allowed", services+"/d", merge, `{"spec":{"ipFamilies":["IPv4","IPv6"]}}`)
	p.patch("to external", services+"/a", merge, `{"spec":{"type":"ExternalName","externalName":"a.example.com"}}`)
	p.do("the first address is gone", http.MethodGet, ipAddresses+"/10.0.0.3", "")
	p.do("so is the second", http.MethodGet, ipAddresses+"/fd00:77::3", "")
	p.patch("from external", services+"/a", merge, `{"spec":{"type":"ClusterIP","externalName":null,"ipFamilyPolicy":"PreferDualStack","ipFamilies":["IPv6"]}}`)
	p.do("update without the addresses", http.MethodPut, services+"/b", service("b", "ipFamilyPolicy: PreferDualStack, ports: [{port: 81}]"))
	p.do("update without the policy", http.MethodPut, services+"/b", service("b", "ports: [{port: 82}]"))
	p.gone("a", "b", "c", "d", "x")
}
