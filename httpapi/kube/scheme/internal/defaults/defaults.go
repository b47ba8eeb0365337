// Package defaults fills in the members of built-in objects that a client left out, as kube-apiserver does when it decodes a
// body: the defaulting of each version (upstream's pkg/apis/*/v1/defaults.go and the defaults declared at the types), then
// the changes of the conversion to the internal type and back (upstream's conversion.go). Among these changes, a Secret's stringData
// goes into data, so that nothing after the decoder sees it.
//
// Defaults depend on the Go type alone: every Probe gets the same ones wherever it stands. So the package has one function for
// each Go type, in a file for each group, and a walk that finds the values of these types in an object.
//
// What a strategy does when it prepares an object is not here: generation, a status that is wiped, allocated addresses, the
// annotation deprecated.daemonset.template.generation, resources of a pod, members of disabled features.
//
// The rules are the rules of kube-apiserver with its default feature gates.
package defaults

import (
	"reflect"
	"sync"
	"time"

	nodev1 "k8s.io/api/node/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// A Defaulter sets defaults. It caches what it learnt about Go types, so one should serve a whole process. It may be used by
// several goroutines.
type Defaulter struct {
	rules rules

	mu    sync.Mutex // guards plans, and nodes while build runs
	plans map[reflect.Type]*node
	nodes map[reflect.Type]*node
}

// New returns a Defaulter. now returns the time for members that default to it (timeAdded of a device's taint).
func New(now func() time.Time) *Defaulter {
	d := &Defaulter{rules: rules{}, plans: map[reflect.Type]*node{}, nodes: map[reflect.Type]*node{}}
	addCore(d.rules)
	addPods(d.rules)
	addVolumes(d.rules)
	addConversions(d.rules)
	addApps(d.rules)
	addBatch(d.rules)
	addAutoscaling(d.rules)
	addNetworking(d.rules)
	addRBAC(d.rules)
	addCertificates(d.rules)
	addAuthentication(d.rules)
	addStorage(d.rules)
	addScheduling(d.rules)
	addAdmission(d.rules)
	addFlowcontrol(d.rules)
	addResource(d.rules, now)
	return d
}

// Default sets the defaults of obj, which must be a pointer to a struct of k8s.io/api, and brings it into the form in which
// kube-apiserver answers with it. Objects of other types stay as they are. Default changes obj in place: the caller must own it.
func (d *Defaulter) Default(obj runtime.Object) {
	v := reflect.ValueOf(obj)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		return
	}
	if n := d.plan(v.Elem().Type()); n != nil {
		n.apply(v.Elem())
	}
}

// rules has the functions of a Go type, in the order in which they must run. Each takes a pointer to a value of the type.
type rules map[reflect.Type][]func(any)

// on adds a rule for the values of type T.
func on[T any](r rules, f func(*T)) {
	t := reflect.TypeFor[T]()
	r[t] = append(r[t], func(p any) { f(p.(*T)) })
}

// A node is the plan for a Go type: the rules of the type itself, then the members that hold values with rules. Upstream's
// generated code has this order too: the rule of Pod sees containers whose own rules have not run.
type node struct {
	rules   []func(any)
	members []member
	elem    *node // of a pointer or slice
}

type member struct {
	index int
	node  *node
}

// plan returns the plan for a root type; nil if nothing in it has a default.
func (d *Defaulter) plan(t reflect.Type) *node {
	d.mu.Lock()
	defer d.mu.Unlock()
	n, ok := d.plans[t]
	if !ok {
		if !exempt(t) {
			n = d.build(t)
		}
		d.plans[t] = n
	}
	return n
}

// exempt reports whether upstream has no defaulting at all for a root type although it holds values of types that have some.
func exempt(t reflect.Type) bool {
	return t == reflect.TypeFor[nodev1.RuntimeClass]() || t == reflect.TypeFor[nodev1.RuntimeClassList]()
}

// build returns the plan for t; nil if no value in it has rules. Values of maps have none upstream either.
func (d *Defaulter) build(t reflect.Type) *node {
	if n, ok := d.nodes[t]; ok {
		return n
	}
	d.nodes[t] = nil // a type that holds itself: no type of k8s.io/api with defaults does
	n := &node{rules: d.rules[t]}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		n.elem = d.build(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if !t.Field(i).IsExported() {
				continue
			}
			if m := d.build(t.Field(i).Type); m != nil {
				n.members = append(n.members, member{i, m})
			}
		}
	}
	if n.rules == nil && n.elem == nil && n.members == nil {
		return nil
	}
	d.nodes[t] = n
	return n
}

// apply runs the plan on v, which is addressable.
func (n *node) apply(v reflect.Value) {
	for _, f := range n.rules {
		f(v.Addr().Interface())
	}
	for _, m := range n.members {
		m.node.apply(v.Field(m.index))
	}
	if n.elem == nil {
		return
	}
	if v.Kind() == reflect.Slice {
		for i := range v.Len() {
			n.elem.apply(v.Index(i))
		}
	} else if !v.IsNil() {
		n.elem.apply(v.Elem())
	}
}

// value sets a member that is its type's zero value.
func value[T comparable](member *T, def T) {
	if *member == *new(T) {
		*member = def
	}
}

// pointer sets a member that is nil.
func pointer[T any](member **T, def T) {
	if *member == nil {
		*member = &def
	}
}
