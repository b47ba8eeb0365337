package apitest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store/meta"
)

// Injected is a fault in its place. Its methods may be called from any
// goroutine.
type Injected struct {
	api      *API
	fault    Fault
	resource meta.GroupResource // what Resource stands for, empty for any
	removed  chan struct{}      // closed by Remove
	dice     *dice              // of an Adversary, or nil
	replica  *registry.Replica  // of a Stale, or nil

	// guarded by api.mu
	matches, hits int
	gone          bool
}

// Fault puts a fault in place, behind those that are there already: a request
// meets the faults in the order in which they were put in place, until one of
// them ends it, and those behind neither see nor count it. A fault that
// contradicts itself fails the test.
func (a *API) Fault(f Fault) *Injected {
	a.t.Helper()
	in, err := a.Inject(f)
	if err != nil {
		a.t.Fatalf("%v", err)
	}
	return in
}

// Inject is Fault with an error in place of a test that fails. The error names
// the place and what was expected there.
func (a *API) Inject(f Fault) (*Injected, error) {
	if err := f.Validate(); err != nil {
		return nil, err
	}
	return a.inject(f, nil)
}

// inject puts a fault in place that has been validated, but for its Resource.
func (a *API) inject(f Fault, d *dice) (*Injected, error) {
	in := &Injected{api: a, fault: f, dice: d, removed: make(chan struct{})}
	if f.Resource != "" {
		var err error
		if in.resource, err = a.resource(f.Resource, f.Namespace); err != nil {
			return nil, fmt.Errorf("%s: %w", in.door(), err)
		}
	}
	if f.Subresource != "" && !slices.ContainsFunc(a.kinds, func(k registry.Info) bool {
		return k.Status && (f.Resource == "" || in.resource == meta.GroupResource{Group: k.Group, Resource: k.Plural})
	}) {
		return nil, fmt.Errorf("%s: Subresource: got %q, want none: no such resource has one", in.door(), f.Subresource)
	}
	if err := in.putReplica(); err != nil {
		return nil, err
	}
	var underWay []*exchange
	a.mu.Lock()
	a.faults = append(a.faults, in)
	if f.Partition != "" {
		for x := range a.open {
			underWay = append(underWay, x)
		}
	}
	a.mu.Unlock()
	for _, x := range underWay {
		if in.wants(x.request()) {
			in.reach(x)
		}
	}
	return in, nil
}

// door returns the name of what was given, for messages.
func (in *Injected) door() string {
	if in.dice != nil {
		return "apitest.Adversary"
	}
	return "apitest.Fault"
}

// Faults returns the faults that are in place, in their order.
func (a *API) Faults() []*Injected {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.faults)
}

// Fault returns what was put in place; of an Adversary whom it is after.
func (in *Injected) Fault() Fault { return in.fault }

// String returns the fault as Fault.String does.
func (in *Injected) String() string {
	if in.dice != nil {
		return in.fault.String() + in.dice.String()
	}
	return in.fault.String()
}

// Hits returns how many requests were hit.
func (in *Injected) Hits() int {
	in.api.mu.Lock()
	defer in.api.mu.Unlock()
	return in.hits
}

// Matches returns how many requests matched, whether or not they were among
// those to be hit.
func (in *Injected) Matches() int {
	in.api.mu.Lock()
	defer in.api.mu.Unlock()
	return in.matches
}

// Remove takes the fault away. What waits in a Silent partition goes on, and a
// Stale replica catches up; what else was hit takes its course. Removing it twice
// is fine.
func (in *Injected) Remove() {
	in.remove()
	in.catchUp()
}

func (in *Injected) remove() {
	in.api.mu.Lock()
	defer in.api.mu.Unlock()
	if in.gone {
		return
	}
	in.gone = true
	close(in.removed)
	in.api.faults = slices.DeleteFunc(slices.Clone(in.api.faults), func(other *Injected) bool { return other == in })
}

// wants reports whether a request matches.
func (in *Injected) wants(r Request) bool {
	f := &in.fault
	return in.wantsVerb(r.Verb) && (f.Stale == nil || f.Stale.concerns(&r)) &&
		(f.Resource == "" || in.resource == meta.GroupResource{Group: r.Group, Resource: r.Resource}) &&
		(f.Subresource == "" || f.Subresource == r.Subresource) &&
		(f.Namespace == "" || f.Namespace == r.Namespace) &&
		(f.Name == "" || f.Name == r.Name) &&
		(f.UserAgent == "" || strings.Contains(r.UserAgent, f.UserAgent)) &&
		(f.Client == "" || f.Client == r.Client) &&
		(f.When == nil || f.When(r))
}

func (in *Injected) wantsVerb(verb string) bool {
	f := &in.fault
	watching := verb == "watch"
	switch {
	case (f.Tear != nil || f.SlowEvents > 0) && !watching, f.Cut == CutAfter && watching:
		return false
	case f.Verb == "patch":
		return verb == "patch" || verb == "apply"
	}
	return f.Verb == "" || f.Verb == verb
}

// claim counts a request that matches and returns what it is hit with, or nil.
func (in *Injected) claim(x *exchange) *Fault {
	in.api.mu.Lock()
	defer in.api.mu.Unlock()
	if in.gone || in.fault.Stale != nil && x.stale != nil {
		return nil
	}
	f := &in.fault
	if slices.Contains(x.req.Faults, in) {
		return f // a partition that came while the request did
	}
	in.matches++
	if in.dice != nil {
		f = in.dice.rollLocked(x.req)
	}
	switch {
	case f == nil,
		f.First > 0 && in.matches > f.First,
		f.Nth > 0 && in.matches != f.Nth,
		f.Every > 0 && in.matches%f.Every != 0:
		return nil
	}
	in.hitLocked(x)
	return f
}

func (in *Injected) hitLocked(x *exchange) {
	in.hits++
	x.req.Faults = append(x.req.Faults, in)
}

// reach has a partition act on a request that was under way before it.
func (in *Injected) reach(x *exchange) {
	in.api.mu.Lock()
	defer in.api.mu.Unlock()
	if _, open := in.api.open[x]; !open || in.gone || slices.Contains(x.req.Faults, in) {
		return
	}
	in.matches++
	in.hitLocked(x)
	if in.fault.Partition == Silent {
		x.gates = append(x.gates, in.removed)
	} else {
		x.breakLocked()
	}
}

// resource finds what is served by one of its names, and that may be in a namespace
// if one is given. The error names the place and what was expected there.
func (a *API) resource(resource, namespace string) (meta.GroupResource, error) {
	name, group, qualified := strings.Cut(strings.ToLower(resource), ".")
	i := slices.IndexFunc(a.kinds, func(k registry.Info) bool {
		return (name == k.Plural || name == k.Singular || name == strings.ToLower(k.Kind)) && (!qualified || group == k.Group)
	})
	switch {
	case i < 0:
		return meta.GroupResource{}, fmt.Errorf("Resource: got %q, want one of %s", resource, strings.Join(a.resources(), ", "))
	case namespace != "" && a.kinds[i].ClusterScoped:
		return meta.GroupResource{}, fmt.Errorf("Namespace: got %q, want none: %s are in no namespace", namespace, a.kinds[i].Plural)
	}
	return meta.GroupResource{Group: a.kinds[i].Group, Resource: a.kinds[i].Plural}, nil
}

func (a *API) resources() (names []string) {
	for _, k := range a.kinds {
		names = append(names, k.Plural)
	}
	return names
}
