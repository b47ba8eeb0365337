package registry

// State returns what several collections hold at one and the same version, each
// in the order of "namespace/name". It is what Restore puts back.
func (st *Store) State(resources ...*Resource) (items [][]*Item, version uint64) {
	snapshots := make([]snapshot, len(resources))
	st.mu.Lock()
	for i, r := range resources {
		snapshots[i] = r.snapshotLocked()
	}
	version = st.version
	st.mu.Unlock()
	for i, r := range resources {
		items = append(items, (&selection{kind: r.kind}).page(snapshots[i], "", 0).Items)
	}
	return items, version
}

// FaithfulVersion returns the index of the API version to write an object in that
// is to be put back: the first one which says all there is to say and whose rules
// for a create it meets. Where a version says less than is stored, as those of
// LeaseCandidate do that have no list of strategies, it need not be the preferred
// one. It is that one where none will do.
func (it *Item) FaithfulVersion() int {
	d := it.kind
	if len(d.versions) == 1 {
		return 0
	}
	whole := -1
	for v := range d.versions {
		o := it.reread(v)
		if o == nil || !d.forms[0].typ.Equal(o, it.obj) {
			continue
		}
		if len(d.validateCreate(v, o)) == 0 {
			return v
		}
		if whole < 0 {
			whole = v
		}
	}
	return max(whole, 0)
}

// reread returns what comes of an object that is written in a version and read
// again, in the stored form, or nil where it cannot be.
func (it *Item) reread(version int) Object {
	data, err := it.Encoded(version, JSON)
	if err != nil {
		return nil
	}
	f := it.kind.forms[it.kind.versions[version].form]
	o := f.newWire()
	if _, err := f.typ.DecodeJSON(data, o, false); err != nil {
		return nil
	}
	return it.kind.fromWire(version, o)
}
