package httpapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store/kind"
)

// served is what an API serves at a moment. It never changes: a change of the kinds replaces it. A request takes it
// once, and so sees the kinds before a change or after it. Forks share it.
type served struct {
	kinds   []kind.Kind
	scheme  *kinds.Scheme
	groups  []*servedGroup
	openAPI func() *openAPI
	changed time.Time // when it replaced another state, or zero
}

// newServed returns the state with these kinds, each once. It takes over the OpenAPI documents of before, which may be nil, as far
// as they stay the same. now is the time of the other documents.
func newServed(before *openAPI, all []kind.Kind, now time.Time) (*served, error) {
	s := &served{kinds: make([]kind.Kind, 0, len(all))}
	registered := make([]*kinds.Kind, 0, len(all))
	for _, k := range all {
		kind := kinds.Of(k)
		if slices.Contains(registered, kind) {
			continue
		}
		for _, other := range registered {
			if err := checkDistinct(kind.Info(), other.Info()); err != nil {
				return nil, err
			}
		}
		s.kinds, registered = append(s.kinds, k), append(registered, kind)
		s.addKind(kind)
	}
	s.sort()
	s.scheme = kinds.NewScheme(registered...)
	s.openAPI = sync.OnceValue(func() *openAPI { return s.newOpenAPI(before, now) })
	return s, nil
}

// checkDistinct refuses two kinds with one name.
func checkDistinct(a, b *kind.Info) error {
	if a.Group != b.Group || a.Plural != b.Plural && a.Kind != b.Kind {
		return nil
	}
	return fmt.Errorf("httpapi: got the kinds %s (%s) and %s (%s) in the group %q, want kinds whose names and plurals differ",
		b.Kind, b.Plural, a.Kind, a.Plural, a.Group)
}

// AddKinds serves more kinds, from the next request on. Kinds that are served already are skipped. If the store has
// objects of another kind of the same group and plural, which is not served, they are read as objects of this one.
//
// On an error nothing has changed in the API. The error names two kinds with the same group and plural, or the same
// group and name. A store on etcd reads the objects of a new kind first, at most until ctx ends.
func (a *API) AddKinds(ctx context.Context, all ...kind.Kind) error {
	return a.changeKinds(ctx, all, func(now []kind.Kind) ([]kind.Kind, error) {
		return slices.Concat(now, all), nil
	})
}

// serveDefined serves the kinds that objects in the store define, so that the first request finds the kinds of a fixture or
// of etcd. It skips kinds that cannot be served, such as the second kind of a name: a controller in Options.Parts reports
// them. Definitions in the groups of built-in kinds have no effect.
func (a *API) serveDefined(ctx context.Context) {
	var all []kind.Kind
	served := a.served.Load().kinds
	for _, definer := range served {
		k := kinds.Of(definer)
		if !k.DefinesKinds() {
			continue
		}
		r, err := a.st.Find(k)
		if err != nil {
			continue
		}
		list, err := r.List(ctx, registry.ListOptions{})
		if err != nil {
			continue
		}
		for _, it := range list.Items {
			if defined, err := k.Defined(it.Stored()); err == nil && !kind.BuiltInGroup(served, defined.Info().Group) {
				all = append(all, defined)
			}
		}
	}
	if len(all) == 0 || a.AddKinds(ctx, all...) == nil {
		return
	}
	for _, k := range all {
		_ = a.AddKinds(ctx, k)
	}
}

// ReplaceKind serves a kind in place of another one of the same group and plural, such as one with a new schema. The
// objects stay, and are read as a real server reads an object that it has stored before an update of its
// CustomResourceDefinition. Watches of the old kind end. A watch of the new one cannot start before the change: it
// gets 410 Expired. On an error nothing has changed.
func (a *API) ReplaceKind(ctx context.Context, old, next kind.Kind) error {
	return a.changeKinds(ctx, []kind.Kind{next}, func(now []kind.Kind) ([]kind.Kind, error) {
		if err := checkServed(now, old); err != nil {
			return nil, err
		}
		if was, is := kinds.Of(old), kinds.Of(next); was.GroupResource() != is.GroupResource() || was.Info().ClusterScoped != is.Info().ClusterScoped {
			return nil, fmt.Errorf("httpapi: got %s in place of %s, want the same group, plural and scope", is.GroupResource(), was.GroupResource())
		}
		now = slices.Clone(now)
		now[indexOf(now, kinds.Of(old))] = next
		return now, nil
	})
}

// RemoveOptions are the options of RemoveKinds.
type RemoveOptions struct {
	// Objects also deletes the objects, whatever finalizers they have. Watches get the deletions before they end.
	// Otherwise the objects stay in the store, and are served again if the kind is added again.
	Objects bool
}

// RemoveKinds stops serving kinds, from the next request on: their paths get 404. Their watches end. The error says
// that a kind is not served, and then nothing has changed, or that a store on etcd cannot delete the objects.
func (a *API) RemoveKinds(ctx context.Context, opts RemoveOptions, all ...kind.Kind) error {
	err := a.changeKinds(ctx, nil, func(now []kind.Kind) ([]kind.Kind, error) {
		for _, k := range all {
			if err := checkServed(now, k); err != nil {
				return nil, err
			}
		}
		return slices.DeleteFunc(slices.Clone(now), func(k kind.Kind) bool { return indexOf(all, kinds.Of(k)) >= 0 }), nil
	})
	if err != nil {
		return err
	}
	var errs []error
	for _, k := range all {
		if opts.Objects {
			errs = append(errs, a.st.Drop(ctx, kinds.Of(k)))
		} else {
			a.st.EndWatches(kinds.Of(k))
		}
	}
	return errors.Join(errs...)
}

// changeKinds makes the kinds that next returns the served ones. The store gets the kinds that are new first.
func (a *API) changeKinds(ctx context.Context, added []kind.Kind, next func(now []kind.Kind) ([]kind.Kind, error)) error {
	a.changing.Lock()
	defer a.changing.Unlock()
	before := a.served.Load()
	all, err := next(before.kinds)
	if err != nil {
		return err
	}
	after, err := newServed(before.openAPI(), all, a.st.Now())
	if err != nil {
		return err
	}
	after.changed = a.st.Now()
	for _, k := range added {
		if indexOf(before.kinds, kinds.Of(k)) >= 0 {
			continue
		}
		if err := a.st.Register(ctx, kinds.Of(k)); err != nil {
			return err
		}
	}
	a.served.Store(after)
	return nil
}

func indexOf(all []kind.Kind, k *kinds.Kind) int {
	return slices.IndexFunc(all, func(other kind.Kind) bool { return kinds.Of(other) == k })
}

func checkServed(all []kind.Kind, k kind.Kind) error {
	if indexOf(all, kinds.Of(k)) < 0 {
		return fmt.Errorf("httpapi: the kind %s is not served", k.GroupResource())
	}
	return nil
}

// Kinds returns the kinds that are served now.
func (a *API) Kinds() []kind.Kind { return slices.Clone(a.served.Load().kinds) }

// groupOrder lists the groups of a real server in the order of discovery (upstream: pkg/controlplane/apiserver and
// cmd/kube-apiserver/app, aggregator.go). Other groups follow by name.
const groupOrder = " apiregistration.k8s.io apps events.k8s.io authentication.k8s.io authorization.k8s.io autoscaling batch certificates.k8s.io " +
	"networking.k8s.io policy rbac.authorization.k8s.io storage.k8s.io admissionregistration.k8s.io apiextensions.k8s.io scheduling.k8s.io " +
	"coordination.k8s.io node.k8s.io discovery.k8s.io resource.k8s.io flowcontrol.apiserver.k8s.io internal.apiserver.k8s.io storagemigration.k8s.io "

// sort orders groups, versions and resources as in discovery.
func (s *served) sort() {
	rank := func(g *servedGroup) int {
		if at := strings.Index(groupOrder, " "+g.name+" "); at >= 0 {
			return at
		}
		return len(groupOrder)
	}
	slices.SortFunc(s.groups, func(a, b *servedGroup) int {
		return cmp.Or(cmp.Compare(len(a.name), 0)-cmp.Compare(len(b.name), 0), cmp.Compare(rank(a), rank(b)), cmp.Compare(a.name, b.name))
	})
	for _, g := range s.groups {
		slices.SortFunc(g.versions, func(a, b *groupVersion) int { return compareVersions(b.Version, a.Version) })
		for _, v := range g.versions {
			slices.SortFunc(v.endpoints, func(a, b *endpoint) int { return cmp.Compare(a.Info.Plural, b.Info.Plural) })
		}
	}
}

// compareVersions orders versions as clients prefer them, the best one last: v2, v1, v1beta1, v1alpha1, and then all
// others (upstream: apimachinery, version.CompareKubeAwareVersionStrings).
func compareVersions(a, b string) int {
	return cmp.Or(slices.Compare(parseVersion(a), parseVersion(b)), strings.Compare(b, a))
}

// parseVersion returns the stability, the major and the minor number of a version, or nil.
func parseVersion(v string) []int {
	rest, isVersion := strings.CutPrefix(v, "v")
	stability, minor := 2, "0"
	for i, word := range []string{"alpha", "beta"} {
		if major, after, found := strings.Cut(rest, word); found {
			stability, rest, minor = i, major, after
		}
	}
	x, err := strconv.Atoi(rest)
	y, minorErr := strconv.Atoi(minor)
	if !isVersion || err != nil || minorErr != nil {
		return nil
	}
	return []int{stability, x, y}
}
