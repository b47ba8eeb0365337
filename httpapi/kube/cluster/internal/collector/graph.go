package collector

import (
	"context"
	"slices"

	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// follow takes changes into the graph and queues what they concern. Without changes it reads the whole state.
func (c *collector) follow(ctx context.Context, changes []store.ObjectChange) {
	var reports []report
	defer func() {
		for _, r := range reports {
			c.reportNamespace(ctx, r)
		}
	}()
	kinds := c.api.Kinds()
	c.mu.Lock()
	defer c.mu.Unlock()
	if changes == nil {
		c.served, c.objects, c.owners = map[kind.Kind]bool{}, map[meta.UID]item{}, map[meta.UID][]meta.OwnerReference{}
		c.dependents = map[meta.UID]map[meta.UID]bool{}
	}
	for _, change := range changes {
		known := change.New == nil && c.objects[change.Old.GetObjectMeta().UID] != item{} // also of a kind that was just removed
		if c.served[change.Kind] || known {
			reports = append(reports, c.changeLocked(change)...)
		}
	}
	if changes != nil && slices.Equal(kinds, c.kinds) {
		return
	}
	c.kinds = kinds
	now := map[kind.Kind]bool{}
	for _, k := range kinds {
		if collected(k) {
			now[k.Untyped()] = true
		}
	}
	if len(now) == len(c.served) && !slices.ContainsFunc(kinds, func(k kind.Kind) bool { return now[k.Untyped()] && !c.served[k.Untyped()] }) {
		return
	}
	before := c.served
	c.served = now
	for k := range now {
		if before[k] {
			continue
		}
		r, err := c.st.Objects(k)
		if err != nil {
			continue
		}
		for o := range r.All("") {
			reports = append(reports, c.changeLocked(store.ObjectChange{Kind: k, New: o})...)
		}
	}
	for t := range c.parked {
		c.queue.Add(t)
	}
	clear(c.parked)
}

// changeLocked takes one change into the graph (upstream: graph_builder.go, processGraphChanges).
func (c *collector) changeLocked(change store.ObjectChange) (reports []report) {
	if change.New == nil {
		c.goneLocked(identify(change.Kind, change.Old), change.Old.GetObjectMeta())
		return nil
	}
	it, m := identify(change.Kind, change.New), change.New.GetObjectMeta()
	if _, known := c.objects[it.uid]; !known {
		c.objects[it.uid] = it
		for dependent := range c.dependents[it.uid] {
			if of := c.objects[dependent]; outside(it, of) {
				reports = append(reports, report{of, it.uid})
				c.queue.Add(task{item: of})
			}
		}
	}
	before := c.owners[it.uid]
	if !slices.EqualFunc(before, m.OwnerReferences, sameReference) {
		reports = append(reports, c.referLocked(it, before, m.OwnerReferences)...)
	}
	var old *meta.ObjectMeta
	if change.Old != nil {
		old = change.Old.GetObjectMeta()
	}
	if deletesDependents(m) && (old == nil || !deletesDependents(old)) {
		for _, dependent := range c.dependentsLocked(it.uid) {
			c.queue.Add(task{item: dependent})
		}
		c.queue.Add(task{item: it})
	}
	if orphans(m) && (old == nil || !orphans(old)) {
		c.queue.Add(task{item: it, orphan: true})
	}
	return reports
}

// referLocked replaces the references of an object.
func (c *collector) referLocked(it item, before, now []meta.OwnerReference) (reports []report) {
	for _, ref := range before {
		i := slices.IndexFunc(now, func(r meta.OwnerReference) bool { return r.UID == ref.UID })
		if i < 0 {
			c.unreferLocked(it.uid, ref.UID)
		}
		if blocks(ref) && (i < 0 || !blocks(now[i])) {
			if owner, ok := c.objects[ref.UID]; ok {
				c.queue.Add(task{item: owner})
			}
		}
	}
	for _, ref := range now {
		if c.dependents[ref.UID] == nil {
			c.dependents[ref.UID] = map[meta.UID]bool{}
		}
		added := !c.dependents[ref.UID][it.uid]
		c.dependents[ref.UID][it.uid] = true
		if owner, ok := c.objects[ref.UID]; added && ok && outside(owner, it) {
			reports = append(reports, report{it, ref.UID})
		}
	}
	if c.owners[it.uid] = now; len(now) == 0 {
		delete(c.owners, it.uid)
		return reports
	}
	c.queue.Add(task{item: it})
	return reports
}

func (c *collector) unreferLocked(dependent, owner meta.UID) {
	delete(c.dependents[owner], dependent)
	if len(c.dependents[owner]) == 0 {
		delete(c.dependents, owner)
	}
}

// goneLocked takes an object that is gone out of the graph.
func (c *collector) goneLocked(it item, m *meta.ObjectMeta) {
	delete(c.objects, it.uid)
	for _, ref := range c.owners[it.uid] {
		c.unreferLocked(it.uid, ref.UID)
		if owner, ok := c.objects[ref.UID]; ok && blocks(ref) {
			c.queue.Add(task{item: owner})
		}
	}
	delete(c.owners, it.uid)
	for _, dependent := range c.dependentsLocked(it.uid) {
		for _, ref := range c.owners[dependent.uid] {
			if ref.UID == it.uid && ref.Name == it.name && (it.namespace == "" || it.namespace == dependent.namespace) {
				c.absent.add(ref, it.namespace)
			}
		}
		c.queue.Add(task{item: dependent})
	}
}

// dependentsLocked returns the dependents of an object, in the order of their names.
func (c *collector) dependentsLocked(owner meta.UID) (out []item) {
	for uid := range c.dependents[owner] {
		if it, ok := c.objects[uid]; ok {
			out = append(out, it)
		}
	}
	slices.SortFunc(out, compareItems)
	return out
}

// outside reports whether an owner is in another namespace than its dependent, which has no owner then.
func outside(owner, dependent item) bool {
	return owner.namespace != "" && owner.namespace != dependent.namespace
}

func identify(k kind.Kind, o meta.Object) item {
	m := o.GetObjectMeta()
	return item{k.GroupResource(), m.Namespace, m.Name, m.UID}
}

func deletesDependents(m *meta.ObjectMeta) bool {
	return m.DeletionTimestamp != nil && slices.Contains(m.Finalizers, meta.FinalizerDeleteDependents)
}

func orphans(m *meta.ObjectMeta) bool {
	return m.DeletionTimestamp != nil && slices.Contains(m.Finalizers, meta.FinalizerOrphanDependents)
}

func blocks(ref meta.OwnerReference) bool {
	return ref.BlockOwnerDeletion != nil && *ref.BlockOwnerDeletion
}

func sameReference(a, b meta.OwnerReference) bool {
	return a.UID == b.UID && a.Name == b.Name && a.Kind == b.Kind && a.APIVersion == b.APIVersion && blocks(a) == blocks(b) &&
		(a.Controller != nil && *a.Controller) == (b.Controller != nil && *b.Controller)
}
