package gated_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubecoord/kubecoord/httpapi/kube/internal/gates"
	"github.com/kubecoord/kubecoord/httpapi/kube/scheme/internal/gated"
)

// gatesWith returns gates with some set.
func gatesWith(t *testing.T, set map[string]bool) *gates.Gates {
	t.Helper()
	g, err := gates.New(set)
	require.NoError(t, err)
	return g
}

func signalled(signal corev1.Signal) *corev1.Pod {
	return &corev1.Pod{Spec: corev1.PodSpec{
		Containers:          []corev1.Container{{Name: "a"}, {Name: "b", Lifecycle: &corev1.Lifecycle{StopSignal: &signal}}},
		EphemeralContainers: []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Lifecycle: &corev1.Lifecycle{StopSignal: &signal, PreStop: &corev1.LifecycleHandler{}}}}},
	}}
}

func TestAMemberStaysThatTheStateBeforeHas(t *testing.T) {
	d := gated.Of("Pod", reflect.TypeFor[corev1.Pod](), gates.Default())
	pod := signalled(corev1.SIGTERM)
	d.Drop(pod, nil)
	assert.Nil(t, pod.Spec.Containers[1].Lifecycle, "nothing is left in it")
	assert.Equal(t, &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{}}, pod.Spec.EphemeralContainers[0].Lifecycle)
	pod = signalled(corev1.SIGTERM)
	d.Drop(pod, &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "a"}}}})
	assert.Nil(t, pod.Spec.Containers[1].Lifecycle)
	pod = signalled(corev1.SIGTERM)
	d.Drop(pod, signalled(corev1.SIGINT))
	assert.Equal(t, signalled(corev1.SIGTERM), pod)

	on := gated.Of("Pod", reflect.TypeFor[corev1.Pod](), gatesWith(t, map[string]bool{"ContainerStopSignals": true}))
	on.Drop(pod, nil)
	assert.Equal(t, signalled(corev1.SIGTERM), pod)
}

// TestAValueMayBeNoUse: a restartPolicy of Always is older than the gate of the others.
func TestAValueMayBeNoUse(t *testing.T) {
	g := gatesWith(t, map[string]bool{"ContainerRestartRules": false, "RestartAllContainersOnContainerExits": false})
	d := gated.Of("Deployment", reflect.TypeFor[appsv1.Deployment](), g)
	restarts := func(policies ...corev1.ContainerRestartPolicy) *appsv1.Deployment {
		w := &appsv1.Deployment{}
		for _, p := range policies {
			w.Spec.Template.Spec.InitContainers = append(w.Spec.Template.Spec.InitContainers, corev1.Container{RestartPolicy: &p})
		}
		return w
	}
	w := restarts("Always", "OnFailure")
	d.Drop(w, restarts("Always"))
	want := restarts("Always", "x")
	want.Spec.Template.Spec.InitContainers[1].RestartPolicy = nil
	assert.Equal(t, want, w)
	w = restarts("Always", "OnFailure")
	d.Drop(w, restarts("Never"))
	assert.Equal(t, restarts("Always", "OnFailure"), w)
}

func TestMembersOfMapsAndOfTheReferenceToAnotherNamespace(t *testing.T) {
	d := gated.Of("ResourceSlice", reflect.TypeFor[resourcev1.ResourceSlice](), gates.Default())
	s := &resourcev1.ResourceSlice{Spec: resourcev1.ResourceSliceSpec{Devices: []resourcev1.Device{{Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{
		"a": {IntValues: []int64{1}}, "b": {IntValue: new(int64(2))},
	}}}}}
	d.Drop(s, nil)
	assert.Equal(t, map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"a": {}, "b": {IntValue: new(int64(2))}}, s.Spec.Devices[0].Attributes)

	d = gated.Of("PersistentVolumeClaim", reflect.TypeFor[corev1.PersistentVolumeClaim](), gates.Default())
	refer := func(namespace *string) *corev1.PersistentVolumeClaim {
		return &corev1.PersistentVolumeClaim{Spec: corev1.PersistentVolumeClaimSpec{DataSourceRef: &corev1.TypedObjectReference{Name: "a", Namespace: namespace}}}
	}
	for namespace, stays := range map[string]bool{"": true, "other": false} {
		c := refer(&namespace)
		d.Drop(c, nil)
		assert.Equal(t, stays, c.Spec.DataSourceRef != nil, namespace)
		c = refer(&namespace)
		d.Drop(c, refer(nil))
		assert.NotNil(t, c.Spec.DataSourceRef, "the state before has a reference")
	}

	d = gated.Of("StatefulSet", reflect.TypeFor[appsv1.StatefulSet](), gatesWith(t, map[string]bool{"MaxUnavailableStatefulSet": false}))
	set := &appsv1.StatefulSet{}
	set.Spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateStatefulSetStrategy{Partition: new(int32(1)), MaxUnavailable: new(intstr.FromInt32(2))}
	d.Drop(set, nil)
	assert.Equal(t, &appsv1.RollingUpdateStatefulSetStrategy{Partition: new(int32(1))}, set.Spec.UpdateStrategy.RollingUpdate)
}

// TestNoRuleAsksALockedGate: such a rule never does anything.
func TestNoRuleAsksALockedGate(t *testing.T) {
	for _, gate := range gated.Gates() {
		assert.False(t, gates.Locked(gate), gate)
		_, err := gates.New(map[string]bool{gate: gates.Default().Enabled(gate)})
		assert.NoError(t, err, "a gate that there is")
	}
}

// TestEachMemberOfAGateHasARule: the sources of the types name the gate of a member.
func TestEachMemberOfAGateHasARule(t *testing.T) {
	without := []string{
		"strategy", "preferredHolder", // of a Lease: see the package
		"stopSignal",             // of a ContainerStatus: upstream drops the one of a Lifecycle alone
		"namespace",              // of a reference: the whole reference is dropped
		"runningInUserNamespace", // of a NodeSystemInfo, which its kubelet writes: upstream has no rule
		"storageCapacity",        // of a CSIDriver: the gate is gone
		"image",                  // of a VolumeStatus: the whole status is dropped
		"allocationTimestamp", "tolerations", "stream",
	}
	texts := gated.Texts()
	marker, field := regexp.MustCompile(`^\s*// \+featureGate=(\S+)`), regexp.MustCompile(`^\s+\w+\s.*json:"(\w+)`)
	found := 0
	for _, group := range strings.Fields("core/v1 apps/v1 batch/v1 resource/v1 storage/v1 autoscaling/v2 networking/v1 policy/v1 certificates/v1 discovery/v1 coordination/v1 scheduling/v1 node/v1") {
		dir, err := exec.CommandContext(t.Context(), "go", "list", "-f", "{{.Dir}}", "k8s.io/api/"+group).Output()
		require.NoError(t, err)
		file, err := os.Open(filepath.Join(strings.TrimSpace(string(dir)), "types.go"))
		require.NoError(t, err)
		defer file.Close()
		gate := ""
		for lines := bufio.NewScanner(file); lines.Scan(); {
			if m := marker.FindStringSubmatch(lines.Text()); m != nil {
				gate = m[1]
			}
			m := field.FindStringSubmatch(lines.Text())
			if m == nil {
				if !strings.HasPrefix(strings.TrimSpace(lines.Text()), "//") {
					gate = "" // of something else than a member
				}
				continue
			}
			if gate != "" && !gates.Locked(gate) && !slices.Contains(without, m[1]) {
				found++
				assert.True(t, slices.ContainsFunc(texts, func(path string) bool { return strings.HasSuffix(path, "."+m[1]) }), "%s: %s of the gate %s", group, m[1], gate)
			}
			gate = ""
		}
	}
	assert.Greater(t, found, 40)
}
