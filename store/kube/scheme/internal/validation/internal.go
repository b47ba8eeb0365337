package validation

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"

	corev1 "k8s.io/api/core/v1"
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

// writeMembers writes the members of a struct, and those of embedded structs in their place.
func writeMembers(out *bytes.Buffer, v reflect.Value, first *bool) error {
	if v.Type() == reflect.TypeFor[corev1.PodSpec]() {
		return writePodSpec(out, v)
	}
	for i := range v.NumField() {
		member := v.Type().Field(i)
		if member.Anonymous && member.Type.Kind() == reflect.Struct && !strings.HasPrefix(member.Type.PkgPath(), "k8s.io/api/") {
			body, err := json.Marshal(v.Field(i).Interface())
			if err != nil {
				return err
			}
			if body = bytes.Trim(body, "{}"); len(body) > 0 {
				separate(out, first)
				out.Write(body)
			}
			continue
		}
		if member.Anonymous && member.Type.Kind() == reflect.Struct {
			if err := writeMembers(out, v.Field(i), first); err != nil {
				return err
			}
			continue
		}
		if err := writeMember(out, member.Name, v.Field(i), first); err != nil {
			return err
		}
	}
	return nil
}

func writeMember(out *bytes.Buffer, name string, v reflect.Value, first *bool) error {
	separate(out, first)
	out.WriteString(`"` + name + `":`)
	return writeInternal(out, v)
}

// writePodSpec writes the members of a PodSpec: the internal type has another order, and some members in its SecurityContext.
func writePodSpec(out *bytes.Buffer, v reflect.Value) error {
	const order = "Volumes InitContainers Containers EphemeralContainers RestartPolicy TerminationGracePeriodSeconds ActiveDeadlineSeconds DNSPolicy " +
		"NodeSelector ServiceAccountName AutomountServiceAccountToken NodeName SecurityContext ImagePullSecrets Hostname Subdomain SetHostnameAsFQDN " +
		"Affinity SchedulerName Tolerations HostAliases PriorityClassName Priority PreemptionPolicy DNSConfig ReadinessGates RuntimeClassName Overhead " +
		"EnableServiceLinks TopologySpreadConstraints OS SchedulingGates ResourceClaims Resources HostnameOverride SchedulingGroup"
	first := true
	for name := range strings.FieldsSeq(order) {
		member := v.FieldByName(name)
		if name != "SecurityContext" {
			if err := writeMember(out, name, member, &first); err != nil {
				return err
			}
			continue
		}
		separate(out, &first)
		out.WriteString(`"SecurityContext":{`)
		begin := true
		for name := range strings.FieldsSeq("HostNetwork HostPID HostIPC ShareProcessNamespace HostUsers") {
			if err := writeMember(out, name, v.FieldByName(name), &begin); err != nil {
				return err
			}
		}
		if member.IsNil() {
			member = reflect.ValueOf(&corev1.PodSecurityContext{})
		}
		if err := writeMembers(out, member.Elem(), &begin); err != nil {
			return err
		}
		out.WriteByte('}')
	}
	return nil
}

func separate(out *bytes.Buffer, first *bool) {
	if !*first {
		out.WriteByte(',')
	}
	*first = false
}
