package differential

import "fmt"

// object is a JSON object.
type object = map[string]any

// metadata returns random metadata without a name. It uses few values, so that writers share fields.
func (g generator) metadata() object {
	m := object{}
	if g.percent(60) {
		m["labels"] = g.words("a", "b", "c", "x/d")
	}
	if g.percent(30) {
		m["annotations"] = g.words("a", "b", "n/c")
	}
	if g.percent(40) {
		m["finalizers"] = some(g, any("f/1"), "f/2", "f/3")
	}
	if g.percent(40) {
		var refs []any
		for _, uid := range some(g, "u1", "u2", "u3") {
			refs = append(refs, g.ownerReference(uid))
		}
		m["ownerReferences"] = refs
	}
	if g.percent(3) {
		m["generateName"] = pick(g, "g-", "h-")
	}
	return m
}

// words returns an object of strings.
func (g generator) words(names ...string) object {
	o := object{}
	for _, name := range some(g, names...) {
		o[name] = pick(g, "1", "2", "")
	}
	return o
}

func (g generator) ownerReference(uid string) object {
	ref := object{"apiVersion": "v1", "kind": "Pod", "name": pick(g, "n1", "n2"), "uid": uid}
	if g.percent(30) {
		ref["blockOwnerDeletion"] = g.percent(50)
	}
	if g.percent(10) && uid == "u1" {
		ref["controller"] = g.percent(70)
	}
	return ref
}

// content returns random content of a kind outside metadata. Required fields are set, unless part.
func (g generator) content(plural string, part bool) object {
	switch plural {
	case "leases":
		if part && g.percent(20) {
			return object{}
		}
		return object{"spec": g.leaseSpec()}
	case "leasecandidates":
		return object{"spec": g.candidateSpec(part)}
	case "endpoints":
		if g.percent(20) {
			return object{}
		}
		return object{"subsets": upTo(g, 3, g.subset)}
	}
	return object{"spec": g.widgetSpec()}
}

func (g generator) time() string {
	return fmt.Sprintf("2026-01-02T03:04:0%d.%06dZ", g.IntN(3), g.IntN(2)*100)
}

func (g generator) leaseSpec() object {
	s := object{}
	for _, name := range some(g, "holderIdentity", "leaseDurationSeconds", "acquireTime", "renewTime", "leaseTransitions", "strategy") {
		switch name {
		case "holderIdentity":
			s[name] = pick(g, "h1", "h2", "")
		case "leaseDurationSeconds", "leaseTransitions":
			s[name] = 1 + g.IntN(3)
		case "strategy":
			s[name] = "OldestEmulationVersion"
		default:
			s[name] = g.time()
		}
	}
	return s
}

func (g generator) candidateSpec(part bool) object {
	s := object{"leaseName": "l", "binaryVersion": pick(g, "1.2.3", "1.2.4"), "emulationVersion": pick(g, "1.1.0", "1.2.0"), "strategy": pick(g, "OldestEmulationVersion", "x/y")}
	if part {
		for _, name := range some(g, "leaseName", "binaryVersion", "emulationVersion", "strategy") {
			delete(s, name)
		}
	}
	for _, name := range some(g, "pingTime", "renewTime") {
		s[name] = g.time()
	}
	return s
}

func (g generator) subset() any {
	s := object{"addresses": []any{g.address()}}
	if g.percent(30) {
		s["notReadyAddresses"] = []any{g.address()}
	} else if g.percent(15) {
		s["notReadyAddresses"] = []any{}
	}
	if g.percent(60) {
		port := object{"port": 80 + g.IntN(3)}
		if g.percent(50) {
			port["protocol"] = pick(g, "TCP", "UDP")
		}
		if g.percent(50) {
			port["name"] = pick(g, "http", "dns")
		}
		s["ports"] = []any{port}
	} else if g.percent(30) {
		s["ports"] = []any{}
	}
	return s
}

func (g generator) address() any {
	a := object{"ip": fmt.Sprintf("10.0.0.%d", 1+g.IntN(3))}
	if g.percent(20) {
		a["targetRef"] = object{"kind": "Pod", "name": pick(g, "p", "q"), "uid": "u"}
	}
	if g.percent(20) {
		a["nodeName"] = "node"
	}
	return a
}

func (g generator) widgetSpec() object {
	s := object{}
	for _, name := range some(g, "mode", "count", "on", "tags", "steps", "parts", "ports", "options", "origin", "nested") {
		s[name] = g.gadgetField(name)
		if name == "ports" { // here both keys are required
			var ports []any
			for _, port := range some(g, object{"port": 1, "protocol": "TCP"}, object{"port": 1, "protocol": "UDP"}, object{"port": 2, "protocol": "TCP"}) {
				if g.percent(50) {
					port["target"] = pick(g, "x", "y")
				}
				ports = append(ports, port)
			}
			s[name] = ports
		}
	}
	return s
}

func (g generator) part(name string) object {
	p := object{"name": name}
	if g.percent(60) {
		p["size"] = g.IntN(3)
	}
	if g.percent(40) {
		p["labels"] = some(g, any("l1"), "l2")
	}
	return p
}

func (g generator) nested() any {
	n := object{}
	if g.percent(50) {
		n["a"] = pick(g, "1", "2")
	}
	if g.percent(50) {
		n["b"] = object{"c": pick(g, "1", "2"), "d": g.words("k", "l")}
	}
	return n
}
