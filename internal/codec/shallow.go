package codec

import "reflect"

// Shallow returns a copy of the struct that obj points to. The copy shares with obj all
// memory that its fields point to. It is for objects that never change, to give the
// copy another value in a field of its own.
func (t *Type) Shallow(obj any) any {
	t.check(obj)
	out := reflect.New(t.goType)
	out.Elem().Set(reflect.ValueOf(obj).Elem())
	return out.Interface()
}
