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
	number  int32     // of the changes before it
}

// newServed returns the state with these kinds, each once. now is the time of its documents.
func newServed(all []kind.Kind, now time.Time) (*served, error) {
	none := &served{scheme: kinds.NewScheme(), openAPI: func() *openAPI { return nil }}
	return none.next(nil, all, now)
}

// next returns the state without the kinds in removed and with those in added, each once. The first of added takes the place of the first
// of removed. What has not changed is shared with s. So the cost of a change does not depend on the number of kinds, but for copies of
// lists of pointers.
func (s *served) next(removed []*kinds.Kind, added []kind.Kind, at time.Time) (*served, error) {
	n := &served{kinds: append(make([]kind.Kind, 0, len(s.kinds)+len(added)), s.kinds...), groups: slices.Clone(s.groups), scheme: s.scheme}
	n.number = s.number + 1
	native := false
	place := len(n.kinds)
	if len(removed) > 0 {
		place = indexOf(n.kinds, removed[0])
		n.kinds = slices.DeleteFunc(n.kinds, func(k kind.Kind) bool { return slices.Contains(removed, kinds.Of(k)) })
	}
	for _, k := range removed {
		n.group(k.Info().Group).remove(k)
		native = native || k.Info().Native
	}
	for _, k := range added {
		of := kinds.Of(k)
		if indexOf(n.kinds, of) >= 0 {
			continue
		}
		for _, other := range n.kinds {
			if err := checkDistinct(of.Info(), other.Info()); err != nil {
				return nil, err
			}
		}
		n.kinds = slices.Insert(n.kinds, min(place, len(n.kinds)), k)
		place = len(n.kinds)
		n.group(of.Info().Group).add(of)
		native = native || of.Info().Native
	}
	var now, was []*servedGroup
	for _, g := range n.groups {
		if g.since == n.number {
			now = append(now, g)
		}
	}
	n.groups = slices.DeleteFunc(n.groups, func(g *servedGroup) bool { return len(g.versions) == 0 })
	slices.SortFunc(n.groups, compareGroups)
	if native {
		n.scheme = kinds.NewScheme(n.native()...)
	}
	docs := s.openAPI()
	if docs == nil || native { // documents name the built-in kinds that they refer to
		n.openAPI = sync.OnceValue(func() *openAPI { return n.newOpenAPI(nil, nil, n.groups, at) })
		return n, nil
	}
	for _, g := range s.groups {
		if slices.ContainsFunc(now, func(next *servedGroup) bool { return next.name == g.name }) {
			was = append(was, g)
		}
	}
	n.openAPI = sync.OnceValue(func() *openAPI { return n.newOpenAPI(docs, was, now, at) })
	return n, nil
}

// native returns the built-in kinds.
func (s *served) native() []*kinds.Kind {
	out := make([]*kinds.Kind, 0, len(s.kinds))
	for _, k := range s.kinds {
		if k.Info().Native {
			out = append(out, kinds.Of(k))
		}
	}
	return out
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
	return a.changeKinds(ctx, nil, all, nil)
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
	return a.changeKinds(ctx, []kind.Kind{old}, []kind.Kind{next}, func() error {
		if was, is := kinds.Of(old), kinds.Of(next); was.GroupResource() != is.GroupResource() || was.Info().ClusterScoped != is.Info().ClusterScoped {
			return fmt.Errorf("httpapi: got %s in place of %s, want the same group, plural and scope", is.GroupResource(), was.GroupResource())
		}
		return nil
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
	if err := a.changeKinds(ctx, all, nil, nil); err != nil {
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

// changeKinds serves the added kinds, and no longer the removed ones. The store gets the kinds that are new first.
func (a *API) changeKinds(ctx context.Context, removed, added []kind.Kind, check func() error) error {
	a.changing.Lock()
	defer a.changing.Unlock()
	before := a.served.Load()
	var out []*kinds.Kind
	for _, k := range removed {
		if err := checkServed(before.kinds, k); err != nil {
			return err
		}
		out = append(out, kinds.Of(k))
	}
	if check != nil {
		if err := check(); err != nil {
			return err
		}
	}
	after, err := before.next(out, added, a.st.Now())
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

// collection returns the collection of a kind that was served when a request began. The error says that the kind was replaced since, or
// removed with its objects: then a request must not make the collection anew.
func (a *API) collection(k *kinds.Kind) (*registry.Resource, error) {
	r, err := a.st.Known(k)
	if r == nil && err == nil {
		// An alias has the collection of its origin, and may be served without it.
		if served := a.served.Load().kinds; indexOf(served, k) < 0 && indexOf(served, k.Origin()) < 0 {
			return nil, notFound()
		}
		r, err = a.st.Find(k)
	}
	if err != nil {
		return nil, registry.ErrInitializing()
	}
	return r, nil
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

// compareGroups orders groups as discovery does.
func compareGroups(a, b *servedGroup) int {
	return cmp.Or(coreFirst(a.name, b.name), cmp.Compare(a.rank, b.rank), cmp.Compare(a.name, b.name))
}

// coreFirst puts the core group, which has no name, before the others.
func coreFirst(a, b string) int {
	switch {
	case a == b || a != "" && b != "":
		return 0
	case a == "":
		return -1
	}
	return 1
}

// rankOf returns the place of a group in groupOrder.
func rankOf(group string) int16 {
	if at := strings.Index(groupOrder, " "+group+" "); at >= 0 {
		return int16(at)
	}
	return int16(len(groupOrder))
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
