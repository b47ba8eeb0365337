package managedfields

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/kubecoord/kubecoord/store/meta"
)

// identity identifies a manager. An applier has one identity for all versions; an
// updater has one for each version.
type identity struct {
	Manager     string                          `json:"manager,omitempty"`
	Operation   meta.ManagedFieldsOperationType `json:"operation,omitempty"`
	APIVersion  string                          `json:"apiVersion,omitempty"`
	Subresource string                          `json:"subresource,omitempty"`
}

func updater(manager, apiVersion, subresource string) identity {
	return identity{
		Manager: managerName(manager), Operation: meta.ManagedFieldsOperationUpdate, APIVersion: apiVersion, Subresource: subresource,
	}
}

func applier(manager, subresource string) identity {
	return identity{Manager: managerName(manager), Operation: meta.ManagedFieldsOperationApply, Subresource: subresource}
}

// managerName returns the name under which a manager is recorded.
func managerName(name string) string {
	if !utf8.ValidString(name) {
		name = string([]rune(name))
	}
	return cmp.Or(name, "unknown")
}

// order returns the sort key of upstream for managers: the JSON of the identity.
func (id identity) order() string {
	text, _ := json.Marshal(id) // strings always encode
	return string(text)
}

// String returns the name of the manager in the texts of conflicts.
func (id identity) String() string {
	text := fmt.Sprintf("%q", id.Manager)
	if id.Subresource != "" {
		text += fmt.Sprintf(" with subresource %q", id.Subresource)
	}
	if id.Operation == meta.ManagedFieldsOperationUpdate {
		text += " using " + id.APIVersion
	}
	return text
}

// owner is a manager and its fields.
type owner struct {
	identity
	version string // the API version of fields
	fields  *set
	time    *meta.Time
	had     *meta.FieldsV1 // what fields was decoded from, or nil
	from    *parsedSet     // the set of had
}

// encoded returns the form that the fields were decoded from, or nil if they have changed or have another form.
func (o *owner) encoded() *meta.FieldsV1 {
	if o.had == nil || !o.from.plain || o.fields != o.from.fields {
		return nil
	}
	return o.had
}

// owners are the managers of one object. Each identity occurs once.
type owners []owner

func (os owners) find(id identity) *owner {
	for i := range os {
		if os[i].identity == id {
			return &os[i]
		}
	}
	return nil
}

// findIn is find by the indexes of the owners, if at has them.
func (os owners) findIn(at map[identity]int, id identity) *owner {
	if at == nil {
		return os.find(id)
	}
	if i, ok := at[id]; ok {
		return &os[i]
	}
	return nil
}

// sameVersion reports whether the sets of all owners are of one version.
func (os owners) sameVersion() bool {
	return !slices.ContainsFunc(os, func(o owner) bool { return o.version != os[0].version })
}

// put returns the owners with o replaced or added. If o has no fields, it is removed.
// put does not change os.
func (os owners) put(o owner) owners {
	out := slices.DeleteFunc(slices.Clone(os), func(have owner) bool { return have.identity == o.identity })
	if o.fields != nil {
		out = append(out, o)
	}
	return out
}

// Check returns the problem of entries that cannot be read, or nil.
func (k *FieldManager) Check(entries []meta.ManagedFieldsEntry) error {
	_, err := k.decode(entries)
	return err
}

// decode returns the owners of an object.
func (k *FieldManager) decode(entries []meta.ManagedFieldsEntry) (owners, error) {
	var at map[identity]int // of many
	os := make(owners, 0, len(entries))
	if len(entries) > 8 {
		at = make(map[identity]int, len(entries))
	}
	for i := range entries {
		o, err := k.decodeEntry(&entries[i], i)
		if err != nil {
			return nil, err
		}
		if have := os.findIn(at, o.identity); have != nil {
			*have = o
			continue
		}
		if at != nil {
			at[o.identity] = len(os)
		}
		os = append(os, o)
	}
	return os, nil
}

func (k *FieldManager) decodeEntry(e *meta.ManagedFieldsEntry, at int) (owner, error) {
	switch {
	case e.Operation != meta.ManagedFieldsOperationApply && e.Operation != meta.ManagedFieldsOperationUpdate:
		return owner{}, fmt.Errorf("operation must be `Apply` or `Update`")
	case e.APIVersion == "":
		return owner{}, fmt.Errorf("apiVersion must not be empty")
	case e.FieldsType == "":
		return owner{}, fmt.Errorf("missing fieldsType in managed fields entry %d", at)
	case e.FieldsType != "FieldsV1":
		return owner{}, fmt.Errorf("invalid fieldsType %q in managed fields entry %d", e.FieldsType, at)
	}
	o := owner{
		identity: identity{Manager: e.Manager, Operation: e.Operation, APIVersion: e.APIVersion, Subresource: e.Subresource},
		version:  e.APIVersion, time: e.Time,
	}
	if e.Operation == meta.ManagedFieldsOperationApply {
		o.APIVersion = ""
	}
	if e.FieldsV1 == nil {
		return o, nil
	}
	p, err := k.parse(e.APIVersion, e.FieldsV1.Raw)
	if err != nil {
		return o, err
	}
	o.fields, o.had, o.from = p.fields, e.FieldsV1, p
	return o, nil
}

// encode returns the entries of the owners, or nil if there are none. Unchanged sets share
// memory with the entries they were decoded from.
func (os owners) encode() []meta.ManagedFieldsEntry {
	if len(os) == 0 {
		return nil
	}
	entries := make([]meta.ManagedFieldsEntry, len(os))
	for i, o := range os {
		encoded := o.encoded()
		if encoded == nil {
			encoded = &meta.FieldsV1{Raw: bytes.Clone(appendFields(make([]byte, 0, 512), o.fields))}
		}
		entries[i] = meta.ManagedFieldsEntry{
			Manager: o.Manager, Operation: o.Operation, APIVersion: o.version, Subresource: o.Subresource,
			Time: o.time, FieldsType: "FieldsV1", FieldsV1: encoded,
		}
	}
	sortEntries(entries)
	return entries
}

func sortEntries(entries []meta.ManagedFieldsEntry) {
	slices.SortFunc(entries, func(a, b meta.ManagedFieldsEntry) int { return compareEntries(&a, &b) })
}

// compareEntries compares entries for sorting: appliers come first, then older times.
func compareEntries(a, b *meta.ManagedFieldsEntry) int {
	if c := strings.Compare(string(a.Operation), string(b.Operation)); c != 0 {
		return c
	}
	if c := cmp.Compare(seconds(a.Time), seconds(b.Time)); c != 0 {
		return c
	}
	return cmp.Or(strings.Compare(a.Manager, b.Manager),
		strings.Compare(a.APIVersion, b.APIVersion), strings.Compare(a.Subresource, b.Subresource))
}

// seconds returns the sort key of a time in an entry; it is 0 for nil.
func seconds(t *meta.Time) int64 {
	if t == nil {
		return 0
	}
	return t.Unix()
}

// maxUpdaters is how many managers may own fields through updates.
const maxUpdaters = 10

// capped returns at most maxUpdaters updaters, and all appliers. While there are too
// many updaters, it merges the oldest ones of each API version into one (upstream:
// managedfields, capmanagers.go).
func (os owners) capped() owners {
	updaters := slices.DeleteFunc(slices.Clone(os), func(o owner) bool {
		return o.Operation != meta.ManagedFieldsOperationUpdate
	})
	if len(updaters) <= maxUpdaters {
		return os
	}
	slices.SortFunc(updaters, func(a, b owner) int {
		return cmp.Or(cmp.Compare(seconds(a.time), seconds(b.time)), strings.Compare(a.order(), b.order()))
	})
	left := make(map[identity]owner, len(os))
	for _, o := range os {
		left[o.identity] = o
	}
	first := map[string]identity{}   // the oldest updater of each version
	toMerge := map[identity][]*set{} // the sets to merge into each updater
	for count, i := len(updaters), 0; count > maxUpdaters && i < len(updaters); i++ {
		o := updaters[i]
		oldest, ok := first[o.version]
		if !ok {
			first[o.version] = o.identity
			continue
		}
		id := updater("ancient-changes", o.version, "")
		merged, ok := left[id]
		if !ok {
			merged = owner{identity: id, version: o.version, fields: left[oldest].fields}
			delete(left, oldest)
			toMerge[id] = nil
		}
		toMerge[id] = append(toMerge[id], o.fields)
		merged.time = o.time
		left[id] = merged
		// As upstream, o is removed even if others were merged into it.
		delete(left, o.identity)
		count--
	}
	out := make(owners, 0, len(left))
	for id, o := range left {
		o.fields = unionOf(append(toMerge[id], o.fields))
		out = append(out, o)
	}
	return out
}

// isReset reports whether a client asks to remove all owners.
func isReset(entries []meta.ManagedFieldsEntry) bool {
	switch len(entries) {
	case 0:
		return entries != nil
	case 1:
		return entries[0] == meta.ManagedFieldsEntry{}
	}
	return false
}

// Given returns the managedFields of a restored object in the form that this package
// writes. known is false if entries is nil. An empty list, or a list with one empty
// entry, means that there are no managers.
func Given(entries []meta.ManagedFieldsEntry) (_ []meta.ManagedFieldsEntry, known bool, err error) {
	if isReset(entries) {
		return nil, true, nil
	}
	os, err := new(FieldManager).decode(entries)
	if err != nil {
		return nil, true, err
	}
	return os.encode(), entries != nil, nil
}
