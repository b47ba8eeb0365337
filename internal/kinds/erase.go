package kinds

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"time"

	"github.com/kubecoord/kubecoord/store/kind"
)

// Compile checks and compiles a descriptor whose functions get objects of the type P.
func Compile[P any](d kind.Descriptor[P]) (*Kind, error) {
	if own, ok := any(d).(Descriptor); ok {
		return NewKind(own)
	}
	if d.New == nil && len(d.Versions) > 0 && d.Versions[0].Type == nil {
		t := reflect.TypeFor[P]()
		if t.Kind() != reflect.Pointer || t.Elem().Kind() != reflect.Struct || !t.Implements(reflect.TypeFor[Object]()) {
			return nil, fmt.Errorf("kind %s: got functions that take a %v, want a pointer to a struct that embeds meta.TypeMeta and meta.ObjectMeta", d.Resource.Kind, t)
		}
		d.New = newStruct(t.Elem())
	}
	return NewKind(erase(&d))
}

func newStruct(t reflect.Type) func() Object {
	return func() Object { return reflect.New(t).Interface().(Object) }
}

// as returns an object as a P, or the zero P for nil.
func as[P any](o Object) P {
	v, _ := kind.Value(o).(P)
	return v
}

// erase returns the descriptor with functions that take any object.
func erase[P any](d *kind.Descriptor[P]) Descriptor {
	e := Descriptor{
		Resource: d.Resource, Strategy: eraseStrategy(&d.Strategy), Table: eraseTable(&d.Table), SelectableFields: eraseFields(d.SelectableFields),
		Native: eraseNative(d.Native), New: d.New,
	}
	for i := range d.Versions {
		e.Versions = append(e.Versions, eraseVersion(&d.Versions[i]))
	}
	for i := range d.Subresources {
		e.Subresources = append(e.Subresources, eraseSubresource(&d.Subresources[i]))
	}
	return e
}

func eraseNative[P any](n *kind.Native[P]) *kind.Native[Object] {
	if n == nil {
		return nil
	}
	e := &kind.Native[Object]{
		CustomResource: n.CustomResource, StoragePrefix: n.StoragePrefix, FieldAnnotations: n.FieldAnnotations, BodyVersions: n.BodyVersions, FieldRefusal: n.FieldRefusal,
		Defines: erase1e(n.Defines), EarlyWarnings: erase1(n.EarlyWarnings), StatusWarnings: erase2(n.StatusWarnings),
		KeepStatus: n.KeepStatus, MetadataLast: n.MetadataLast, Resets: n.Resets, ReturnsObject: n.ReturnsObject,
		OrphansDependents: n.OrphansDependents, OrphanWarning: n.OrphanWarning, Through: n.Through,
		KeepsVersion: n.KeepsVersion, Repeats: n.Repeats, SlowValidation: n.SlowValidation,
		NoTableOf: n.NoTableOf, NullRows: n.NullRows, DefaultRow: erase2(n.DefaultRow),
	}
	for i := range n.Aliases {
		a := &n.Aliases[i]
		e.Aliases = append(e.Aliases, kind.Alias[Object]{
			Group: a.Group, Version: eraseVersion(&a.Version), ValidateName: a.ValidateName, SelectableFields: eraseFields(a.SelectableFields),
		})
	}
	if f := n.Answer; f != nil {
		e.Answer = func(ctx context.Context, o Object) error { return f(ctx, as[P](o)) }
	}
	if f := n.Objects; f != nil {
		e.Objects = func() (out []Object) {
			for _, o := range f() {
				out = append(out, any(o).(Object))
			}
			return out
		}
	}
	return e
}

func eraseVersion[P any](v *kind.Version[P]) kind.Version[Object] {
	return kind.Version[Object]{
		Name: v.Name, Deprecated: v.Deprecated, Native: v.Native, Form: v.Form, Schema: v.Schema, Type: v.Type,
		Validate: erase2(v.Validate), ValidateStatus: erase2(v.ValidateStatus), Table: eraseTable(&v.Table),
	}
}

func eraseStrategy[P any](s *kind.Strategy[P]) kind.Strategy[Object] {
	e := kind.Strategy[Object]{
		ValidateName: s.ValidateName, Validate: erase2(s.Validate), Warnings: erase2(s.Warnings),
		Update: kind.UpdateStrategy[Object]{
			Counts: erase2(s.Update.Counts), CreateMissing: s.Update.CreateMissing, Unconditional: s.Update.Unconditional,
		},
		Delete: kind.DeleteStrategy[Object]{Holds: erase1(s.Delete.Holds), Grace: eraseWith(s.Delete.Grace)},
	}
	if f := s.Default; f != nil {
		e.Default = func(o Object) { f(as[P](o)) }
	}
	if f := s.Create.Prepare; f != nil {
		e.Create.Prepare = func(ctx context.Context, o Object) { f(ctx, as[P](o)) }
	}
	if f := s.Update.Prepare; f != nil {
		e.Update.Prepare = func(o, old Object) { f(as[P](o), as[P](old)) }
	}
	if f := s.Delete.Prepare; f != nil {
		e.Delete.Prepare = func(o Object, now time.Time) { f(as[P](o), now) }
	}
	return e
}

func eraseTable[P any](t *kind.Table[P]) kind.Table[Object] {
	e := kind.Table[Object]{Cells: eraseWith(t.Cells), Conditions: erase1(t.Conditions)}
	for _, c := range t.Columns {
		e.Columns = append(e.Columns, kind.Column[Object]{
			Name: c.Name, Type: c.Type, Format: c.Format, Description: c.Description, Priority: c.Priority, Cell: eraseWith(c.Cell),
		})
	}
	return e
}

func eraseFields[P any](fields []kind.SelectableField[P]) (out []kind.SelectableField[Object]) {
	for _, f := range fields {
		out = append(out, kind.SelectableField[Object]{Path: f.Path, Value: erase1(f.Value)})
	}
	return out
}

func eraseSubresource[P any](s *kind.Subresource[P]) kind.Subresource[Object] {
	e := kind.Subresource[Object]{
		Name: s.Name, Body: s.Body, Verbs: s.Verbs, Read: erase1e(s.Read), Write: eraseWith(s.Write), Resets: s.Resets,
		Validate: erase2(s.Validate), Native: eraseNativeSubresource(s.Native),
	}
	if f := s.Answer; f != nil {
		e.Answer = func(ctx context.Context, parent, body Object) (Object, error) { return f(ctx, as[P](parent), body) }
	}
	return e
}

func eraseNativeSubresource[P any](s *kind.NativeSubresource[P]) *kind.NativeSubresource[Object] {
	if s == nil {
		return nil
	}
	e := &kind.NativeSubresource[Object]{
		Shows: erase1(s.Shows), Start: erase1e(s.Start), KeepsIdentity: s.KeepsIdentity, Removes: s.Removes, Member: s.Member, Options: s.Options,
		ConnectKind: s.ConnectKind, ConnectPaths: s.ConnectPaths,
	}
	if f := s.MayRemove; f != nil {
		e.MayRemove = func(ctx context.Context, parent Object, dryRun bool) (bool, error) {
			return f(ctx, as[P](parent), dryRun)
		}
	}
	if f := s.Connect; f != nil {
		e.Connect = func(ctx context.Context, to kind.Connection, parent func(name string) (Object, error)) (http.Handler, error) {
			return f(ctx, to, func(name string) (P, error) {
				o, err := parent(name)
				return as[P](o), err
			})
		}
	}
	return e
}

// erase1, erase1e, eraseWith and erase2 return a function of any object, or nil for nil.
func erase1[P, R any](f func(P) R) func(Object) R {
	if f == nil {
		return nil
	}
	return func(o Object) R { return f(as[P](o)) }
}

func erase1e[P, R any](f func(P) (R, error)) func(Object) (R, error) {
	if f == nil {
		return nil
	}
	return func(o Object) (R, error) { return f(as[P](o)) }
}

func eraseWith[P, A, R any](f func(P, A) R) func(Object, A) R {
	if f == nil {
		return nil
	}
	return func(o Object, a A) R { return f(as[P](o), a) }
}

func erase2[P, R any](f func(o, old P) R) func(o, old Object) R {
	if f == nil {
		return nil
	}
	return func(o, old Object) R { return f(as[P](o), as[P](old)) }
}
