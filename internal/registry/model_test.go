package registry_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
	"github.com/kubecoord/kubecoord/watch"
)

// model is what a store should be: a map of the objects there are, and the map
// as it was after each version. Objects in it never change.
type model struct {
	*testing.T
	st      *registry.Store
	leases  collection
	r       *registry.Resource
	history uint64 // changes kept
	version uint64
	now     map[string]*lease.Lease
	past    map[uint64]map[string]*lease.Lease // now, by version
	changes []modelChange                      // one a version, after the first
	pages   []modelPage
	watches []*modelWatch
	writes  int // of the model itself, for contents that differ
}

const modelFirst = registry.DefaultFirstVersion

type modelChange struct {
	path          string
	before, after *lease.Lease // nil where there is none
}

// modelPage is a page still to be asked for.
type modelPage struct {
	opts    registry.ListOptions
	version uint64
	left    []*lease.Lease
}

// modelWatch is an open watch and the events that it has sent.
type modelWatch struct {
	w       *registry.Watcher
	opts    registry.ListOptions
	read    uint64   // all changes up to here were told
	unread  bool     // it starts in history, and has not looked at it yet
	initial []string // the state it starts with
	over    bool
}

func newModel(t *testing.T, history int) *model {
	st := newStoreWith(t, registry.Options{History: history})
	m := &model{
		T: t, st: st, leases: leasesIn(st), r: leaseResource(st), history: uint64(history),
		version: modelFirst, now: map[string]*lease.Lease{},
	}
	m.past = map[uint64]map[string]*lease.Lease{modelFirst: m.now}
	return m
}

// commit makes a change; after is nil for a deletion.
func (m *model) commit(path string, after *lease.Lease) {
	m.changes = append(m.changes, modelChange{path, m.now[path], after})
	m.version++
	m.now = maps.Clone(m.now)
	if after == nil {
		delete(m.now, path)
	} else {
		m.now[path] = after
	}
	m.past[m.version] = m.now
}

// oldest is the oldest version that history can still tell.
func (m *model) oldest() uint64 { return max(modelFirst, m.version-min(m.version, m.history)) }

func (m *model) same(what string, got, want *lease.Lease) {
	m.Helper()
	// Owners are tested in internal/managedfields.
	g, w := *got, *want
	g.ManagedFields, w.ManagedFields = nil, nil
	got, want = &g, &w
	if !reflect.DeepEqual(got, want) {
		m.Fatalf("%s at %d: got\n%+v\nwant\n%+v", what, m.version, got, want)
	}
}

func (m *model) fails(what string, err, want error) bool {
	m.Helper()
	if !errors.Is(err, want) {
		m.Fatalf("%s at %d: got error %v, want %v", what, m.version, err, want)
	}
	return want != nil
}

// changed returns a copy of l under another version.
func changed(l *lease.Lease, version uint64, change func(*lease.Lease)) *lease.Lease {
	out := *l
	out.ResourceVersion = rv(version)
	if change != nil {
		change(&out)
	}
	return &out
}

// decorate changes labels and finalizers as the bits of how say.
func (m *model) decorate(l *lease.Lease, how byte) {
	m.writes++
	if how&1 != 0 {
		l.Spec.HolderIdentity = new(fmt.Sprint(m.writes))
	}
	switch how >> 1 & 3 {
	case 1:
		l.Labels = map[string]string{"k": "in"}
	case 2:
		l.Labels = nil
	}
	switch how >> 3 & 3 {
	case 1:
		l.Finalizers = []string{"a/f"}
	case 2:
		l.Finalizers = []string{"a/g", "orphan"}
	case 3:
		l.Finalizers = nil
	}
}

func (m *model) create(path string, how byte) {
	l := newLease(path)
	m.decorate(l, how)
	if how&32 != 0 {
		l.Generation = 3
	}
	opts := store.CreateOptions{DryRun: how&64 != 0}
	got, err := m.leases.Create(context.Background(), l, opts)
	var want error
	if m.now[path] != nil {
		want = store.ErrAlreadyExists
	}
	if m.fails("create", err, want) {
		return
	}
	m.created(path, got, l, opts.DryRun)
}

// created takes from the answer to a create what only the server knows.
func (m *model) created(path string, got, sent *lease.Lease, dry bool) {
	want := changed(sent, m.version+1, func(l *lease.Lease) {
		l.UID, l.CreationTimestamp = got.UID, meta.NewTime(epoch)
		if dry {
			l.ResourceVersion = sent.ResourceVersion // the storage was not asked
		}
	})
	m.same("create", got, want)
	if !dry {
		m.commit(path, want)
	}
}

func (m *model) update(path string, how, version byte) {
	have := m.now[path]
	l := newLease(path)
	if have != nil {
		l = changed(have, m.version, nil)
		l.ResourceVersion = have.ResourceVersion
	}
	m.decorate(l, how)
	var want error
	switch version % 8 {
	case 0:
		l.ResourceVersion, want = "", store.ErrInvalid
	case 1:
		l.ResourceVersion, want = "1", store.ErrConflict
	}
	opts := store.UpdateOptions{DryRun: how&64 != 0}
	got, err := m.leases.Update(context.Background(), l, opts)
	if have == nil {
		m.fails("update", err, nil)
		m.created(path, got, l, opts.DryRun)
		return
	}
	terminating := have.DeletionTimestamp != nil
	added := slices.ContainsFunc(l.Finalizers, func(f string) bool { return !slices.Contains(have.Finalizers, f) })
	if want == nil && terminating && added {
		want = store.ErrInvalid
	}
	if m.fails("update", err, want) {
		return
	}
	switch {
	case terminating && len(l.Finalizers) == 0:
		m.same("update", got, l)
		if !opts.DryRun {
			m.commit(path, nil)
		}
	case reflect.DeepEqual(l, have), opts.DryRun:
		m.same("update", got, l)
	default:
		next := changed(l, m.version+1, nil)
		m.same("update", got, next)
		m.commit(path, next)
	}
}

func (m *model) delete(path string, policy, how byte) {
	have := m.now[path]
	var opts kinds.DeleteOptions
	var want error
	switch {
	case have == nil:
		want = store.ErrNotFound
	case how%8 == 0:
		opts.Preconditions = &kinds.Preconditions{ResourceVersion: new("1")}
		want = store.ErrConflict
	case how%8 == 1:
		opts.Preconditions = &kinds.Preconditions{ResourceVersion: &have.ResourceVersion, UID: &have.UID}
	}
	p := []meta.DeletionPropagation{"", "Background", "Orphan", "Foreground"}[policy%4]
	if p != "" {
		opts.PropagationPolicy = &p
	}
	if how&64 != 0 {
		opts.DryRun = dryAll
	}
	got, err := m.leases.Delete(context.Background(), objectMeta(path).Namespace, objectMeta(path).Name, opts)
	if m.fails("delete", err, want) {
		return
	}
	remaining := remainingFinalizers(have.Finalizers, p)
	if len(remaining) == 0 {
		gone := changed(have, m.version+1, nil)
		switch {
		case opts.DryRun != nil && len(have.Finalizers) > 0:
			m.same("delete", got, new(lease.Lease)) // as on a real server
			return
		case opts.DryRun != nil:
			m.same("delete", got, have)
			return
		}
		m.same("delete", got, gone)
		m.commit(path, nil)
		return
	}
	marked := changed(have, m.version+1, func(l *lease.Lease) {
		l.Finalizers = remaining
		if l.DeletionTimestamp == nil {
			l.DeletionTimestamp, l.DeletionGracePeriodSeconds = new(meta.NewTime(epoch)), new(int64(0))
			if l.Generation > 0 {
				l.Generation++
			}
		}
	})
	if opts.DryRun != nil || have.DeletionTimestamp != nil && slices.Equal(remaining, have.Finalizers) {
		marked.ResourceVersion = have.ResourceVersion
		m.same("delete", got, marked)
		return
	}
	m.same("delete", got, marked)
	m.commit(path, marked)
}

// remainingFinalizers returns the finalizers that a deletion under a policy leaves.
func remainingFinalizers(have []string, p meta.DeletionPropagation) []string {
	if p == "" {
		return have
	}
	policy := map[meta.DeletionPropagation]string{"Orphan": "orphan", "Foreground": "foregroundDeletion"}[p]
	if policy != "" && slices.Contains(have, policy) {
		return have // the two exclude each other
	}
	var out []string
	for _, f := range have {
		if f != "orphan" && f != "foregroundDeletion" {
			out = append(out, f)
		}
	}
	if policy != "" {
		out = append(out, policy)
	}
	return out
}

// at returns the expected list at a version, from a key on.
func (m *model) at(version uint64, opts registry.ListOptions, from string) []*lease.Lease {
	var out []*lease.Lease
	state := m.past[version]
	for _, path := range slices.Sorted(maps.Keys(state)) {
		l := state[path]
		if path >= from && (opts.Namespace == "" || l.Namespace == opts.Namespace) && (opts.LabelSelector == "" || l.Labels["k"] == "in") {
			out = append(out, l)
		}
	}
	return out
}

// list asks for the first page of a state, which is the current state for version 0.
func (m *model) list(opts registry.ListOptions, version uint64) {
	var want error
	if version == 0 {
		version = m.version
	} else {
		opts.ResourceVersion, opts.ResourceVersionMatch = rv(version), registry.MatchExact
		if version < m.oldest() {
			want = store.ErrExpired
		}
	}
	items, lm, err := m.leases.List(m.Context(), opts)
	if m.fails("list", err, want) {
		return
	}
	opts.ResourceVersion, opts.ResourceVersionMatch = "", ""
	m.page(modelPage{opts, version, m.at(version, opts, "")}, items, lm)
}

// page compares a page with the rest of its list.
func (m *model) page(p modelPage, items []*lease.Lease, lm meta.ListMeta) {
	n := len(p.left)
	if p.opts.Limit > 0 {
		n = min(n, int(p.opts.Limit))
	}
	if len(items) != n || lm.ResourceVersion != rv(p.version) {
		m.Fatalf("page %+v: got %q at %s, want %q at %d", p.opts, paths(items), lm.ResourceVersion, paths(p.left[:n]), p.version)
	}
	for i, l := range items {
		m.same("page", l, p.left[i])
	}
	rest := p.left[n:]
	if p.opts.LabelSelector == "" {
		count := int64(0)
		if lm.RemainingItemCount != nil {
			count = *lm.RemainingItemCount
		}
		if (lm.Continue != "") != (len(rest) > 0) || count != int64(len(rest)) {
			m.Fatalf("page %+v: got %+v, want %d items to follow", p.opts, lm, len(rest))
		}
	} else if lm.Continue == "" && len(rest) > 0 {
		m.Fatalf("page %+v: got no token, want %d items to follow", p.opts, len(rest))
	}
	if lm.Continue != "" {
		p.opts.Continue, p.left = lm.Continue, rest
		m.pages = append(m.pages, p)
	}
}

func (m *model) nextPage(which byte) {
	if len(m.pages) == 0 {
		return
	}
	i := int(which) % len(m.pages)
	p := m.pages[i]
	m.pages = slices.Delete(m.pages, i, i+1)
	var want error
	if p.version < m.oldest() {
		want = store.ErrExpired
	}
	items, lm, err := m.leases.List(m.Context(), p.opts)
	if !m.fails("next page", err, want) {
		m.page(p, items, lm)
		return
	}
	// The error has a token for going on with the state of now.
	p.opts.Continue = statusOf(m, err).Continue
	items, lm, err = m.leases.List(m.Context(), p.opts)
	m.fails("next page", err, nil)
	p.version = m.version
	var token struct{ Start string }
	text, err := base64.RawURLEncoding.DecodeString(p.opts.Continue)
	m.fails("next page", err, nil)
	m.fails("next page", json.Unmarshal(text, &token), nil)
	from := token.Start // without a slash, unlike other tokens
	if p.opts.Namespace != "" {
		from = p.opts.Namespace + "/" + from
	}
	p.left = m.at(m.version, p.opts, from)
	m.page(p, items, lm)
}

func (m *model) watch(opts registry.ListOptions, back byte) {
	w := &modelWatch{opts: opts, read: m.version}
	if back < 128 {
		w.read = max(modelFirst, m.version-min(m.version, uint64(back)))
		w.opts.ResourceVersion = rv(w.read)
		w.unread = w.read < m.version
	} else {
		for _, l := range m.at(m.version, registry.ListOptions{Namespace: opts.Namespace, LabelSelector: opts.LabelSelector}, "") {
			if opts.Name == "" || opts.Name == l.Name {
				w.initial = append(w.initial, fmt.Sprintf("ADDED %s/%s@%s", l.Namespace, l.Name, l.ResourceVersion))
			}
		}
	}
	expired := w.read < m.oldest()
	var err error
	w.w, err = m.r.Watch(m.Context(), w.opts)
	m.fails("watch", err, nil)
	if expired {
		_, err = w.w.Next(m.Context())
		m.fails("watch", err, store.ErrExpired)
		w.w.Close()
		return
	}
	m.Cleanup(w.w.Close)
	m.watches = append(m.watches, w)
}

// read demands of a watch all that it has to tell, and no more.
func (m *model) read(w *modelWatch) {
	if w.over {
		return
	}
	want := w.initial
	expired := false
	if len(want) == 0 {
		want, expired = m.events(w)
	}
	if expired {
		_, err := w.w.Next(m.Context())
		m.fails("watch", err, store.ErrExpired)
		w.over = true
		return
	}
	if len(want) == 0 {
		return // Next would wait
	}
	if len(w.initial) == 0 {
		w.read, w.unread = m.version, false
	}
	w.initial = nil
	events, err := w.w.Next(m.Context())
	m.fails("watch", err, nil)
	var got []string
	for _, ev := range events {
		got = append(got, eventText(ev))
	}
	if !slices.Equal(got, want) {
		m.Fatalf("watch %+v at %d: got %q, want %q", w.opts, m.version, got, want)
	}
	m.contents(events)
}

// events returns what a watch has not been told yet, and whether it waited too
// long to be told.
func (m *model) events(w *modelWatch) (out []string, expired bool) {
	if w.unread && w.read < m.oldest() {
		return nil, true
	}
	seen := func(l *lease.Lease) bool { return l != nil && (w.opts.LabelSelector == "" || l.Labels["k"] == "in") }
	for v := w.read + 1; v <= m.version; v++ {
		c := m.changes[v-modelFirst-1]
		at := objectMeta(c.path)
		if w.opts.Namespace != "" && at.Namespace != w.opts.Namespace {
			continue
		}
		// A name has a scope of its own only inside a namespace.
		if w.opts.Name != "" && at.Name != w.opts.Name && w.opts.Namespace != "" {
			continue
		}
		if v <= m.oldest() {
			return nil, true
		}
		if w.opts.Name != "" && at.Name != w.opts.Name {
			continue
		}
		switch before, after := seen(c.before), seen(c.after); {
		case before && after:
			out = append(out, fmt.Sprintf("MODIFIED %s@%d", c.path, v))
		case after:
			out = append(out, fmt.Sprintf("ADDED %s@%d", c.path, v))
		case before:
			out = append(out, fmt.Sprintf("DELETED %s@%d", c.path, v))
		}
	}
	return out, false
}

// contents holds the objects of events against the changes they tell of.
func (m *model) contents(events []registry.ItemEvent) {
	for _, ev := range events {
		got := ev.Item.Copy().(*lease.Lease)
		var version uint64
		fmt.Sscan(got.ResourceVersion, &version)
		c := m.changes[version-modelFirst-1]
		want := c.after
		if ev.Type == watch.Deleted {
			want = changed(c.before, version, nil)
		}
		m.same("event "+eventText(ev), got, want)
	}
}

// run does operations and then looks at all there is.
func (m *model) run(ops []byte) {
	m.do(ops)
	m.finish()
}

// do takes its operations from bytes, four for each.
func (m *model) do(ops []byte) {
	for len(ops) >= 4 {
		op, what, a, b := ops[0], ops[1], ops[2], ops[3]
		ops = ops[4:]
		namespaces := []string{"a", "a-b", "b"}
		path := fmt.Sprintf("%s/%d", namespaces[what%3], what/3%3)
		list := registry.ListOptions{Limit: int64(a % 5)}
		if a&64 != 0 {
			list.Namespace = namespaces[what%3]
		}
		if a&128 != 0 {
			list.LabelSelector = "k=in"
		}
		switch op % 10 {
		case 0, 1:
			m.create(path, a)
		case 2, 3:
			m.update(path, a, b)
		case 4:
			m.delete(path, a, b)
		case 5:
			m.list(list, 0)
		case 6:
			m.list(list, max(modelFirst, m.version-min(m.version, uint64(b))))
		case 7:
			m.nextPage(what)
		case 8:
			w := registry.ListOptions{Namespace: list.Namespace, LabelSelector: list.LabelSelector}
			if a&32 != 0 {
				w.Name = fmt.Sprint(what / 3 % 3)
			}
			if len(m.watches) < 20 {
				m.watch(w, b)
			}
		case 9:
			if len(m.watches) > 0 {
				m.read(m.watches[int(what)%len(m.watches)])
			}
		}
		if v := m.versionOfStore(); v != m.version {
			m.Fatalf("operation %d of %d: got version %d, want %d", op%10, what, v, m.version)
		}
	}
}

// finish demands all that watches and tokens still have to tell, and the state at
// every version.
func (m *model) finish() {
	for _, w := range m.watches {
		m.read(w) // the initial state
		m.read(w)
	}
	for len(m.pages) > 0 {
		m.nextPage(0)
	}
	for v := range m.past {
		m.list(registry.ListOptions{}, v)
	}
}

func (m *model) versionOfStore() uint64 {
	l, err := m.r.List(m.Context(), registry.ListOptions{Namespace: "none"})
	m.fails("list", err, nil)
	return l.ResourceVersion
}

func randomOps(seed uint64, n int) []byte {
	rnd := rand.New(rand.NewPCG(seed, seed))
	ops := make([]byte, 4*n)
	for i := range ops {
		ops[i] = byte(rnd.Uint32())
	}
	return ops
}

// FuzzStoreModel runs operations against a store and a model of it.
func FuzzStoreModel(f *testing.F) {
	for seed := range uint64(8) {
		f.Add(byte(1<<seed-1), randomOps(seed, 60))
	}
	f.Add(byte(3), []byte("0000111122223333444455556666777788889999"))
	f.Fuzz(func(t *testing.T, history byte, ops []byte) {
		newModel(t, int(history)+1).run(ops[:min(len(ops), 4*500)])
	})
}

func TestStoreBehavesAsItsModel(t *testing.T) {
	for _, history := range []int{1, 2, 8, 50, 400} {
		for seed := range uint64(8) {
			t.Run(fmt.Sprintf("history=%d/seed=%d", history, seed), func(t *testing.T) {
				newModel(t, history).run(randomOps(seed+uint64(history)<<32, 300))
			})
		}
	}
}
