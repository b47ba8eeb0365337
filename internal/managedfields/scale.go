package managedfields

import (
	"maps"
	"slices"

	"github.com/kubecoord/kubecoord/store/meta"
)

// Mapping says which member of an object a subresource such as scale writes, whose bodies have a kind of their own
// (upstream: apimachinery, util/managedfields/scalehandler.go). The managers of that member are the managers of the
// body. As upstream, an entry that came through a body has no time.
type Mapping struct {
	// Parent has the path of the member in each apiVersion of the object, and Body in the body.
	Parent map[string][]string
	Body   []string
	// BodyVersion is the apiVersion of the body.
	BodyVersion string
}

// ToBody returns the managers of the body.
func (m *Mapping) ToBody(entries []meta.ManagedFieldsEntry) ([]meta.ManagedFieldsEntry, error) {
	parents, err := new(FieldManager).decode(entries)
	if err != nil {
		return nil, err
	}
	var os owners
	for _, o := range parents {
		if path := m.Parent[o.version]; path != nil && o.fields.hasMember(path) {
			o.version, o.fields = m.BodyVersion, fieldAt(m.Body)
			os = append(os, o)
		}
	}
	return os.encode(), nil
}

// ToParent returns the managers of the object after a write of a body, in a version of the object. had are the ones
// before, and entries the managers of the body after the write.
func (m *Mapping) ToParent(had, entries []meta.ManagedFieldsEntry, apiVersion string) ([]meta.ManagedFieldsEntry, error) {
	before, err := new(FieldManager).decode(had)
	if err != nil {
		return nil, err
	}
	bodies, err := new(FieldManager).decode(entries)
	if err != nil {
		return nil, err
	}
	left, times := map[identity]bool{}, map[identity]*meta.Time{}
	for _, o := range bodies {
		left[o.identity] = o.fields.hasMember(m.Body)
	}
	var os owners
	for _, o := range before {
		times[o.identity] = o.time
		path := m.Parent[o.version]
		if path == nil {
			continue
		}
		if o.fields.hasMember(path) {
			if _, still := left[o.identity]; !still {
				o.fields = difference(o.fields, fieldAt(path)) // another manager has taken it
			}
			delete(left, o.identity)
		}
		if o.fields != nil {
			os = append(os, o)
		}
	}
	for _, id := range slices.SortedFunc(maps.Keys(left), func(a, b identity) int { return len(a.order()) - len(b.order()) }) {
		if left[id] {
			os = append(os, owner{identity: id, version: apiVersion, fields: fieldAt(m.Parent[apiVersion]), time: times[id]})
		}
	}
	return os.encode(), nil
}

// fieldAt returns the set of one field.
func fieldAt(path []string) *set {
	n := node{step: member(path[len(path)-1]), member: true}
	for _, name := range slices.Backward(path[:len(path)-1]) {
		n = node{step: member(name), sub: &set{[]node{n}}}
	}
	return &set{[]node{n}}
}
