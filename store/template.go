package store

import (
	"context"
	"errors"
	"slices"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// Template is an object that was made ready once, to be put into any number of stores: it is neither validated nor copied again. It never
// changes, and may be used from any goroutine.
type Template struct {
	kind    *kinds.Kind
	object  meta.Object
	size    int
	manager string
	changes []func(meta.Object)
}

// TemplateOptions are the options of NewTemplate.
type TemplateOptions struct {
	// FieldManager becomes the owner of the fields of the object.
	FieldManager string
	// Valid says that the object was validated by other means.
	Valid bool
}

// NewTemplate makes an object ready as a create does, with defaults and managedFields. It takes ownership of the object, which is in the
// stored form of the kind and has a name. The error is the refusal of a create.
func NewTemplate(k kind.Kind, obj meta.Object, opts TemplateOptions) (*Template, error) {
	scratch := registry.New(registry.Options{})
	defer scratch.Close()
	r, err := scratch.ForRestore(kinds.Of(k))
	if err != nil {
		return nil, err
	}
	prepare := r.PrepareRestore
	if opts.Valid {
		prepare = r.PrepareValid
	}
	ready, err := prepare(obj, registry.Request{FieldManager: opts.FieldManager})
	if err != nil {
		return nil, err
	}
	return &Template{kind: r.Kind, object: ready.Object(), size: ready.Size(), manager: opts.FieldManager}, nil
}

// Object returns the object, which must not be changed.
func (t *Template) Object() meta.Object { return t.object }

// With returns a Template whose objects also have the changes of change. It is called with a new object, which shares all that it refers to
// with others: change sets members, and changes nothing behind them. The object has its uid, and no watch shows it before change returns.
func (t *Template) With(change func(obj meta.Object)) *Template {
	out := *t
	out.changes = append(slices.Clip(t.changes), change)
	return &out
}

// new returns an object of the template that has no changes yet.
func (t *Template) new() meta.Object { return t.kind.Type().CopyStruct(t.object).(meta.Object) }

func (t *Template) change(o meta.Object) {
	for _, change := range t.changes {
		change(o)
	}
}

// Put stores one new object of each template, or none if the store has an object of one of the names: then the error is ErrAlreadyExists.
// Each gets a uid and the present time. A store on etcd creates them one after the other. The result has the objects as they are stored.
func (st *Store) Put(ctx context.Context, all ...*Template) (stored []meta.Object, err error) {
	var objects []*registry.Restored
	for _, t := range all {
		r, err := st.registry().ForRestore(t.kind)
		if err != nil {
			return nil, err
		}
		o := r.RestoreAgain(t.new(), t.size, t.change)
		objects, stored = append(objects, o), append(stored, o.Object())
	}
	err = st.registry().Restore(objects, 0)
	if _, conflict := errors.AsType[*registry.RestoreError](err); err == nil || conflict {
		return stored, err
	}
	stored = nil
	for _, t := range all { // a store on etcd gives the versions
		own := t.new()
		t.change(own)
		own = t.kind.Copy(own)
		m := own.GetObjectMeta()
		m.UID, m.ManagedFields = "", nil
		it, err := st.registry().Resource(t.kind).Create(ctx, own, &registry.Request{Namespace: m.Namespace, FieldManager: t.manager})
		if err != nil {
			return stored, err
		}
		stored = append(stored, it.Stored())
	}
	return stored, nil
}
