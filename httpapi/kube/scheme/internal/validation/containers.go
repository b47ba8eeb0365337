package validation

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
)

// A podContext is what the containers of a pod or of its template are checked against.
type podContext struct {
	*corev1.PodSpec
	isPod   bool // not a template
	volumes map[string]corev1.VolumeSource
	claims  map[string]bool // names of spec.resourceClaims
}

func (c *podContext) hostUsers() bool { return c.HostUsers == nil || *c.HostUsers }

// allContainers calls f for the containers of every sort, in upstream's order.
func allContainers(s *corev1.PodSpec, p loc, f func(p loc, c *corev1.Container)) {
	for i := range s.InitContainers {
		f(p.Child("initContainers").Index(i), &s.InitContainers[i])
	}
	for i := range s.Containers {
		f(p.Child("containers").Index(i), &s.Containers[i])
	}
	for i := range s.EphemeralContainers {
		f(p.Child("ephemeralContainers").Index(i), (*corev1.Container)(&s.EphemeralContainers[i].EphemeralContainerCommon))
	}
}

func containers(e *errs, p loc, pod *podContext) {
	if len(pod.Containers) == 0 {
		e.required(p, "")
		return
	}
	names := map[string]bool{}
	for i := range pod.Containers {
		c, p := &pod.Containers[i], p.Index(i)
		container(e, p, c, pod)
		if names[c.Name] {
			e.duplicate(p.Child("name"), c.Name)
		}
		names[c.Name] = true
		handlers(e, p, c, pod)
		restartRules(e, p, c.RestartPolicy, c.RestartPolicyRules)
	}
	hostPorts(e, p, pod.Containers)
}

// hostPorts checks that no two ports of the containers want the same port of the host.
func hostPorts(e *errs, p loc, containers []corev1.Container) {
	taken := map[string]bool{}
	for i, c := range containers {
		for j, port := range c.Ports {
			if port.HostPort == 0 {
				continue
			}
			key := fmt.Sprintf("%s/%s/%d", port.Protocol, port.HostIP, port.HostPort)
			if taken[key] {
				e.duplicate(p.Index(i).Child("ports").Index(j).Child("hostPort"), key)
			}
			taken[key] = true
		}
	}
}

func initContainers(e *errs, p loc, pod *podContext) {
	names := map[string]bool{}
	for _, c := range pod.Containers {
		names[c.Name] = true
	}
	for i := range pod.InitContainers {
		c, p, all := &pod.InitContainers[i], p.Index(i), p
		container(e, p, c, pod)
		if c.RestartPolicy != nil || len(c.RestartPolicyRules) > 0 {
			restartRules(e, p, c.RestartPolicy, c.RestartPolicyRules)
		}
		if names[c.Name] {
			e.duplicate(p.Child("name"), c.Name)
		} else if c.Name != "" {
			names[c.Name] = true
		}
		hostPorts(e, all, []corev1.Container{*c})
		if sidecar(c) {
			handlers(e, p, c, pod)
			continue
		}
		const detail = "may not be set for init containers without restartPolicy=Always"
		for _, member := range []struct {
			name string
			set  bool
		}{
			{"lifecycle", c.Lifecycle != nil}, {"livenessProbe", c.LivenessProbe != nil},
			{"readinessProbe", c.ReadinessProbe != nil}, {"startupProbe", c.StartupProbe != nil},
		} {
			if member.set {
				e.forbidden(p.Child(member.name), detail)
			}
		}
		for j, policy := range c.ResizePolicy {
			if policy.RestartPolicy == corev1.RestartContainer {
				e.invalid(p.Child("resizePolicy").Index(j).Child("restartPolicy"), policy.RestartPolicy,
					"must not be set to 'RestartContainer' for non-sidecar initContainers")
			}
		}
	}
}

func sidecar(c *corev1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

func ephemeralContainers(e *errs, p loc, pod *podContext) {
	targets, names := map[string]bool{}, map[string]bool{}
	for _, list := range [][]corev1.Container{pod.Containers, pod.InitContainers} {
		for _, c := range list {
			targets[c.Name], names[c.Name] = true, true
		}
	}
	for i := range pod.EphemeralContainers {
		ec, p := &pod.EphemeralContainers[i], p.Index(i)
		container(e, p, (*corev1.Container)(&ec.EphemeralContainerCommon), pod)
		imageSpace(e, p, ec.Image)
		if names[ec.Name] {
			e.duplicate(p.Child("name"), ec.Name)
		}
		names[ec.Name] = true
		if ec.TargetContainerName != "" && !targets[ec.TargetContainerName] {
			e.notFound(p.Child("targetContainerName"), ec.TargetContainerName)
		}
		const detail = "cannot be set for an Ephemeral Container"
		only(e, p, ec.EphemeralContainerCommon, detail, "Name", "Image", "Command", "Args", "WorkingDir", "EnvFrom", "Env", "VolumeMounts",
			"VolumeDevices", "TerminationMessagePath", "TerminationMessagePolicy", "ImagePullPolicy", "SecurityContext", "Stdin", "StdinOnce", "TTY")
		for j, mount := range ec.VolumeMounts {
			if mount.SubPath != "" {
				e.forbidden(p.Child("volumeMounts").Index(j).Child("subPath"), detail)
			}
			if mount.SubPathExpr != "" {
				e.forbidden(p.Child("volumeMounts").Index(j).Child("subPathExpr"), detail)
			}
		}
	}
}

// only checks that no other member of a struct than the named ones is set.
func only(e *errs, p loc, value any, detail string, allowed ...string) {
	v := reflect.ValueOf(value)
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		if !slices.Contains(allowed, name) && !v.Field(i).IsZero() {
			e.forbidden(p.Child(string(unicode.ToLower(rune(name[0])))+name[1:]), detail)
		}
	}
}

// imageSpace checks what a Pod's images may not have, but a template's may.
func imageSpace(e *errs, p loc, image string) {
	if strings.TrimSpace(image) != image {
		e.invalid(p.Child("image"), image, "must not have leading or trailing whitespace")
	}
}

// container checks what the containers of all sorts have in common.
func container(e *errs, p loc, c *corev1.Container, pod *podContext) {
	name := p.Child("name")
	if c.Name == "" {
		e.required(name, "")
	} else {
		e.label(name, c.Name)
	}
	e.present(p.Child("image"), c.Image)
	requiredOneOf(e, p.Child("terminationMessagePolicy"), c.TerminationMessagePolicy,
		corev1.TerminationMessageReadFile, corev1.TerminationMessageFallbackToLogsOnError)
	containerPorts(e, p.Child("ports"), c.Ports)
	for i := range c.Env {
		env(e, p.Child("env").Index(i), &c.Env[i])
	}
	envFrom(e, p.Child("envFrom"), c.EnvFrom)
	volumeMounts(e, p.Child("volumeMounts"), c, pod)
	volumeDevices(e, p.Child("volumeDevices"), c, pod)
	pullPolicy(e, p.Child("imagePullPolicy"), c.ImagePullPolicy)
	containerResources(e, p.Child("resources"), &c.Resources, pod.claims)
	resizePolicy(e, p.Child("resizePolicy"), c.ResizePolicy, pod.RestartPolicy)
	securityContext(e, p.Child("securityContext"), c.SecurityContext, pod.hostUsers())
}

func pullPolicy(e *errs, p loc, policy corev1.PullPolicy) {
	requiredOneOf(e, p, policy, corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever)
}

func containerPorts(e *errs, p loc, ports []corev1.ContainerPort) {
	names := map[string]bool{}
	for i, port := range ports {
		p := p.Index(i)
		if port.Name != "" {
			messages := validation.IsValidPortName(port.Name)
			e.invalids(p.Child("name"), port.Name, messages)
			if len(messages) == 0 && names[port.Name] {
				e.duplicate(p.Child("name"), port.Name)
			}
			names[port.Name] = names[port.Name] || len(messages) == 0
		}
		if port.ContainerPort == 0 {
			e.required(p.Child("containerPort"), "")
		} else {
			e.port(p.Child("containerPort"), port.ContainerPort)
		}
		if port.HostPort != 0 {
			e.port(p.Child("hostPort"), port.HostPort)
		}
		protocol(e, p.Child("protocol"), port.Protocol)
	}
}

func protocol(e *errs, p loc, value corev1.Protocol) {
	requiredOneOf(e, p, value, corev1.ProtocolSCTP, corev1.ProtocolTCP, corev1.ProtocolUDP)
}

func env(e *errs, p loc, v *corev1.EnvVar) {
	if v.Name == "" {
		e.required(p.Child("name"), "")
	} else {
		e.invalids(p.Child("name"), v.Name, validation.IsRelaxedEnvVarName(v.Name))
	}
	from, p := v.ValueFrom, p.Child("valueFrom")
	if from == nil {
		return
	}
	sources := 0
	if from.FieldRef != nil {
		sources++
		fieldRef(e, p.Child("fieldRef"), from.FieldRef, "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName",
			"spec.serviceAccountName", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs")
	}
	if from.ResourceFieldRef != nil {
		sources++
		resourceFieldRef(e, p.Child("resourceFieldRef"), from.ResourceFieldRef, false)
	}
	if from.ConfigMapKeyRef != nil {
		sources++
		keyRef(e, p.Child("configMapKeyRef"), from.ConfigMapKeyRef.Name, from.ConfigMapKeyRef.Key)
	}
	if from.SecretKeyRef != nil {
		sources++
		keyRef(e, p.Child("secretKeyRef"), from.SecretKeyRef.Name, from.SecretKeyRef.Key)
	}
	if from.FileKeyRef != nil {
		sources++
		fileKeyRef(e, p.Child("fileKeyRef"), from.FileKeyRef)
	}
	switch {
	case sources == 0 && e.gates.Enabled("EnvFiles"):
		e.invalid(p, "", "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`")
	case sources == 0:
		e.invalid(p, "", "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`")
	case v.Value != "":
		e.invalid(p, "", "may not be specified when `value` is not empty")
	case sources > 1:
		e.invalid(p, "", "may not have more than one field specified at a time")
	}
}

func keyRef(e *errs, p loc, name, key string) {
	e.invalids(p.Child("name"), name, apivalidation.NameIsDNSSubdomain(name, false))
	if key == "" {
		e.required(p.Child("key"), "")
	} else {
		e.invalids(p.Child("key"), key, validation.IsConfigMapKey(key))
	}
}

func fileKeyRef(e *errs, p loc, s *corev1.FileKeySelector) {
	if s.Key == "" {
		e.required(p.Child("key"), "")
	} else {
		e.invalids(p.Child("key"), s.Key, validation.IsRelaxedEnvVarName(s.Key))
	}
	if s.VolumeName == "" {
		e.required(p.Child("volumeName"), "")
	} else {
		e.label(p.Child("volumeName"), s.VolumeName)
	}
	if s.Path == "" {
		e.required(p.Child("path"), "")
	} else {
		noBacksteps(e, p.Child("path"), s.Path)
	}
}

// fieldRef checks a reference to one of the fields, or to a label or annotation by its key.
func fieldRef(e *errs, p loc, s *corev1.ObjectFieldSelector, fields ...string) {
	if s.APIVersion == "" {
		e.required(p.Child("apiVersion"), "")
		return
	}
	if s.FieldPath == "" {
		e.required(p.Child("fieldPath"), "")
		return
	}
	name, key, subscripted := subscript(s.FieldPath)
	if problem := fieldLabel(s.APIVersion, s.FieldPath, name, subscripted); problem != "" {
		e.invalid(p.Child("fieldPath"), s.FieldPath, "error converting fieldPath: "+problem)
		return
	}
	if name == "spec.host" {
		name = "spec.nodeName"
	}
	switch {
	case subscripted && name == "metadata.annotations":
		e.qualified(p, strings.ToLower(key))
	case subscripted:
		e.qualified(p, key)
	case !slices.Contains(fields, name):
		unsupported(e, p.Child("fieldPath"), name, fields...)
	}
}

// subscript splits metadata.labels['key'] into its path and key.
func subscript(fieldPath string) (name, key string, ok bool) {
	s, ok := strings.CutSuffix(fieldPath, "']")
	name, key, found := strings.Cut(s, "['")
	if !ok || !found || name == "" {
		return fieldPath, "", false
	}
	return name, key, true
}

// fieldLabel returns why a label is none that pods can be selected by or refer to; "" if it is one.
func fieldLabel(version, fieldPath, name string, subscripted bool) string {
	switch {
	case version != "v1":
		return "unsupported pod version: " + version
	case subscripted:
		if name != "metadata.annotations" && name != "metadata.labels" {
			return "field label does not support subscript: " + fieldPath
		}
		return ""
	}
	switch name {
	case "metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName",
		"spec.restartPolicy", "spec.serviceAccountName", "spec.schedulerName", "status.phase", "status.hostIP", "status.hostIPs",
		"status.podIP", "status.podIPs", "spec.host":
		return ""
	}
	return "field label not supported: " + fieldPath
}

func resourceFieldRef(e *errs, p loc, s *corev1.ResourceFieldSelector, volume bool) {
	hugePages := strings.HasPrefix(s.Resource, "requests.hugepages-") || strings.HasPrefix(s.Resource, "limits.hugepages-")
	fields := []string{"limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu", "requests.ephemeral-storage", "requests.memory"}
	switch {
	case volume && s.ContainerName == "":
		e.required(p.Child("containerName"), "")
	case s.Resource == "":
		e.required(p.Child("resource"), "")
	case !hugePages:
		oneOf(e, p.Child("resource"), s.Resource, fields...)
	}
	if !s.Divisor.IsZero() {
		divisor(e, p.Child("divisor"), s.Resource, s.Divisor)
	}
}

func divisor(e *errs, p loc, name string, q resource.Quantity) {
	_, of, _ := strings.Cut(name, ".")
	kind := map[string]string{"cpu": "cpu", "memory": "memory", "ephemeral-storage": "local ephemeral storage"}[of]
	if strings.HasPrefix(of, "hugepages-") {
		kind = "hugepages"
	}
	valid := []string{"1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"}
	switch {
	case kind == "cpu" && q.String() != "1m" && q.String() != "1":
		e.invalid(p, name, "only divisor's values 1m and 1 are supported with the cpu resource")
	case kind != "" && kind != "cpu" && !slices.Contains(valid, q.String()):
		e.invalid(p, name, "only divisor's values "+strings.Join(valid, ", ")+" are supported with the "+kind+" resource")
	}
}

// envFrom reports a wrong number of sources at the list, as upstream does.
func envFrom(e *errs, p loc, from []corev1.EnvFromSource) {
	for i, source := range from {
		at := p.Index(i)
		if source.Prefix != "" {
			e.invalids(at.Child("prefix"), source.Prefix, validation.IsRelaxedEnvVarName(source.Prefix))
		}
		if source.ConfigMapRef != nil {
			nameRef(e, at.Child("configMapRef", "name"), source.ConfigMapRef.Name)
		}
		if source.SecretRef != nil {
			nameRef(e, at.Child("secretRef", "name"), source.SecretRef.Name)
		}
		if source.ConfigMapRef == nil && source.SecretRef == nil {
			e.invalid(p, "", "must specify one of: `configMapRef` or `secretRef`")
		} else if source.ConfigMapRef != nil && source.SecretRef != nil {
			e.invalid(p, "", "may not have more than one field specified at a time")
		}
	}
}

func nameRef(e *errs, p loc, name string) {
	if name == "" {
		e.required(p, "")
	} else {
		e.invalids(p, name, apivalidation.NameIsDNSSubdomain(name, true))
	}
}

func volumeMounts(e *errs, p loc, c *corev1.Container, pod *podContext) {
	devices, devicePaths := map[string]bool{}, map[string]bool{}
	for _, device := range c.VolumeDevices {
		devices[device.Name], devicePaths[device.DevicePath] = true, true
	}
	paths := map[string]bool{}
	for i, mount := range c.VolumeMounts {
		at := p.Index(i)
		e.present(at.Child("name"), mount.Name)
		if _, ok := pod.volumes[mount.Name]; !ok {
			e.notFound(at.Child("name"), mount.Name)
		}
		e.present(at.Child("mountPath"), mount.MountPath)
		if paths[mount.MountPath] {
			e.invalid(at.Child("mountPath"), mount.MountPath, "must be unique")
		}
		paths[mount.MountPath] = true
		if devices[mount.Name] {
			e.invalid(at.Child("name"), mount.Name, "must not already exist in volumeDevices")
		}
		if devicePaths[mount.MountPath] {
			e.invalid(at.Child("mountPath"), mount.MountPath, "must not already exist as a path in volumeDevices")
		}
		if mount.SubPath != "" {
			localPath(e, p.Child("subPath"), mount.SubPath)
		}
		if mount.SubPathExpr != "" {
			if mount.SubPath != "" {
				e.invalid(at.Child("subPathExpr"), mount.SubPathExpr, "subPathExpr and subPath are mutually exclusive")
			}
			localPath(e, p.Child("subPathExpr"), mount.SubPathExpr)
		}
		mountPropagation(e, p.Child("mountPropagation"), mount.MountPropagation, c)
		recursiveReadOnly(e, p.Child("recursiveReadOnly"), &mount)
		bindOptions(e, at.Child("bindMountOptions"), mount.BindMountOptions, pod.volumes[mount.Name])
	}
}

func bindOptions(e *errs, p loc, options []string, volume corev1.VolumeSource) {
	known := seen[string]{}
	for i, option := range options {
		oneOf(e, p.Index(i), option, string(corev1.BindMountOptionNoDev), string(corev1.BindMountOptionNoExec), string(corev1.BindMountOptionNoSUID))
		if known.again(option) {
			e.duplicate(p.Index(i), option)
		}
	}
	if len(options) > 0 && volume.Image != nil {
		e.invalid(p, options, "bindMountOptions may not be used with image volumes")
	}
}

func mountPropagation(e *errs, p loc, mode *corev1.MountPropagationMode, c *corev1.Container) {
	if mode == nil {
		return
	}
	oneOf(e, p, *mode, corev1.MountPropagationBidirectional, corev1.MountPropagationHostToContainer, corev1.MountPropagationNone)
	privileged := c.SecurityContext != nil && deref(c.SecurityContext.Privileged)
	if *mode == corev1.MountPropagationBidirectional && !privileged {
		e.forbidden(p, "Bidirectional mount propagation is available only to privileged containers")
	}
}

func recursiveReadOnly(e *errs, p loc, mount *corev1.VolumeMount) {
	switch deref(mount.RecursiveReadOnly) {
	case "":
		if mount.RecursiveReadOnly == nil {
			return
		}
		fallthrough
	default:
		unsupported(e, p, *mount.RecursiveReadOnly, corev1.RecursiveReadOnlyDisabled, corev1.RecursiveReadOnlyEnabled, corev1.RecursiveReadOnlyIfPossible)
	case corev1.RecursiveReadOnlyDisabled:
	case corev1.RecursiveReadOnlyEnabled, corev1.RecursiveReadOnlyIfPossible:
		if !mount.ReadOnly {
			e.forbidden(p, "may only be specified when readOnly is true")
		}
		if mount.MountPropagation != nil && *mount.MountPropagation != corev1.MountPropagationNone {
			e.forbidden(p, "may only be specified when mountPropagation is None or not specified")
		}
	}
}

func volumeDevices(e *errs, p loc, c *corev1.Container, pod *podContext) {
	mounts, mountPaths := map[string]bool{}, map[string]bool{}
	for _, mount := range c.VolumeMounts {
		mounts[mount.Name], mountPaths[mount.MountPath] = true, true
	}
	names, paths := map[string]bool{}, map[string]bool{}
	for i, device := range c.VolumeDevices {
		name, devicePath := p.Index(i).Child("name"), p.Index(i).Child("devicePath")
		source, found := pod.volumes[device.Name]
		e.present(name, device.Name)
		if names[device.Name] {
			e.invalid(name, device.Name, "must be unique")
		}
		if found && source.PersistentVolumeClaim == nil && source.Ephemeral == nil {
			e.invalid(name, device.Name, "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode")
		}
		if !found {
			e.notFound(name, device.Name)
		}
		e.present(devicePath, device.DevicePath)
		if paths[device.DevicePath] {
			e.invalid(devicePath, device.DevicePath, "must be unique")
		}
		if slices.Contains(strings.Split(device.DevicePath, "/"), "..") {
			e.invalid(devicePath, device.DevicePath, "can not contain backsteps ('..')")
		} else {
			paths[device.DevicePath] = true
		}
		if mounts[device.Name] {
			e.invalid(name, device.Name, "must not already exist in volumeMounts")
		}
		if mountPaths[device.DevicePath] {
			e.invalid(devicePath, device.DevicePath, "must not already exist as a path in volumeMounts")
		}
		names[device.Name] = device.Name != "" || names[device.Name]
	}
}

func resizePolicy(e *errs, p loc, policies []corev1.ContainerResizePolicy, restart corev1.RestartPolicy) {
	seen := map[corev1.ResourceName]bool{}
	for i, policy := range policies {
		if seen[policy.ResourceName] {
			e.duplicate(p.Index(i), policy.ResourceName)
		}
		seen[policy.ResourceName] = true
		requiredOneOf(e, p, policy.ResourceName, corev1.ResourceCPU, corev1.ResourceMemory)
		requiredOneOf(e, p, policy.RestartPolicy, corev1.NotRequired, corev1.RestartContainer)
		if restart == corev1.RestartPolicyNever && policy.RestartPolicy != corev1.NotRequired {
			e.invalid(p, policy.RestartPolicy, "must be 'NotRequired' when pod `restartPolicy` is 'Never'")
		}
	}
}

func restartRules(e *errs, p loc, policy *corev1.ContainerRestartPolicy, rules []corev1.ContainerRestartRule) {
	if policy != nil {
		oneOf(e, p.Child("restartPolicy"), *policy, corev1.ContainerRestartPolicyAlways, corev1.ContainerRestartPolicyNever, corev1.ContainerRestartPolicyOnFailure)
	} else if len(rules) > 0 {
		e.required(p.Child("restartPolicy"), "must specify restartPolicy when restart rules are used")
	}
	p = p.Child("restartPolicyRules")
	if len(rules) > 20 {
		e.tooMany(p, len(rules), 20)
	}
	for i, rule := range rules {
		oneOf(e, p.Index(i).Child("action"), rule.Action, corev1.ContainerRestartRuleActionRestart, corev1.ContainerRestartRuleActionRestartAllContainers)
		codes := p.Index(i).Child("exitCodes")
		if rule.ExitCodes == nil {
			e.required(codes, "must be specified")
			continue
		}
		oneOf(e, codes.Child("operator"), rule.ExitCodes.Operator, corev1.ContainerRestartRuleOnExitCodesOpIn, corev1.ContainerRestartRuleOnExitCodesOpNotIn)
		if n := len(rule.ExitCodes.Values); n > 255 {
			e.tooMany(codes.Child("values"), n, 255)
		}
	}
}

// handlers checks the lifecycle and the probes of a container that keeps running.
func handlers(e *errs, p loc, c *corev1.Container, pod *podContext) {
	if c.Lifecycle != nil {
		lifecycle(e, p.Child("lifecycle"), c.Lifecycle, pod)
	}
	probe(e, p.Child("livenessProbe"), c.LivenessProbe, pod)
	if c.LivenessProbe != nil && c.LivenessProbe.SuccessThreshold != 1 {
		e.invalid(p.Child("livenessProbe", "successThreshold"), c.LivenessProbe.SuccessThreshold, "must be 1")
	}
	probe(e, p.Child("readinessProbe"), c.ReadinessProbe, pod)
	if c.ReadinessProbe != nil && c.ReadinessProbe.TerminationGracePeriodSeconds != nil {
		e.invalid(p.Child("readinessProbe", "terminationGracePeriodSeconds"), c.ReadinessProbe.TerminationGracePeriodSeconds, "must not be set for readinessProbes")
	}
	probe(e, p.Child("startupProbe"), c.StartupProbe, pod)
	if c.StartupProbe != nil && c.StartupProbe.SuccessThreshold != 1 {
		e.invalid(p.Child("startupProbe", "successThreshold"), c.StartupProbe.SuccessThreshold, "must be 1")
	}
}

func probe(e *errs, p loc, probe *corev1.Probe, pod *podContext) {
	if probe == nil {
		return
	}
	h := &probe.ProbeHandler
	handler(e, p, h.Exec, h.HTTPGet, h.TCPSocket, h.GRPC, nil, pod)
	e.nonNegative(p.Child("initialDelaySeconds"), int64(probe.InitialDelaySeconds))
	e.nonNegative(p.Child("timeoutSeconds"), int64(probe.TimeoutSeconds))
	e.nonNegative(p.Child("periodSeconds"), int64(probe.PeriodSeconds))
	e.nonNegative(p.Child("successThreshold"), int64(probe.SuccessThreshold))
	e.nonNegative(p.Child("failureThreshold"), int64(probe.FailureThreshold))
	if grace := probe.TerminationGracePeriodSeconds; grace != nil && *grace <= 0 {
		e.invalid(p.Child("terminationGracePeriodSeconds"), *grace, "must be greater than 0")
	}
}

func lifecycle(e *errs, p loc, l *corev1.Lifecycle, pod *podContext) {
	if h := l.PostStart; h != nil {
		handler(e, p.Child("postStart"), h.Exec, h.HTTPGet, h.TCPSocket, nil, h.Sleep, pod)
	}
	if h := l.PreStop; h != nil {
		handler(e, p.Child("preStop"), h.Exec, h.HTTPGet, h.TCPSocket, nil, h.Sleep, pod)
	}
	if l.StopSignal == nil {
		return
	}
	p = p.Child("stopSignal")
	switch {
	case pod.OS == nil:
		e.forbidden(p, "may not be set for containers with empty `spec.os.name`")
	case pod.OS.Name == corev1.Windows:
		oneOf(e, p, *l.StopSignal, corev1.SIGKILL, corev1.SIGTERM)
	case pod.OS.Name == corev1.Linux:
		oneOf(e, p, *l.StopSignal, linuxSignals()...)
	}
}

func linuxSignals() (signals []corev1.Signal) {
	for name := range strings.FieldsSeq("ABRT ALRM BUS CHLD CLD CONT FPE HUP ILL INT IO IOT KILL PIPE POLL PROF PWR QUIT " +
		"RTMAX RTMAX-1 RTMAX-10 RTMAX-11 RTMAX-12 RTMAX-13 RTMAX-14 RTMAX-2 RTMAX-3 RTMAX-4 RTMAX-5 RTMAX-6 RTMAX-7 RTMAX-8 RTMAX-9 " +
		"RTMIN RTMIN+1 RTMIN+10 RTMIN+11 RTMIN+12 RTMIN+13 RTMIN+14 RTMIN+15 RTMIN+2 RTMIN+3 RTMIN+4 RTMIN+5 RTMIN+6 RTMIN+7 RTMIN+8 RTMIN+9 " +
		"SEGV STKFLT STOP SYS TERM TRAP TSTP TTIN TTOU URG USR1 USR2 VTALRM WINCH XCPU XFSZ") {
		signals = append(signals, corev1.Signal("SIG"+name))
	}
	return signals
}

func httpProtocol(e *errs, p loc, get *corev1.HTTPGetAction) {
	switch at, protocol := p.Child("protocol"), get.Protocol; {
	case protocol == nil || *protocol == corev1.HTTPProtocolHTTP1:
	case *protocol != corev1.HTTPProtocolHTTP2:
		unsupported(e, at, *protocol, corev1.HTTPProtocolHTTP1, corev1.HTTPProtocolHTTP2)
	case get.Scheme != corev1.URISchemeHTTP:
		e.invalid(at, *protocol, "is only supported with HTTP (H2C)")
	case get.Host != "":
		e.invalid(p.Child("host"), get.Host, "must be empty when `protocol` is \"HTTP2\"")
	}
}

// handler checks that there is one handler, and what it has.
func handler(e *errs, p loc, exec *corev1.ExecAction, get *corev1.HTTPGetAction, tcp *corev1.TCPSocketAction, grpc *corev1.GRPCAction,
	sleep *corev1.SleepAction, pod *podContext,
) {
	n := 0
	one := func(name string, set bool, check func(p loc)) {
		if !set {
			return
		}
		if n++; n > 1 {
			e.forbidden(p.Child(name), "may not specify more than 1 handler type")
		} else {
			check(p.Child(name))
		}
	}
	one("exec", exec != nil, func(p loc) {
		if len(exec.Command) == 0 {
			e.required(p.Child("command"), "")
		}
	})
	one("httpGet", get != nil, func(p loc) {
		e.present(p.Child("path"), get.Path)
		e.portOrName(p.Child("port"), get.Port)
		oneOf(e, p.Child("scheme"), get.Scheme, corev1.URISchemeHTTP, corev1.URISchemeHTTPS)
		for _, header := range get.HTTPHeaders {
			e.invalids(p.Child("httpHeaders"), header.Name, validation.IsHTTPHeaderName(header.Name))
		}
		httpProtocol(e, p, get)
	})
	one("tcpSocket", tcp != nil, func(p loc) { e.portOrName(p.Child("port"), tcp.Port) })
	one("grpc", grpc != nil, func(p loc) {
		e.portOrName(p.Child("port"), intstr.FromInt32(grpc.Port))
		optionalOneOf(e, p.Child("mode"), grpc.Mode, corev1.GRPCProbeModePlaintext, corev1.GRPCProbeModeTLS)
	})
	one("sleep", sleep != nil, func(p loc) {
		if grace := pod.TerminationGracePeriodSeconds; grace != nil && (sleep.Seconds < 0 || sleep.Seconds > *grace) {
			e.invalid(p, sleep.Seconds, fmt.Sprintf("must be non-negative and less than terminationGracePeriodSeconds (%d)", *grace))
		}
	})
	if n == 0 {
		e.required(p, "must specify a handler type")
	}
}
