package validation

import (
	"path"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func accessModes(e *errs, p loc, modes []corev1.PersistentVolumeAccessMode) {
	valid := []corev1.PersistentVolumeAccessMode{corev1.ReadOnlyMany, corev1.ReadWriteMany, corev1.ReadWriteOnce, corev1.ReadWriteOncePod}
	single, other := false, false
	for _, mode := range modes {
		oneOf(e, p, mode, valid...)
		single = single || mode == corev1.ReadWriteOncePod
		other = other || mode != corev1.ReadWriteOncePod && slices.Contains(valid, mode)
	}
	if single && other {
		e.forbidden(p, "may not use ReadWriteOncePod with other access modes")
	}
}

func className(e *errs, p loc, name string) {
	e.invalids(p, name, apivalidation.NameIsDNSSubdomain(name, false))
}

func volumeMode(e *errs, p loc, mode *corev1.PersistentVolumeMode) {
	optionalOneOf(e, p.Child("volumeMode"), mode, corev1.PersistentVolumeBlock, corev1.PersistentVolumeFilesystem)
}

func persistentVolume(e *errs, subresource string, v, old *corev1.PersistentVolume) {
	if subresource == "status" {
		return
	}
	p := field.NewPath("spec")
	volumeSpec(e, p, &v.Spec, v.Name, false)
	mountOptions(e, v)
	if old == nil {
		return
	}
	volumeSpec(e, p, &v.Spec, v.Name, false) // upstream's strategy does so twice
	now := v.Spec.PersistentVolumeSource.DeepCopy()
	if was := old.Spec.CSI; was != nil && was.ControllerExpandSecretRef == nil && now.CSI != nil {
		now.CSI.ControllerExpandSecretRef = nil
	}
	if !apiequality.Semantic.DeepEqual(*now, old.Spec.PersistentVolumeSource) {
		e.forbidden(p.Child("persistentvolumesource"), "spec.persistentvolumesource is immutable after creation\n"+difference(old.Spec.PersistentVolumeSource, *now))
	}
	e.immutable(field.NewPath("volumeMode"), v.Spec.VolumeMode, old.Spec.VolumeMode)
	if was := old.Spec.NodeAffinity; was != nil && !sameAffinity(v.Spec.NodeAffinity, was) {
		e.invalid(field.NewPath("nodeAffinity"), internal{v.Spec.NodeAffinity}, apivalidation.FieldImmutableErrorMsg+", except for updating from beta label to GA")
	}
	if old.Spec.VolumeAttributesClassName != nil && v.Spec.VolumeAttributesClassName == nil {
		e.forbidden(p.Child("volumeAttributesClassName"), "update from non-nil value to nil is forbidden")
	}
}

// mountOptions checks that the plugin of a volume knows the annotation for mount options, if it is there (upstream: volume/validation).
func mountOptions(e *errs, v *corev1.PersistentVolume) {
	_, ok := v.Annotations[corev1.MountOptionAnnotation]
	switch s := &v.Spec.PersistentVolumeSource; {
	case !ok:
	case s.GCEPersistentDisk != nil, s.AWSElasticBlockStore != nil, s.Glusterfs != nil, s.NFS != nil, s.RBD != nil, s.Quobyte != nil, s.ISCSI != nil,
		s.Cinder != nil, s.CephFS != nil, s.AzureFile != nil, s.VsphereVolume != nil, s.AzureDisk != nil, s.PhotonPersistentDisk != nil:
	default:
		e.forbidden(field.NewPath("metadata", "annotations", corev1.MountOptionAnnotation), "may not specify mount options for this volume type")
	}
}

// sameAffinity reports whether node affinities are equal but for labels of a beta that have their final names.
func sameAffinity(now, was *corev1.VolumeNodeAffinity) bool {
	final := map[string]string{
		corev1.LabelFailureDomainBetaZone: corev1.LabelTopologyZone, corev1.LabelFailureDomainBetaRegion: corev1.LabelTopologyRegion,
		"beta.kubernetes.io/os": corev1.LabelOSStable, "beta.kubernetes.io/arch": corev1.LabelArchStable,
		corev1.LabelInstanceType: corev1.LabelInstanceTypeStable,
	}
	renamed, terms := was.DeepCopy(), deref(deref(now).Required).NodeSelectorTerms
	for i, term := range deref(renamed.Required).NodeSelectorTerms {
		for j := range term.MatchExpressions {
			key := &term.MatchExpressions[j].Key
			if i < len(terms) && j < len(terms[i].MatchExpressions) && final[*key] == terms[i].MatchExpressions[j].Key {
				*key = final[*key]
			}
		}
	}
	return apiequality.Semantic.DeepEqual(now, renamed)
}

// volumeSpec checks the spec of a PersistentVolume, or of one that is inline in a VolumeAttachment.
func volumeSpec(e *errs, p loc, s *corev1.PersistentVolumeSpec, name string, inline bool) {
	const where = " in the context of inline volumes"
	forbid := func(name string, set bool) {
		if inline && set {
			e.forbidden(p.Child(name), "may not be specified"+where)
		}
	}
	forbid("claimRef", s.ClaimRef != nil)
	forbid("capacity", len(s.Capacity) > 0)
	if inline && s.CSI == nil {
		e.required(p.Child("csi"), "has to be specified"+where)
	}
	if len(s.AccessModes) == 0 {
		e.required(p.Child("accessModes"), "")
	}
	accessModes(e, p.Child("accessModes"), s.AccessModes)
	if !inline {
		capacity(e, p.Child("capacity"), s.Capacity)
	}
	if policy := s.PersistentVolumeReclaimPolicy; inline && policy != "" && policy != corev1.PersistentVolumeReclaimRetain {
		e.forbidden(p.Child("persistentVolumeReclaimPolicy"), "may only be Retain"+where)
	} else if policy != "" && !inline {
		oneOf(e, p.Child("persistentVolumeReclaimPolicy"), policy, corev1.PersistentVolumeReclaimDelete, corev1.PersistentVolumeReclaimRecycle, corev1.PersistentVolumeReclaimRetain)
	}
	forbid("nodeAffinity", s.NodeAffinity != nil)
	if !inline && s.NodeAffinity != nil {
		if s.NodeAffinity.Required != nil {
			nodeSelector(e, p.Child("nodeAffinity", "required"), s.NodeAffinity.Required)
		} else {
			e.required(p.Child("nodeAffinity", "required"), "must specify required node constraints")
		}
	}
	persistentSource(e, p, s, name)
	if s.HostPath != nil && path.Clean(s.HostPath.Path) == "/" && s.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimRecycle {
		e.forbidden(p.Child("persistentVolumeReclaimPolicy"), "may not be 'recycle' for a hostPath mount of '/'")
	}
	forbid("storageClassName", s.StorageClassName != "")
	if !inline && s.StorageClassName != "" {
		className(e, p.Child("storageClassName"), s.StorageClassName)
	}
	if !inline {
		volumeMode(e, p, s.VolumeMode)
	} else if s.VolumeMode != nil && *s.VolumeMode != corev1.PersistentVolumeFilesystem {
		e.forbidden(p.Child("volumeMode"), "may not specify volumeMode other than Filesystem"+where)
	}
	if name := s.VolumeAttributesClassName; name != nil {
		if *name == "" {
			e.required(p.Child("volumeAttributesClassName"), "an empty string is disallowed")
		} else {
			className(e, p.Child("volumeAttributesClassName"), *name)
		}
		if s.CSI == nil {
			e.required(p.Child("csi"), "has to be specified when using volumeAttributesClassName")
		}
	}
}

func capacity(e *errs, p loc, list corev1.ResourceList) {
	if len(list) == 0 {
		e.required(p, "")
	}
	if _, ok := list[corev1.ResourceStorage]; !ok || len(list) > 1 {
		unsupported(e, p, list, corev1.ResourceStorage)
	}
	for _, name := range sorted(list) {
		q := list[name]
		validQuantity(e, p.Key(string(name)), list, name)
		e.positiveQuantity(p.Key(string(name)), q)
	}
}

// validQuantity checks that the whole number of a quantity is not negative.
func validQuantity(e *errs, p loc, list corev1.ResourceList, name corev1.ResourceName) {
	q := list[name]
	if n := q.Value(); n < 0 {
		e.invalid(p, n, "must be a valid resource quantity")
	}
}

func persistentSource(e *errs, p loc, s *corev1.PersistentVolumeSpec, name string) {
	u := &union{e: e, p: p}
	u.member("hostPath", s.HostPath != nil, func(p loc) { hostPath(e, p, s.HostPath) })
	u.member("gcePersistentDisk", s.GCEPersistentDisk != nil, func(loc) { gceDisk(e, p.Child("persistentDisk"), s.GCEPersistentDisk) })
	u.member("awsElasticBlockStore", s.AWSElasticBlockStore != nil, func(p loc) { awsDisk(e, p, s.AWSElasticBlockStore) })
	u.member("glusterfs", s.Glusterfs != nil, func(p loc) {
		e.present(p.Child("endpoints"), s.Glusterfs.EndpointsName)
		e.present(p.Child("path"), s.Glusterfs.Path)
		if namespace := s.Glusterfs.EndpointsNamespace; namespace != nil && *namespace == "" {
			e.invalid(p.Child("endpointsNamespace"), *namespace, "if the endpointnamespace is set, it must be a valid namespace name")
		} else if namespace != nil {
			e.invalids(p.Child("endpointsNamespace"), *namespace, apivalidation.ValidateNamespaceName(*namespace, false))
		}
	})
	u.member("flocker", s.Flocker != nil, func(p loc) { flocker(e, p, s.Flocker) })
	u.member("nfs", s.NFS != nil, func(p loc) { nfs(e, p, s.NFS) })
	u.member("rbd", s.RBD != nil, func(p loc) { rbd(e, p, s.RBD.CephMonitors, s.RBD.RBDImage) })
	u.member("quobyte", s.Quobyte != nil, func(p loc) { quobyte(e, p, s.Quobyte) })
	u.member("cephFS", s.CephFS != nil, func(loc) { monitors(e, p.Child("cephfs"), s.CephFS.Monitors) })
	u.member("iscsi", s.ISCSI != nil, func(p loc) {
		e.present(p.Child("targetPortal"), s.ISCSI.TargetPortal)
		if s.ISCSI.InitiatorName != nil && len(name+":"+s.ISCSI.TargetPortal) > 64 {
			e.invalid(p.Child("targetportal"), s.ISCSI.TargetPortal, "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.")
		}
		iscsi(e, p, s.ISCSI.IQN, s.ISCSI.Lun, (s.ISCSI.DiscoveryCHAPAuth || s.ISCSI.SessionCHAPAuth) && s.ISCSI.SecretRef == nil, "")
		if s.ISCSI.SecretRef != nil {
			e.present(p.Child("secretRef", "name"), s.ISCSI.SecretRef.Name)
		}
		initiator(e, p, s.ISCSI.InitiatorName, "")
	})
	u.member("cinder", s.Cinder != nil, func(p loc) {
		e.present(p.Child("volumeID"), s.Cinder.VolumeID)
		if ref := s.Cinder.SecretRef; ref != nil {
			e.present(p.Child("secretRef", "name"), ref.Name)
			e.present(p.Child("secretRef", "namespace"), ref.Namespace)
		}
	})
	u.member("fc", s.FC != nil, func(p loc) { fibreChannel(e, p, s.FC) })
	if s.FlexVolume != nil { // upstream lets it stand beside another
		u.count++
		flexVolume(e, p.Child("flexVolume"), s.FlexVolume.Driver, s.FlexVolume.Options)
	}
	u.member("azureFile", s.AzureFile != nil, func(p loc) {
		e.present(p.Child("secretName"), s.AzureFile.SecretName)
		e.present(p.Child("shareName"), s.AzureFile.ShareName)
		if namespace := s.AzureFile.SecretNamespace; namespace != nil {
			e.present(p.Child("secretNamespace"), *namespace)
		}
	})
	u.member("vsphereVolume", s.VsphereVolume != nil, func(p loc) { e.present(p.Child("volumePath"), s.VsphereVolume.VolumePath) })
	u.member("photonPersistentDisk", s.PhotonPersistentDisk != nil, func(p loc) { e.present(p.Child("pdID"), s.PhotonPersistentDisk.PdID) })
	u.member("portworxVolume", s.PortworxVolume != nil, func(p loc) { e.present(p.Child("volumeID"), s.PortworxVolume.VolumeID) })
	u.member("azureDisk", s.AzureDisk != nil, func(p loc) { azureDisk(e, p, s.AzureDisk) })
	u.member("scaleIO", s.ScaleIO != nil, func(p loc) { scaleIO(e, p, s.ScaleIO.Gateway, s.ScaleIO.System, s.ScaleIO.VolumeName) })
	u.member("local", s.Local != nil, func(loc) {
		if s.Local.Path == "" {
			e.required(p.Child("local", "path"), "")
		} else {
			noBacksteps(e, p.Child("local", "path"), s.Local.Path)
		}
		if s.NodeAffinity == nil {
			e.required(p.Child("nodeAffinity"), "Local volume requires node affinity")
		}
	})
	u.member("storageos", s.StorageOS != nil, func(p loc) {
		storageOS(e, p, s.StorageOS.VolumeName, s.StorageOS.VolumeNamespace)
		if ref := s.StorageOS.SecretRef; ref != nil {
			e.present(p.Child("secretRef", "name"), ref.Name)
			e.present(p.Child("secretRef", "namespace"), ref.Namespace)
		}
	})
	u.member("csi", s.CSI != nil, func(p loc) { csiSource(e, p, s.CSI) })
	if u.count == 0 {
		e.required(p, "must specify a volume type")
	}
}

func csiSource(e *errs, p loc, s *corev1.CSIPersistentVolumeSource) {
	csiDriverName(e, p.Child("driver"), s.Driver)
	e.present(p.Child("volumeHandle"), s.VolumeHandle)
	for _, secret := range []struct {
		member string
		ref    *corev1.SecretReference
	}{
		{"controllerPublishSecretRef", s.ControllerPublishSecretRef}, {"controllerExpandSecretRef", s.ControllerExpandSecretRef},
		{"nodePublishSecretRef", s.NodePublishSecretRef}, {"nodeExpandSecretRef", s.NodeExpandSecretRef},
	} {
		if secret.ref == nil {
			continue
		}
		p := p.Child(secret.member)
		if secret.ref.Name == "" {
			e.required(p.Child("name"), "")
		} else {
			e.subdomain(p.Child("name"), secret.ref.Name)
		}
		if secret.ref.Namespace == "" {
			e.required(p.Child("namespace"), "")
		} else {
			e.label(p.Child("namespace"), secret.ref.Namespace)
		}
	}
}

// claimSpec checks the spec of a claim or of its template. anyGroup lets data sources keep an API group that is not valid.
func claimSpec(e *errs, p loc, s *corev1.PersistentVolumeClaimSpec, anyGroup bool) {
	if len(s.AccessModes) == 0 {
		e.required(p.Child("accessModes"), "at least 1 access mode is required")
	}
	e.selector(p.Child("selector"), s.Selector)
	accessModes(e, p.Child("accessModes"), s.AccessModes)
	storage := p.Child("resources").Key(string(corev1.ResourceStorage))
	if q, ok := s.Resources.Requests[corev1.ResourceStorage]; !ok {
		e.required(storage, "")
	} else {
		e.positiveQuantity(storage, q)
	}
	if name := deref(s.StorageClassName); name != "" {
		className(e, p.Child("storageClassName"), name)
	}
	volumeMode(e, p, s.VolumeMode)
	source, ref := s.DataSource, s.DataSourceRef
	if source != nil {
		dataSource(e, p.Child("dataSource"), source.Name, source.Kind, source.APIGroup, anyGroup)
	}
	if ref != nil {
		dataSource(e, p.Child("dataSourceRef"), ref.Name, ref.Kind, ref.APIGroup, anyGroup)
		if namespace := deref(ref.Namespace); namespace != "" {
			e.invalids(p.Child("dataSourceRef", "namespace"), namespace, apivalidation.ValidateNamespaceName(namespace, false))
		}
	}
	switch {
	case source == nil || ref == nil:
	case deref(ref.Namespace) != "":
		e.invalid(p, p.Child("dataSource"), "may not be specified when dataSourceRef.namespace is specified")
	case !apiequality.Semantic.DeepEqual(source.APIGroup, ref.APIGroup) || source.Kind != ref.Kind || source.Name != ref.Name:
		e.invalid(p, p.Child("dataSource"), "must match dataSourceRef")
	}
	if name := deref(s.VolumeAttributesClassName); name != "" {
		className(e, p.Child("volumeAttributesClassName"), name)
	}
}

func dataSource(e *errs, p loc, name, kind string, group *string, anyGroup bool) {
	e.present(p.Child("name"), name)
	e.present(p.Child("kind"), kind)
	if g := deref(group); g == "" && kind != "PersistentVolumeClaim" {
		e.invalid(p, kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup")
	} else if g != "" && !anyGroup {
		e.subdomain(p.Child("apiGroup"), g)
	}
}

func claim(e *errs, subresource string, c, old *corev1.PersistentVolumeClaim) {
	p := field.NewPath("spec")
	switch {
	case old == nil:
		claimSpec(e, p, &c.Spec, false)
	case subresource == "status":
		claimStatus(e, c)
	default:
		kept := deref(old.Spec.DataSource).APIGroup != nil || deref(old.Spec.DataSourceRef).APIGroup != nil
		claimSpec(e, p, &c.Spec, kept)
		claimUpdate(e, p, c, old)
	}
}

func claimUpdate(e *errs, p loc, c, old *corev1.PersistentVolumeClaim) {
	const class = corev1.BetaStorageClassAnnotation
	now, was := c.Spec.DeepCopy(), old.Spec.DeepCopy()
	if was.VolumeName == "" {
		was.VolumeName = now.VolumeName // the binding
	}
	annotation, annotated := old.Annotations[class]
	next, keeps := c.Annotations[class]
	if name := now.StorageClassName; annotated && was.StorageClassName == nil && name != nil && *name == annotation && (!keeps || next == annotation) {
		now.StorageClassName = nil
	} else if next != annotation {
		e.invalid(field.NewPath("metadata", "annotations", class), next, apivalidation.FieldImmutableErrorMsg)
	}
	if name := c.Spec.StorageClassName; name != nil && old.Spec.StorageClassName == nil && (!annotated || *name == annotation) {
		now.StorageClassName = was.StorageClassName
	}
	bound := c.Status.Phase == corev1.ClaimBound
	if bound && now.Resources.Requests != nil {
		now.Resources.Requests[corev1.ResourceStorage] = old.Spec.Resources.Requests[corev1.ResourceStorage]
	}
	if bound {
		now.VolumeAttributesClassName = was.VolumeAttributesClassName
	}
	if !apiequality.Semantic.DeepEqual(now, was) {
		e.forbidden(p, "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n"+difference(*was, *now))
	}
	size, before := c.Spec.Resources.Requests[corev1.ResourceStorage], old.Spec.Resources.Requests[corev1.ResourceStorage]
	have := old.Status.Capacity[corev1.ResourceStorage]
	if size.Cmp(before) < 0 && size.Cmp(have) <= 0 {
		e.forbidden(p.Child("resources", "requests", "storage"), "field can not be less than status.capacity")
	}
	e.immutable(field.NewPath("volumeMode"), c.Spec.VolumeMode, old.Spec.VolumeMode)
	if name := c.Spec.VolumeAttributesClassName; old.Status.CurrentVolumeAttributesClassName != nil &&
		!apiequality.Semantic.DeepEqual(name, old.Spec.VolumeAttributesClassName) {
		const detail = " is forbidden when status.currentVolumeAttributesClassName is not nil"
		if name == nil {
			e.forbidden(p.Child("volumeAttributesClassName"), "update to nil"+detail)
		} else if *name == "" {
			e.forbidden(p.Child("volumeAttributesClassName"), "update to empty string"+detail)
		}
	}
}

func claimStatus(e *errs, c *corev1.PersistentVolumeClaim) {
	if len(c.Spec.AccessModes) == 0 {
		e.required(field.NewPath("Spec", "accessModes"), "")
	}
	p, s := field.NewPath("status"), &c.Status
	for _, name := range sorted(s.Capacity) {
		validQuantity(e, p.Child("capacity").Key(string(name)), s.Capacity, name)
	}
	healthConditions(e, p.Child("healthStatus", "healthConditions"), deref(s.HealthStatus).HealthConditions)
	key := func(p loc, name corev1.ResourceName) bool {
		if messages := validation.IsQualifiedName(string(name)); len(messages) > 0 {
			e.invalids(p, string(name), messages)
			return false
		}
		if native(name) && name != corev1.ResourceStorage {
			unsupported(e, p, string(name), corev1.ResourceStorage)
			return false
		}
		return true
	}
	states := []corev1.ClaimResourceStatus{corev1.PersistentVolumeClaimControllerResizeInProgress, corev1.PersistentVolumeClaimControllerResizeInfeasible,
		corev1.PersistentVolumeClaimNodeResizeInProgress, corev1.PersistentVolumeClaimNodeResizeInfeasible, corev1.PersistentVolumeClaimNodeResizePending}
	slices.Sort(states)
	for _, name := range sorted(s.AllocatedResourceStatuses) {
		at := p.Child("allocatedResourceStatuses")
		key(at, name)
		if !slices.Contains(states, s.AllocatedResourceStatuses[name]) {
			unsupported(e, at, name, states...)
		}
	}
	for _, name := range sorted(s.AllocatedResources) {
		at, before := p.Child("allocatedResources"), len(e.ErrorList)
		if !key(at, name) {
			continue
		}
		if validQuantity(e, at.Key(string(name)), s.AllocatedResources, name); len(e.ErrorList) == before {
			resourceQuantity(e, at.Key(string(name)), corev1.ResourceStorage, s.AllocatedResources[name])
		}
	}
}
