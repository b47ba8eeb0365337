package kinds

import (
	"context"
	"slices"

	"github.com/kubecoord/kubecoord/internal/codec"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// shape is how the objects of a kind change their form on the way through a write. It is single or versioned.
type shape interface {
	// Received implements kind.Kind. It returns an object in the shape of one version as the steps of a write get it: in the stored
	// form, or in the shape of the version if the kind KeepsVersion. A custom resource of another type keeps the type, for its
	// validation.
	Received(ctx context.Context, o Object, version int) (Object, error)
	// AsReceived returns a state of an object as the steps of a write in a version get it. The object may be nil, or be of another
	// type, and is then returned.
	AsReceived(ctx context.Context, version int, o Object) (Object, error)
	// versionOf returns the version that an object is in: the stored one, or for a kind that KeepsVersion the one that it names.
	versionOf(o Object) int
	// Conform removes from an object of a write the members that only another version has, and fills in defaults. As upstream, it
	// comes after field management, which sees what the request had.
	Conform(o Object)
	// Convert returns an object in the shape of one version in the shape of another. From 0, which stands for the stored form, it
	// also takes an object that is kept in the version of its request. The result may share memory with the object.
	Convert(ctx context.Context, o Object, from, to int, reuse kind.Reuse) (Object, error)
	// Settle returns the object as storage would: in the stored form, pruned, and with defaults, also in a status that a create has
	// emptied (upstream: apiextensions-apiserver, customresource_handler.go, crdConversionRESTOptionsGetter). It reports whether the
	// object shows defaults that are not in storage. It takes ownership of the object.
	Settle(ctx context.Context, o Object) (_ Object, filled bool, err error)
}

// compileShape chooses the shape of a kind whose versions are compiled.
func (k *Kind) compileShape() shape {
	if len(k.forms) == 1 && !k.native.KeepsVersion {
		return single{k, k.Type()}
	}
	return versioned{k}
}

// single is the shape of a kind whose versions have one form, the stored one.
type single struct {
	kind *Kind
	typ  *codec.Type
}

func (s single) Received(_ context.Context, o Object, version int) (Object, error) {
	named, m := o.GetTypeMeta(), o.GetObjectMeta()
	if s.kind.info.Native || *named == s.kind.versions[version].named {
		*named = meta.TypeMeta{}
	}
	markManagersReset(m, m.ManagedFields)
	s.typ.Default(o)
	s.kind.of.Strategy.Default(o)
	return o, nil
}

func (single) AsReceived(_ context.Context, _ int, o Object) (Object, error) { return o, nil }

func (single) versionOf(Object) int { return 0 }

func (s single) Conform(o Object) { s.typ.Normalize(o) }

func (single) Convert(_ context.Context, o Object, _, _ int, _ kind.Reuse) (Object, error) {
	return o, nil
}

func (s single) Settle(_ context.Context, o Object) (_ Object, filled bool, err error) {
	*o.GetTypeMeta() = meta.TypeMeta{}
	_, _ = s.typ.Prune(o, false) // fails only for metadata that was refused before
	filled = s.typ.Default(o)
	s.typ.Normalize(o)
	s.typ.Settle(o)
	return o, filled, nil
}

// markManagersReset turns an empty list of managers, which resets them and which a copy does not have, into a form that survives a copy.
func markManagersReset(m *meta.ObjectMeta, managers []meta.ManagedFieldsEntry) {
	if managers != nil && len(managers) == 0 {
		m.ManagedFields = []meta.ManagedFieldsEntry{{}}
	}
}

// versioned is the shape of a kind whose versions have several forms, or that KeepsVersion.
type versioned struct{ *Kind }

func (k versioned) Received(ctx context.Context, o Object, version int) (_ Object, err error) {
	sent, named := *o.GetTypeMeta(), k.TypeMeta(version)
	if k.native.KeepsVersion && version > 0 {
		*o.GetTypeMeta() = named
		markManagersReset(o.GetObjectMeta(), o.GetObjectMeta().ManagedFields)
		k.form(version).typ.Default(o)
	} else if o, err = k.FromWire(ctx, version, o); err != nil {
		return nil, err
	}
	if !k.info.Native && sent != named && sent != (meta.TypeMeta{}) {
		*o.GetTypeMeta() = sent
	}
	return o, nil
}

func (k versioned) AsReceived(ctx context.Context, version int, o Object) (Object, error) {
	if o == nil || !k.native.KeepsVersion || k.IsMistyped(o, k.versionOf(o)) {
		return o, nil
	}
	return k.Convert(ctx, o, 0, version, kind.Remembered)
}

func (k versioned) versionOf(o Object) int {
	if named := *o.GetTypeMeta(); k.native.KeepsVersion && named != (meta.TypeMeta{}) {
		return max(slices.IndexFunc(k.versions, func(v version) bool { return v.named == named }), 0)
	}
	return 0
}

func (k versioned) Conform(o Object) {
	if !k.native.KeepsVersion {
		k.ConformStored(o)
	}
}

func (k versioned) Convert(ctx context.Context, o Object, from, to int, reuse kind.Reuse) (_ Object, err error) {
	if from == 0 {
		from = k.versionOf(o)
	}
	f, t := k.form(from), k.form(to)
	if f == t {
		return o, nil
	}
	if o, err = f.converted(ctx, f.typ.Copy(o).(Object), true, reuse); err == nil {
		o, err = t.converted(ctx, o, false, reuse)
	}
	if err != nil {
		return nil, err
	}
	t.prune(o)
	if k.native.KeepsVersion {
		*o.GetTypeMeta() = k.TypeMeta(to)
	}
	return o, nil
}

func (k versioned) Settle(ctx context.Context, o Object) (_ Object, filled bool, err error) {
	if o, err = k.Convert(ctx, o, 0, 0, kind.Anew); err != nil {
		return nil, false, err
	}
	return single{k.Kind, k.Type()}.Settle(ctx, o)
}
