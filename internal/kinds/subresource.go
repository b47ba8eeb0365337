package kinds

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/kubecoord/kubecoord/internal/managedfields"
	"github.com/kubecoord/kubecoord/store/field"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// Subresource is a subresource of a Kind.
type Subresource struct {
	kind.Subresource[Object]
	kind.NativeSubresource[Object]
	Body *Kind // or nil for the kind of the parent

	managers *managedfields.FieldManager // of the bodies
	mapping  *managedfields.Mapping      // nil without a Body
}

// compileSubresources adds the status to the subresources, and their field managers to all.
func (k *Kind) compileSubresources() {
	all := k.of.Subresources
	if k.info.Status && !slices.ContainsFunc(all, func(s kind.Subresource[Object]) bool { return s.Name == memberStatus }) {
		all = append([]kind.Subresource[Object]{{
			Name: memberStatus, Verbs: []string{"get", "patch", "update"}, Resets: []string{"metadata", "spec"},
			Write: func(parent, body Object) error {
				k.Type().CopyMember(parent, body, memberStatus)
				return nil
			},
		}}, all...)
	}
	for _, s := range all {
		compiled := Subresource{Subresource: s, NativeSubresource: valueOf(s.Native)}
		if s.Body != nil {
			compiled.Body = Of(s.Body)
		}
		k.subresources = append(k.subresources, compiled)
	}
	if k.info.Native {
		slices.SortFunc(k.subresources, func(a, b Subresource) int { return cmp.Compare(a.Name, b.Name) })
	}
	for i := range k.subresources {
		s := &k.subresources[i]
		if s.managers = new(*k.managers); s.Body != nil {
			s.managers, s.mapping = new(*s.Body.managers), k.mapping(s)
			s.managers.Unconvertible = !k.info.Native
		}
		s.managers.Subresource, s.managers.Reset = s.Name, s.Resets
		for v := range k.versions {
			if k.lacks(v, s.Name) {
				s.managers.Without = append(s.managers.Without, k.TypeMeta(v).APIVersion)
			}
		}
	}
}

// checkSubresource refuses a subresource that lacks a function for one of its verbs.
func checkSubresource(s *kind.Subresource[Object]) error {
	writes := slices.Contains(s.Verbs, "patch") || slices.Contains(s.Verbs, "update")
	creates := slices.Contains(s.Verbs, "create")
	lacks, native := "", valueOf(s.Native)
	switch {
	case native.Connect != nil:
	case s.Body == nil && creates:
		lacks = "a Body for create"
	case s.Body != nil && s.Read == nil && (writes || slices.Contains(s.Verbs, "get")):
		lacks = "Read"
	case s.Write == nil && (writes || creates && !native.Removes && s.Answer == nil):
		lacks = "Write"
	}
	if lacks == "" {
		return nil
	}
	return fmt.Errorf("Subresources: got %q without %s, want it for the verbs %v", s.Name, lacks, s.Verbs)
}

// mapping returns the member of the object that the body of a subresource writes.
func (k *Kind) mapping(s *Subresource) *managedfields.Mapping {
	path := []string{"spec", "replicas"}
	m := &managedfields.Mapping{Parent: map[string][]string{}, Body: path, BodyVersion: s.Body.TypeMeta(0).APIVersion}
	if s.Member != nil {
		path = s.Member
	}
	for i := range k.versions {
		m.Parent[k.TypeMeta(i).APIVersion] = path
	}
	return m
}

// Subresource returns the subresource of a name, or nil.
func (k *Kind) Subresource(name string) *Subresource {
	for i := range k.subresources {
		if k.subresources[i].Name == name {
			return &k.subresources[i]
		}
	}
	return nil
}

// SubresourceIn returns the subresource of a name in a version, or nil.
func (k *Kind) SubresourceIn(version int, name string) *Subresource {
	if k.lacks(version, name) {
		return nil
	}
	return k.Subresource(name)
}

// SubresourcesIn iterates over the subresources of a version in the order of discovery: by name, or the status first if the kind is not
// Native. They must not be changed.
func (k *Kind) SubresourcesIn(version int) iter.Seq[*Subresource] {
	return func(yield func(*Subresource) bool) {
		for i := range k.subresources {
			if s := &k.subresources[i]; !k.lacks(version, s.Name) && !yield(s) {
				return
			}
		}
	}
}

// lacks reports whether a version does not have a subresource that the kind has.
func (k *Kind) lacks(version int, subresource string) bool {
	return slices.Contains(k.versions[version].lacks, subresource)
}

// Managers returns the field managers of a subresource, or of the object in a version if s is nil.
func (k *Kind) Managers(s *Subresource, version int) *managedfields.FieldManager {
	switch {
	case s != nil:
		return s.managers
	case k.whole != nil && k.lacks(version, memberStatus):
		return k.whole
	}
	return k.managers
}

// PrepareSubresource returns a copy of the current state with the changes that a body of the parent's kind may make
// through a subresource, and with the managers of the body.
func (k *Kind) PrepareSubresource(ctx context.Context, s *Subresource, body, current Object) (Object, error) {
	current, err := k.AsReceived(ctx, k.versionOf(body), current)
	if err != nil {
		return nil, err
	}
	o := k.Copy(current)
	if err := s.Write(o, body); err != nil {
		return nil, err
	}
	m, sent := o.GetObjectMeta(), body.GetObjectMeta()
	m.ManagedFields = sent.ManagedFields
	if k.info.Native && !s.KeepsIdentity { // the validation refuses another identity (upstream: ResetObjectMetaForStatus leaves it)
		m.UID, m.GenerateName, m.DeletionGracePeriodSeconds = cmp.Or(sent.UID, m.UID), sent.GenerateName, sent.DeletionGracePeriodSeconds
	}
	if s.Name != memberStatus && k.counts(o, current) {
		m.Generation++
	}
	return o, nil
}

// validateWith returns the function that validates a write through a subresource, or nil.
func (k *Kind) validateWith(s *Subresource, version int) func(obj, old Object) field.Errors {
	switch {
	case s.Validate != nil:
		return s.Validate
	case s.Name == memberStatus:
		return k.versions[version].validateStatus
	}
	return k.versions[version].validate
}

// BodyOf returns the body that an update of a subresource begins with, with the managers of the member that it writes.
func (s *Subresource) BodyOf(parent Object) (Object, error) {
	read := s.Read
	if s.Start != nil {
		read = s.Start
	}
	body, err := read(parent)
	if err != nil {
		return nil, err
	}
	body.GetObjectMeta().ManagedFields, err = s.mapping.ToBody(parent.GetObjectMeta().ManagedFields)
	return body, err
}

// WriteBody changes a copy of the state as a body asks. The managers of the body become the managers of its member, in an
// apiVersion of the parent.
func (s *Subresource) WriteBody(parent, body Object, apiVersion string) error {
	if err := s.Write(parent, body); err != nil {
		return err
	}
	m, b := parent.GetObjectMeta(), body.GetObjectMeta()
	m.ResourceVersion = cmp.Or(b.ResourceVersion, m.ResourceVersion)
	managers, err := s.mapping.ToParent(m.ManagedFields, b.ManagedFields, apiVersion)
	m.ManagedFields = managers
	return err
}

// DeleteOptionsOf returns the options in the member deleteOptions of a body, such as an Eviction.
func (s *Subresource) DeleteOptionsOf(body Object) (o DeleteOptions, err error) {
	options, _ := s.Body.Type().ToUnstructured(body)["deleteOptions"].(map[string]any)
	_, err = deleteOptionsType().FromUnstructured(options, &o, false)
	o.TypeMeta = meta.TypeMeta{}
	return o, err
}
