package validation

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// internal is a bad value that upstream prints as its internal type: with the names of Go's members, and with members that
// are empty. Types of apimachinery have their usual JSON.
type internal struct{ value any }

// MarshalJSON returns the value as encoding/json would print upstream's internal type.
func (i internal) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	err := writeInternal(&out, reflect.ValueOf(i.value))
	return out.Bytes(), err
}

func writeInternal(out *bytes.Buffer, v reflect.Value) error {
	switch {
	case !v.IsValid(), (v.Kind() == reflect.Pointer || v.Kind() == reflect.Slice) && v.IsNil():
		out.WriteString("null")
		return nil
	case v.Kind() == reflect.Pointer:
		return writeInternal(out, v.Elem())
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() != reflect.Uint8:
		out.WriteByte('[')
		for i := range v.Len() {
			if i > 0 {
				out.WriteByte(',')
			}
			if err := writeInternal(out, v.Index(i)); err != nil {
				return err
			}
		}
		out.WriteByte(']')
		return nil
	case v.Kind() == reflect.Struct && strings.HasPrefix(v.Type().PkgPath(), "k8s.io/api/"):
		out.WriteByte('{')
		first := true
		if err := writeMembers(out, v, &first); err != nil {
			return err
		}
		out.WriteByte('}')
		return nil
	}
	body, err := json.Marshal(v.Interface())
	out.Write(body)
	return err
}

// writeMembers writes the members of a struct, with the members of embedded structs in place of these.
func writeMembers(out *bytes.Buffer, v reflect.Value, first *bool) error {
	for _, member := range internalMembers(v.Type()) {
		if member.Type == reflect.TypeFor[metav1.TypeMeta]() {
			continue // a conversion leaves it out
		}
		if member.Anonymous && member.Type.Kind() == reflect.Struct && !strings.HasPrefix(member.Type.PkgPath(), "k8s.io/api/") {
			body, err := json.Marshal(v.FieldByIndex(member.Index).Interface())
			if err != nil {
				return err
			}
			if len(body) > len("{}") {
				separate(out, first)
				out.Write(body[1 : len(body)-1])
			}
			continue
		}
		if member.Anonymous && member.Type.Kind() == reflect.Struct {
			if err := writeMembers(out, v.FieldByIndex(member.Index), first); err != nil {
				return err
			}
			continue
		}
		if v.Type() == reflect.TypeFor[certificatesv1.PodCertificateRequestSpec]() && member.Name == "StubPKCS10Request" {
			separate(out, first)
			out.WriteString(`"PKIXPublicKey":null,"ProofOfPossession":null`) // which only older versions set
		}
		if err := writeMember(out, member.Name, v.FieldByIndex(member.Index), first); err != nil {
			return err
		}
	}
	return nil
}

// internalMembers returns the members of a type that the internal type has too, in its order.
func internalMembers(t reflect.Type) (members []reflect.StructField) {
	for _, f := range reflect.VisibleFields(t) {
		left := t == reflect.TypeFor[corev1.NodeSpec]() && f.Name == "PodCIDR" || t == reflect.TypeFor[corev1.Secret]() && f.Name == "StringData"
		if len(f.Index) == 1 && !left {
			members = append(members, f)
		}
	}
	return members
}

func writeMember(out *bytes.Buffer, name string, v reflect.Value, first *bool) error {
	separate(out, first)
	out.WriteString(`"` + name + `":`)
	return writeInternal(out, v)
}

func separate(out *bytes.Buffer, first *bool) {
	if !*first {
		out.WriteByte(',')
	}
	*first = false
}
