package validation

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
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

// writeMembers writes the members of a struct, with the members of embedded structs in place of these.
func writeMembers(out *bytes.Buffer, v reflect.Value, first *bool) error {
	if v.Type() == reflect.TypeFor[corev1.PodSpec]() {
		return writePodSpec(out, v)
	}
	for _, member := range internalMembers(v.Type()) {
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
		if err := writeMember(out, member.Name, v.FieldByIndex(member.Index), first); err != nil {
			return err
		}
	}
	return nil
}

// since137 names the members that the internal types of 1.36 do not have.
const since137 = "EmptyDirVolumeSource.Mode SecretVolumeSource.DefaultUser ConfigMapVolumeSource.DefaultUser ServiceAccountTokenProjection.User " +
	"ClusterTrustBundleProjection.User PodCertificateProjection.User ProjectedVolumeSource.DefaultUser KeyToPath.User VolumeMount.BindMountOptions " +
	"HTTPGetAction.Protocol GRPCAction.Mode DownwardAPIVolumeSource.DefaultUser DownwardAPIVolumeFile.User JobSpec.Scheduling CSINode.Status " +
	"ResourceSliceSpec.PartitionTypeAttribute ResourceSliceSpec.SkipNodeOperations Device.NodeAllocatableResources ExactDeviceRequest.DerivedAttributes " +
	"DeviceSubRequest.DerivedAttributes DeviceCounterConsumption.CompatibilityGroups DeviceRequestAllocationResult.SkipNodeOperations"

// internalMembers returns the members of a type in the order of the internal type.
func internalMembers(t reflect.Type) (members []reflect.StructField) {
	added := strings.Fields(since137)
	var order string
	switch t {
	case reflect.TypeFor[corev1.VolumeSource]():
		order = "HostPath EmptyDir GCEPersistentDisk AWSElasticBlockStore GitRepo Secret NFS ISCSI Glusterfs PersistentVolumeClaim RBD Quobyte FlexVolume " +
			"Cinder CephFS Flocker DownwardAPI FC AzureFile ConfigMap VsphereVolume AzureDisk PhotonPersistentDisk Projected PortworxVolume ScaleIO StorageOS " +
			"CSI Ephemeral Image"
	case reflect.TypeFor[corev1.PersistentVolumeSource]():
		order = "GCEPersistentDisk AWSElasticBlockStore HostPath Glusterfs NFS RBD Quobyte ISCSI FlexVolume Cinder CephFS FC Flocker AzureFile " +
			"VsphereVolume AzureDisk PhotonPersistentDisk PortworxVolume ScaleIO Local StorageOS CSI"
	case reflect.TypeFor[corev1.PodSecurityContext]():
		order = "SELinuxOptions WindowsOptions RunAsUser RunAsGroup RunAsNonRoot SupplementalGroups SupplementalGroupsPolicy FSGroup FSGroupChangePolicy " +
			"Sysctls SeccompProfile AppArmorProfile SELinuxChangePolicy"
	default:
		return slices.DeleteFunc(reflect.VisibleFields(t), func(f reflect.StructField) bool {
			return len(f.Index) > 1 || slices.Contains(added, t.Name()+"."+f.Name)
		})
	}
	for name := range strings.FieldsSeq(order) {
		member, _ := t.FieldByName(name)
		members = append(members, member)
	}
	return members
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
