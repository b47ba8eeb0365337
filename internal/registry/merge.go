package registry

import "github.com/kubecoord/kubecoord/internal/patch"

// mergeOrdinary applies an ordinary merge patch to the fields of the object. The result is
// that of [patch.Merge], which builds and decodes the merged document.
// mergeOrdinary returns false for patches that need the document: to report a
// problem, or because they have something unusual.
func (c Patch) mergeOrdinary(t Target, current *Item) (Object, bool) {
	// For a custom resource, Ignore changes more than the answer to a problem: see decodeCustom.
	if c.Type != MergePatch || t.Kind.info.Unstructured || c.Validation == patch.Ignore && !t.Kind.info.Native {
		return nil, false
	}
	o := t.decoded(current)
	if o == nil {
		return nil, false
	}
	*o.GetTypeMeta() = t.typeMeta()
	return o, t.schema().MergeJSON(c.Data, o) && *o.GetTypeMeta() == t.typeMeta()
}

// decoded returns what decoding the JSON of an item returns, or nil if that is not simple.
// It may share memory with the item.
func (t Target) decoded(current *Item) Object {
	if t.stored(current) != nil && t.schema().RoundTrips(current.obj) {
		if t.Kind.pure {
			return t.schema().CopyStruct(current.obj).(Object) // the patch replaces what it changes
		}
		return t.Kind.copy(current.obj)
	}
	live, err := current.Encoded(t.Version, JSON)
	if err != nil {
		return nil
	}
	o := t.Kind.newWire(t.Version)
	if _, err := t.schema().DecodeJSON(live, o, false); err != nil {
		return nil
	}
	return o
}

// stored returns the stored object of an item if it has the shape of the target, or nil.
func (t Target) stored(it *Item) any {
	if it == nil || it.kind != t.Kind || t.Kind.versions[t.Version].form != 0 {
		return nil
	}
	return it.obj
}

// document applies a patch to the JSON of the object.
func (c Patch) document(t Target, current *Item, req *Request) (Object, error) {
	apply := patch.JSON
	switch c.Type {
	case MergePatch:
		apply = patch.Merge
	case StrategicMergePatch:
		apply = patch.Strategic
	}
	patched, warnings, err := apply(c.target(t, current), c.Data, c.Validation)
	if err != nil {
		return nil, err
	}
	for _, text := range warnings {
		req.warn(text)
	}
	return patched.(Object), nil
}
