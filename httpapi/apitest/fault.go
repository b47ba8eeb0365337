package apitest

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/registry"
)

// Match chooses requests. All fields that are set must match.
type Match struct {
	// Verb is get, list, watch, create, update, patch, apply, delete or
	// deletecollection. Patch includes apply; apply is only server-side apply.
	Verb string
	// Resource is the plural, singular or Kind of a served resource, with or without its group:
	// "leases", "Lease", "leases.coordination.k8s.io". "*" is any resource, but not discovery, /version and such.
	Resource string
	// Subresource is "status" or another one of the kind, or "" for the object and its subresources.
	Subresource string
	// Namespace and Name are taken from the path, the Name of a create from its body.
	Namespace, Name string
	// UserAgent is a part of the User-Agent header.
	UserAgent string
	// Client is the name that was passed to TransportFor or WithClient.
	Client string
}

// Matches reports whether a request matches. It can be passed to Requests.Where.
func (m Match) Matches(r Request) bool {
	return (m.Verb == "" || m.Verb == r.Verb || m.Verb == "patch" && r.Verb == "apply") &&
		(m.Resource == "" || m.Resource == anyResource && r.Resource != "" || r.kind != nil && kinds.IsNameOf(m.Resource, r.kind.Info())) &&
		(m.Subresource == "" || m.Subresource == r.Subresource) &&
		(m.Namespace == "" || m.Namespace == r.Namespace) &&
		(m.Name == "" || m.Name == r.Name) &&
		strings.Contains(r.UserAgent, m.UserAgent) &&
		(m.Client == "" || m.Client == r.Client)
}

const anyResource = "*"

// String returns the fields in one line, such as "update leases default/a client=x".
func (m Match) String() string {
	parts := []string{cmp.Or(m.Verb, "any")}
	resource := m.Resource
	if m.Subresource != "" {
		resource = cmp.Or(resource, "*") + "/" + m.Subresource
	}
	for _, part := range []struct{ name, value string }{
		{"", resource}, {"", objectPath(m.Namespace, m.Name)}, {"userAgent=", m.UserAgent}, {"client=", m.Client},
	} {
		if part.value != "" {
			parts = append(parts, part.name+part.value)
		}
	}
	return strings.Join(parts, " ")
}

func verbs() []string {
	return []string{"get", "list", "watch", "create", "update", "patch", "apply", "delete", "deletecollection"}
}

// checkMatch returns an error with the field and the expected value if m cannot match any request.
func (a *API) checkMatch(m Match) error {
	var plurals []string
	known, defines, subresource := m.Resource == anyResource, false, m.Subresource == "" || m.Subresource == "status"
	for _, kind := range a.api.Kinds() {
		k := kinds.Of(kind)
		plurals = append(plurals, k.Info().Plural)
		known = known || kinds.IsNameOf(m.Resource, k.Info())
		defines = defines || k.DefinesKinds() // there may be other kinds later
		subresource = subresource || k.Subresource(m.Subresource) != nil
	}
	switch {
	case m.Verb != "" && !slices.Contains(verbs(), m.Verb):
		return problem("Verb", "got %q, want one of %s", m.Verb, strings.Join(verbs(), ", "))
	case !subresource && !defines:
		return problem("Subresource", "got %q, want \"status\" or none", m.Subresource)
	case m.Resource != "" && !known && !defines:
		return problem("Resource", "got %q, want one of %s", m.Resource, strings.Join(plurals, ", "))
	}
	return nil
}

// Fault is an active fault. Its methods may be called from any goroutine.
type Fault struct {
	api     *API
	effect  Effect
	on      []Match
	removed chan struct{}          // closed by Remove
	lags    map[*StaleOptions]*lag // that all requests share, by their effect

	// guarded by api.mu
	matches, hits int
	gone          bool
	crashed       *Match      // the client that the fault has crashed, or nil
	met           map[any]int // how many requests met an Effect.Nth, and how many equal ones an Adversary
}

// Fault activates a fault: requests that match one of on meet the effect; without on, all requests do.
// A request meets the active faults in the order of their activation until one of them ends it; later
// faults then neither see nor count it. Fault fails the test if a parameter is wrong.
func (a *API) Fault(effect Effect, on ...Match) *Fault {
	a.t.Helper()
	f := &Fault{api: a, effect: effect, on: slices.Clone(on), removed: make(chan struct{}), lags: map[*StaleOptions]*lag{}, met: map[any]int{}}
	if err := f.prepare(); err != nil {
		a.t.Fatalf("apitest.Fault: %v", err)
		return nil
	}
	var inProgress []*exchange
	a.mu.Lock()
	a.faults = append(a.faults, f)
	if effect.inProgress {
		inProgress = slices.Collect(maps.Keys(a.open))
	}
	a.mu.Unlock()
	for _, x := range inProgress {
		f.meet(x, true)
	}
	return f
}

func (f *Fault) prepare() error {
	if f.effect.act == nil {
		return errors.New("got no effect, want one such as Answer(503)")
	}
	for _, m := range f.on {
		if err := f.api.checkMatch(m); err != nil {
			return err
		}
		if m.Verb != "" && !f.effect.actsOn(m.Verb) {
			return problem("Verb", "got %q, want another one for %q", m.Verb, f.effect)
		}
	}
	return f.effect.prepare(f)
}

// Faults returns the active faults in their order.
func (a *API) Faults() []*Fault {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.faults)
}

// String returns the matches and the effect in one line.
func (f *Fault) String() string {
	on := make([]string, max(1, len(f.on)))
	on[0] = Match{}.String()
	for i, m := range f.on {
		on[i] = m.String()
	}
	return strings.Join(on, " or ") + ": " + f.effect.String()
}

// Matches returns the number of requests that matched and have a verb on which the effect can act.
func (f *Fault) Matches() int {
	f.api.mu.Lock()
	defer f.api.mu.Unlock()
	return f.matches
}

// Hits returns the number of requests on which the effect acted.
func (f *Fault) Hits() int {
	f.api.mu.Lock()
	defer f.api.mu.Unlock()
	return f.hits
}

// MustHit makes the test fail at its end if the fault has hit no request. It returns f.
func (f *Fault) MustHit() *Fault {
	f.api.t.Cleanup(func() {
		if f.Hits() == 0 {
			f.api.t.Errorf("apitest: the fault hit none of %d requests that matched: %s", f.Matches(), f)
		}
	})
	return f
}

// Remove ends the fault. Requests that a Partition holds continue, a Stale replica catches up, watches get what HideEvents has hidden,
// and a client that crashed can connect again. Other requests that were already hit are not affected.
func (f *Fault) Remove() {
	f.api.mu.Lock()
	lags := slices.Collect(maps.Values(f.lags))
	var watches []*registry.Veils
	if !f.gone {
		f.gone = true
		close(f.removed)
		f.api.faults = slices.DeleteFunc(slices.Clone(f.api.faults), func(other *Fault) bool { return other == f })
	}
	for x := range f.api.open {
		lags = append(lags, x.lags[f]...)
		if x.veils != nil {
			watches = append(watches, x.veils)
		}
	}
	f.api.mu.Unlock()
	for _, l := range lags {
		l.end()
	}
	for _, w := range watches {
		w.Wake()
	}
}

func (f *Fault) meet(x *exchange, inProgress bool) (answered bool) {
	matches := func(m Match) bool { return m.Matches(x.request()) }
	return f.effect.actsOn(x.req.Verb) && (len(f.on) == 0 || slices.ContainsFunc(f.on, matches)) && f.count(x) &&
		f.effect.meet(&meeting{exchange: x, fault: f, inProgress: inProgress})
}

// countMet counts a request, and returns how many were counted as the same.
func (f *Fault) countMet(as any) int {
	f.api.mu.Lock()
	defer f.api.mu.Unlock()
	f.met[as]++
	return f.met[as]
}

func (f *Fault) count(x *exchange) bool {
	f.api.mu.Lock()
	defer f.api.mu.Unlock()
	if f.gone || slices.Contains(x.met, f) {
		return false
	}
	x.met = append(x.met, f)
	f.matches++
	return true
}
