package kinds

import (
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/store/kind"
)

// A member that erase forgets would be a rule that a user wrote and that no write keeps.
func TestEraseKeepsEveryMember(t *testing.T) {
	type probe struct{}
	var d kind.Descriptor[*probe]
	called := ""
	fill(t, reflect.ValueOf(&d).Elem(), "Descriptor", func(path string) { called = path })
	erased := erase(&d)
	compareMembers(t, reflect.ValueOf(d), reflect.ValueOf(erased), "Descriptor", &called)
}

// fill sets all members of v, each function to one that tells its path.
func fill(t *testing.T, v reflect.Value, path string, tell func(path string)) {
	t.Helper()
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				fill(t, v.Field(i), path+"."+f.Name, tell)
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(t, v.Index(i), path+"["+strconv.Itoa(i)+"]", tell)
		}
	case reflect.Func:
		v.Set(reflect.MakeFunc(v.Type(), func([]reflect.Value) (out []reflect.Value) {
			tell(path)
			for i := range v.Type().NumOut() {
				out = append(out, reflect.Zero(v.Type().Out(i)))
			}
			return out
		}))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		if isNative(v.Type()) {
			fill(t, v.Elem(), path, tell)
		}
	case reflect.Interface:
		for _, value := range []any{&struct{ kind.Kind }{}, &struct{ kind.Type }{}} {
			if reflect.TypeOf(value).AssignableTo(v.Type()) {
				v.Set(reflect.ValueOf(value))
			}
		}
	case reflect.String:
		v.SetString(path)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int32:
		v.SetInt(7)
	}
	require.False(t, v.IsZero(), "%s: this test has no value for a %v", path, v.Type())
}

// isNative reports whether a type is a pointer to a part of a descriptor, and not to a value that is kept as it is.
func isNative(t reflect.Type) bool {
	return t.Kind() == reflect.Pointer && strings.HasPrefix(t.Elem().Name(), "Native")
}

// compareMembers checks that got has each member that want has, and that each function of got calls the function of want at the same path.
func compareMembers(t *testing.T, want, got reflect.Value, path string, called *string) {
	t.Helper()
	switch want.Kind() {
	case reflect.Struct:
		for i := range want.NumField() {
			if f := want.Type().Field(i); f.IsExported() {
				compareMembers(t, want.Field(i), got.FieldByName(f.Name), path+"."+f.Name, called)
			}
		}
	case reflect.Slice:
		if assert.Equal(t, want.Len(), got.Len(), path) {
			for i := range want.Len() {
				compareMembers(t, want.Index(i), got.Index(i), path+"["+strconv.Itoa(i)+"]", called)
			}
		}
	case reflect.Func:
		if !assert.False(t, got.IsNil(), path) {
			return
		}
		var args []reflect.Value
		for i := range got.Type().NumIn() {
			args = append(args, reflect.Zero(got.Type().In(i)))
		}
		*called = ""
		got.Call(args)
		assert.Equal(t, path, *called)
	default:
		if isNative(want.Type()) {
			compareMembers(t, want.Elem(), got.Elem(), path, called)
			return
		}
		assert.Equal(t, want.Interface(), got.Interface(), path)
	}
}
