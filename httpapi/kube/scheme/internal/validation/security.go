package validation

import (
	"fmt"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// securityContext checks the security context of a container. Privileged containers are allowed, as by the API servers of
// kind and envtest (--allow-privileged).
func securityContext(e *errs, p loc, s *corev1.SecurityContext, hostUsers bool) {
	if s == nil {
		return
	}
	userAndGroup(e, p, s.RunAsUser, s.RunAsGroup)
	if s.ProcMount != nil {
		oneOf(e, p.Child("procMount"), *s.ProcMount, corev1.DefaultProcMount, corev1.UnmaskedProcMount)
		if hostUsers && *s.ProcMount == corev1.UnmaskedProcMount {
			e.invalid(p.Child("procMount"), s.ProcMount, "`hostUsers` must be false to use `Unmasked`")
		}
	}
	seccomp(e, p.Child("seccompProfile"), s.SeccompProfile)
	if s.AllowPrivilegeEscalation != nil && !*s.AllowPrivilegeEscalation {
		if deref(s.Privileged) {
			e.invalid(p, internal{s}, "cannot set `allowPrivilegeEscalation` to false and `privileged` to true")
		}
		for _, c := range deref(s.Capabilities).Add {
			if c == "CAP_SYS_ADMIN" {
				e.ratchet("capabilities", func(e *errs) {
					e.invalid(p, internal{s}, "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN")
				})
			}
		}
	}
	windowsOptions(e, p.Child("windowsOptions"), s.WindowsOptions)
	appArmor(e, p.Child("appArmorProfile"), s.AppArmorProfile)
}

func userAndGroup(e *errs, p loc, user, group *int64) {
	if user != nil {
		e.invalids(p.Child("runAsUser"), *user, validation.IsValidUserID(*user))
	}
	if group != nil {
		e.invalids(p.Child("runAsGroup"), *group, validation.IsValidGroupID(*group))
	}
}

func podSecurityContext(e *errs, p loc, spec *corev1.PodSpec) {
	s := spec.SecurityContext
	if s == nil {
		s = &corev1.PodSecurityContext{}
	}
	if s.FSGroup != nil {
		e.invalids(p.Child("fsGroup"), *s.FSGroup, validation.IsValidGroupID(*s.FSGroup))
	}
	userAndGroup(e, p, s.RunAsUser, s.RunAsGroup)
	for i, group := range s.SupplementalGroups {
		e.invalids(p.Child("supplementalGroups").Index(i), group, validation.IsValidGroupID(group))
	}
	sysctls(e, p.Child("sysctls"), s.Sysctls, spec)
	optionalOneOf(e, p.Child("fsGroupChangePolicy"), s.FSGroupChangePolicy, corev1.FSGroupChangeAlways, corev1.FSGroupChangeOnRootMismatch)
	seccomp(e, p.Child("seccompProfile"), s.SeccompProfile)
	windowsOptions(e, p.Child("windowsOptions"), s.WindowsOptions)
	appArmor(e, p.Child("appArmorProfile"), s.AppArmorProfile)
	optionalOneOf(e, p.Child("supplementalGroupsPolicy"), s.SupplementalGroupsPolicy, corev1.SupplementalGroupsPolicyMerge, corev1.SupplementalGroupsPolicyStrict)
	policies := []corev1.PodSELinuxChangePolicy{corev1.SELinuxChangePolicyMountOption, corev1.SELinuxChangePolicyRecursive}
	if !e.gates.Enabled("SELinuxMount") {
		policies = policies[1:]
	}
	optionalOneOf(e, p.Child("seLinuxChangePolicy"), s.SELinuxChangePolicy, policies...)
}

func sysctls(e *errs, p loc, list []corev1.Sysctl, spec *corev1.PodSpec) {
	const pattern = `^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$`
	if len(list) == 0 {
		return // before the pattern is compiled
	}
	names, good := seen[string]{}, regexp.MustCompile(pattern)
	for i, s := range list {
		p := p.Index(i).Child("name")
		again := names.again(s.Name)
		if s.Name == "" {
			e.required(p, "")
		} else if len(s.Name) > 253 || !good.MatchString(s.Name) {
			e.invalid(p, s.Name, "must have at most 253 characters and match regex "+pattern)
		} else if again {
			e.duplicate(p, s.Name)
		}
		name := strings.ReplaceAll(s.Name, "/", ".")
		e.ratchet("sysctls of the host", func(e *errs) {
			switch {
			case spec.HostNetwork && strings.HasPrefix(name, "net."):
				e.invalid(p, s.Name, "may not be specified when 'hostNetwork' is true")
			case spec.HostIPC && ipcSysctl(name):
				e.invalid(p, s.Name, "may not be specified when 'hostIPC' is true")
			}
		})
	}
}

// ipcSysctl reports whether a parameter belongs to the namespace of interprocess communication.
func ipcSysctl(name string) bool {
	for _, prefix := range []string{"kernel.shm", "kernel.msg", "fs.mqueue."} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return name == "kernel.sem"
}

func seccomp(e *errs, p loc, s *corev1.SeccompProfile) {
	if s == nil {
		return
	}
	if s.Type == "" {
		e.required(p.Child("type"), "type is required when seccompProfile is set")
	} else {
		oneOf(e, p.Child("type"), s.Type, corev1.SeccompProfileTypeLocalhost, corev1.SeccompProfileTypeRuntimeDefault, corev1.SeccompProfileTypeUnconfined)
	}
	p = p.Child("localhostProfile")
	switch local := s.Type == corev1.SeccompProfileTypeLocalhost; {
	case local && s.LocalhostProfile == nil:
		e.required(p, "must be set when seccomp type is Localhost")
	case local:
		localPath(e, p, *s.LocalhostProfile)
	case s.LocalhostProfile != nil:
		e.invalid(p, internal{s}, "can only be set when seccomp type is Localhost")
	}
}

func appArmor(e *errs, p loc, s *corev1.AppArmorProfile) {
	if s == nil {
		return
	}
	local := p.Child("localhostProfile")
	switch s.Type {
	case corev1.AppArmorProfileTypeLocalhost:
		const missing = "must be set when AppArmor type is Localhost"
		if s.LocalhostProfile == nil {
			e.required(local, missing)
			return
		}
		profile := *s.LocalhostProfile
		if trimmed := strings.TrimSpace(profile); trimmed != profile {
			e.invalid(local, profile, "must not be padded with whitespace")
		} else if profile == "" {
			e.required(local, missing)
		}
		if len(profile) > 4095 {
			e.tooLong(local, 4095)
		}
	case corev1.AppArmorProfileTypeRuntimeDefault, corev1.AppArmorProfileTypeUnconfined:
		if s.LocalhostProfile != nil {
			e.invalid(local, s.LocalhostProfile, "can only be set when AppArmor type is Localhost")
		}
	case "":
		e.required(p.Child("type"), "type is required when appArmorProfile is set")
	default:
		unsupported(e, p.Child("type"), s.Type, corev1.AppArmorProfileTypeLocalhost, corev1.AppArmorProfileTypeRuntimeDefault, corev1.AppArmorProfileTypeUnconfined)
	}
}

func windowsOptions(e *errs, p loc, s *corev1.WindowsSecurityContextOptions) {
	if s == nil {
		return
	}
	if name := s.GMSACredentialSpecName; name != nil {
		e.invalids(p.Child("gmsaCredentialSpecName"), name, validation.IsDNS1123Subdomain(*name))
	}
	if spec := s.GMSACredentialSpec; spec != nil {
		if *spec == "" {
			e.invalid(p.Child("gmsaCredentialSpec"), spec, "gmsaCredentialSpec cannot be an empty string")
		} else if len(*spec) > 64<<10 {
			e.invalid(p.Child("gmsaCredentialSpec"), spec, "gmsaCredentialSpec size must be under 64 KiB")
		}
	}
	if s.RunAsUserName != nil {
		windowsUser(e, p.Child("runAsUserName"), s.RunAsUserName)
	}
}

// windowsUser checks the name of a user of Windows, DOMAIN\user or user.
func windowsUser(e *errs, p loc, name *string) {
	matches := func(pattern, s string) bool {
		ok, err := regexp.MatchString(pattern, s)
		return ok && err == nil
	}
	switch {
	case *name == "":
		e.invalid(p, name, "runAsUserName cannot be an empty string")
		return
	case matches(`[[:cntrl:]]+`, *name):
		e.invalid(p, name, "runAsUserName cannot contain control characters")
		return
	case strings.Count(*name, `\`) > 1:
		e.invalid(p, name, "runAsUserName cannot contain more than one backslash")
		return
	}
	domain, user, hasDomain := strings.Cut(*name, `\`)
	if !hasDomain {
		domain, user = "", *name
	}
	if len(domain) >= 256 {
		e.invalid(p, name, "runAsUserName's Domain length must be under 256 characters")
	}
	const label = `[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?`
	if hasDomain && !matches(`^[^\\/:\*\?"<>|\.][^\\/:\*\?"<>|]{0,14}$`, domain) && !matches(`^`+label+`(?:\.`+label+`)*$`, domain) {
		e.invalid(p, name, "runAsUserName's Domain doesn't match the NetBios nor the DNS format")
	}
	if user == "" {
		e.invalid(p, name, "runAsUserName's User cannot be empty")
	} else if len(user) > 104 {
		e.invalid(p, name, "runAsUserName's User length must not be longer than 104 characters")
	}
	if matches(`^[\. ]+$`, user) {
		e.invalid(p, name, "runAsUserName's User cannot contain only periods or spaces")
	}
	if matches(`["/\\:;|=,\+\*\?<>@\[\]]`, user) {
		e.invalid(p, name, `runAsUserName's User cannot contain the following characters: "/\:;|=,+*?<>@[]`)
	}
}

// hostProcess checks that either all containers of a pod are processes of a Windows host, or none.
func hostProcess(e *errs, p loc, spec *corev1.PodSpec) {
	option := func(s *corev1.WindowsSecurityContextOptions) *bool { return deref(s).HostProcess }
	ofPod := option(deref(spec.SecurityContext).WindowsOptions)
	all, host := 0, 0
	allContainers(spec, p, func(p loc, c *corev1.Container) {
		all++
		own := option(deref(c.SecurityContext).WindowsOptions)
		if ofPod != nil && own != nil && *ofPod != *own {
			e.invalid(p.Child("securityContext", "windowsOptions", "hostProcess"), *own,
				fmt.Sprintf("pod hostProcess value must be identical if both are specified, was %v", *ofPod))
		}
		if own == nil {
			own = ofPod
		}
		if deref(own) {
			host++
		}
	})
	if host == 0 {
		return
	}
	if host != all {
		e.invalid(p, "", "If pod contains any hostProcess containers then all containers must be HostProcess containers")
	}
	if !spec.HostNetwork {
		e.invalid(p.Child("hostNetwork"), false, "hostNetwork must be true if pod contains any hostProcess containers")
	}
}

func operatingSystem(e *errs, p loc, spec *corev1.PodSpec) {
	switch {
	case spec.OS == nil:
	case spec.OS.Name == "":
		e.required(p.Child("os", "name"), "")
	case spec.OS.Name == corev1.Linux:
		const detail = "windows options cannot be set for a linux pod"
		if deref(spec.SecurityContext).WindowsOptions != nil {
			e.forbidden(p.Child("securityContext", "windowsOptions"), detail)
		}
		allContainers(spec, p, func(p loc, c *corev1.Container) {
			if deref(c.SecurityContext).WindowsOptions != nil {
				e.forbidden(p.Child("securityContext", "windowsOptions"), detail)
			}
		})
	case spec.OS.Name == corev1.Windows:
		windowsPod(e, p, spec)
	default:
		unsupported(e, p.Child("os"), spec.OS.Name, corev1.Linux, corev1.Windows)
	}
}

// windowsPod forbids what only Linux has.
func windowsPod(e *errs, p loc, spec *corev1.PodSpec) {
	forbid := func(p loc, name string, set bool) {
		if set {
			e.forbidden(p.Child(name), "cannot be set for a windows pod")
		}
	}
	s, at := deref(spec.SecurityContext), p.Child("securityContext")
	forbid(at, "appArmorProfile", s.AppArmorProfile != nil)
	forbid(at, "seLinuxOptions", s.SELinuxOptions != nil)
	forbid(p, "hostUsers", spec.HostUsers != nil)
	forbid(p, "hostPID", spec.HostPID)
	forbid(p, "hostIPC", spec.HostIPC)
	forbid(at, "seccompProfile", s.SeccompProfile != nil)
	forbid(at, "fsGroup", s.FSGroup != nil)
	forbid(at, "fsGroupChangePolicy", s.FSGroupChangePolicy != nil)
	forbid(at, "sysctls", len(s.Sysctls) > 0)
	forbid(p, "shareProcessNamespace", spec.ShareProcessNamespace != nil)
	forbid(at, "runAsUser", s.RunAsUser != nil)
	forbid(at, "runAsGroup", s.RunAsGroup != nil)
	forbid(at, "supplementalGroups", s.SupplementalGroups != nil)
	forbid(at, "supplementalGroupsPolicy", s.SupplementalGroupsPolicy != nil)
	forbid(at, "seLinuxChangePolicy", s.SELinuxChangePolicy != nil)
	allContainers(spec, p, func(p loc, c *corev1.Container) {
		s, at := deref(c.SecurityContext), p.Child("securityContext")
		forbid(at, "appArmorProfile", s.AppArmorProfile != nil)
		forbid(at, "seLinuxOptions", s.SELinuxOptions != nil)
		forbid(at, "seccompProfile", s.SeccompProfile != nil)
		forbid(at, "capabilities", s.Capabilities != nil)
		forbid(at, "readOnlyRootFilesystem", s.ReadOnlyRootFilesystem != nil)
		forbid(at, "privileged", s.Privileged != nil)
		forbid(at, "allowPrivilegeEscalation", s.AllowPrivilegeEscalation != nil)
		forbid(at, "procMount", s.ProcMount != nil)
		forbid(at, "runAsUser", s.RunAsUser != nil)
		forbid(at, "runAsGroup", s.RunAsGroup != nil)
	})
}
