package apitest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store/meta"
)

// Injected is an active fault. Its methods may be called from any goroutine.
type Injected struct {
	api      *API
	fault    Fault
	resource meta.GroupResource // that fault.Resource names, empty for any
	removed  chan struct{}      // closed by Remove
	dice     *dice              // of fault.Adversary, or nil
	replica  *registry.Replica  // of fault.Stale, or nil

	// guarded by api.mu
	matches, hits int
	gone          bool
}

// Fault activates a fault. A request meets the active faults in the order in which
// they were activated, until one of them ends it; later faults then neither see nor
// count it. Fault fails the test if f contradicts itself or names no served resource.
func (a *API) Fault(f Fault) *Injected {
	a.t.Helper()
	in, err := a.newInjected(f)
	if err != nil {
		a.t.Fatalf("apitest.Fault: %v", err)
		return nil
	}
	var inProgress []*exchange
	a.mu.Lock()
	a.faults = append(a.faults, in)
	if f.Partition != "" {
		for x := range a.open {
			inProgress = append(inProgress, x)
		}
	}
	a.mu.Unlock()
	for _, x := range inProgress {
		if in.wants(x.request()) {
			in.reach(x)
		}
	}
	return in
}

// newInjected checks a fault and prepares it.
func (a *API) newInjected(f Fault) (*Injected, error) {
	if err := f.validate(); err != nil {
		return nil, err
	}
	in := &Injected{api: a, removed: make(chan struct{})}
	var err error
	if f.Resource != "" {
		if in.resource, err = a.resource(f.Resource, f.Namespace); err != nil {
			return nil, err
		}
	}
	if f.Subresource != "" && !slices.ContainsFunc(a.kinds, func(k *registry.Info) bool {
		return k.Status && (f.Resource == "" || in.resource == meta.GroupResource{Group: k.Group, Resource: k.Plural})
	}) {
		return nil, problem("Subresource", "got %q, want none: the resource has no such subresource", f.Subresource)
	}
	if f.Stale != nil {
		if in.replica, err = a.newReplica(f.Stale); err != nil {
			return nil, fmt.Errorf("Stale.%w", err)
		}
	}
	if f.Adversary != nil {
		drawn := f.Adversary.Seed == 0
		f.Adversary = f.Adversary.withDefaults()
		in.dice = &dice{Adversary: f.Adversary, seen: map[string]uint64{}}
		if drawn {
			a.t.Logf("apitest: to repeat this adversary, set Seed to %d", f.Adversary.Seed)
		}
	}
	in.fault = f
	return in, nil
}

// Faults returns the active faults in their order.
func (a *API) Faults() []*Injected {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.faults)
}

// Fault returns the fault that was activated. An Adversary has its defaults and its
// seed filled in.
func (in *Injected) Fault() Fault { return in.fault }

// String returns the fault in one line, such as "update leases * first=2: answer 409".
func (in *Injected) String() string { return in.fault.describe() }

// Hits returns how many requests were hit.
func (in *Injected) Hits() int {
	in.api.mu.Lock()
	defer in.api.mu.Unlock()
	return in.hits
}

// Matches returns how many requests matched, including those beyond First.
func (in *Injected) Matches() int {
	in.api.mu.Lock()
	defer in.api.mu.Unlock()
	return in.matches
}

// Remove deactivates the fault. Requests held back by a Silent partition continue,
// and a Stale replica catches up. Other requests that were already hit are not
// affected. Removing it again does nothing.
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
		strings.Contains(r.UserAgent, f.UserAgent) &&
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

// claim counts a request that matches. It returns the fault that hits it, or nil.
func (in *Injected) claim(x *exchange) *Fault {
	in.api.mu.Lock()
	defer in.api.mu.Unlock()
	if in.gone || in.fault.Stale != nil && x.stale != nil {
		return nil
	}
	f := &in.fault
	if slices.Contains(x.req.Faults, in) {
		return f // a partition that was activated while the request arrived
	}
	in.matches++
	if in.dice != nil {
		f = in.dice.rollLocked(x.req)
	}
	if f == nil || f.First > 0 && in.matches > f.First {
		return nil
	}
	in.hitLocked(x)
	return f
}

func (in *Injected) hitLocked(x *exchange) {
	in.hits++
	x.req.Faults = append(x.req.Faults, in)
}

// reach applies a partition to a request that was in progress before.
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

// resource returns the served resource with one of its names. If namespace is not
// empty, the resource must be namespaced.
func (a *API) resource(resource, namespace string) (meta.GroupResource, error) {
	name, group, qualified := strings.Cut(strings.ToLower(resource), ".")
	i := slices.IndexFunc(a.kinds, func(k *registry.Info) bool {
		return (name == k.Plural || name == k.Singular || name == strings.ToLower(k.Kind)) && (!qualified || group == k.Group)
	})
	switch {
	case i < 0:
		var plurals []string
		for _, k := range a.kinds {
			plurals = append(plurals, k.Plural)
		}
		return meta.GroupResource{}, problem("Resource", "got %q, want one of %s", resource, strings.Join(plurals, ", "))
	case namespace != "" && a.kinds[i].ClusterScoped:
		return meta.GroupResource{}, problem("Namespace", "got %q, want none: %s are in no namespace", namespace, a.kinds[i].Plural)
	}
	return meta.GroupResource{Group: a.kinds[i].Group, Resource: a.kinds[i].Plural}, nil
}
