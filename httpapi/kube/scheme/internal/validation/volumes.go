package validation

import (
	"fmt"
	"net"
	"path"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// volumes checks the volumes of a pod and returns the sources of those without errors, by name. meta is nil in a template.
func volumes(e *errs, p loc, list []corev1.Volume, meta *metav1.ObjectMeta, isPod bool) map[string]corev1.VolumeSource {
	good, made := map[string]corev1.VolumeSource{}, map[string]bool{}
	if meta != nil && meta.Name != "" {
		for _, v := range list {
			if v.Ephemeral != nil {
				made[meta.Name+"-"+v.Name] = true
			}
		}
	}
	for i := range list {
		v, p, own := &list[i], p.Index(i), e.own()
		volumeSource(own, p, v, meta, isPod)
		if v.Name == "" {
			own.required(p.Child("name"), "")
		} else {
			own.label(p.Child("name"), v.Name)
		}
		if _, ok := good[v.Name]; ok {
			own.duplicate(p.Child("name"), v.Name)
		}
		if len(own.ErrorList) == 0 {
			good[v.Name] = v.VolumeSource
		}
		e.add(own.ErrorList...)
		if claim := v.PersistentVolumeClaim; claim != nil && made[claim.ClaimName] {
			e.invalid(p.Child("persistentVolumeClaim", "claimName"), claim.ClaimName, "must not reference a PVC that gets created for an ephemeral volume")
		}
	}
	return good
}

// A union takes one member of several: it checks the first that is set, and forbids the others.
type union struct {
	e     *errs
	p     loc
	count int
}

func (u *union) member(name string, set bool, check func(p loc)) {
	if !set {
		return
	}
	if u.count++; u.count > 1 {
		u.e.forbidden(u.p.Child(name), "may not specify more than 1 volume type")
		return
	}
	check(u.p.Child(name))
}

func volumeSource(e *errs, p loc, v *corev1.Volume, meta *metav1.ObjectMeta, isPod bool) {
	u, s := &union{e: e, p: p}, &v.VolumeSource
	if s.EmptyDir != nil {
		u.count++
		if limit := s.EmptyDir.SizeLimit; limit != nil && limit.Sign() < 0 {
			e.forbidden(p.Child("emptyDir", "sizeLimit"), "SizeLimit field must be a valid resource quantity")
		}
		if mode := s.EmptyDir.Mode; mode != nil && (*mode < 0 || *mode > 0o1777) {
			e.invalid(p.Child("emptyDir", "mode"), *mode, "must be a number between 0 and 01777 (octal), both inclusive")
		}
	}
	u.member("hostPath", s.HostPath != nil, func(p loc) { hostPath(e, p, s.HostPath) })
	u.member("gitRepo", s.GitRepo != nil, func(p loc) {
		e.present(p.Child("repository"), s.GitRepo.Repository)
		localPath(e, p.Child("directory"), s.GitRepo.Directory)
	})
	u.member("gcePersistentDisk", s.GCEPersistentDisk != nil, func(loc) { gceDisk(e, p.Child("persistentDisk"), s.GCEPersistentDisk) })
	u.member("awsElasticBlockStore", s.AWSElasticBlockStore != nil, func(p loc) { awsDisk(e, p, s.AWSElasticBlockStore) })
	u.member("secret", s.Secret != nil, func(p loc) {
		e.present(p.Child("secretName"), s.Secret.SecretName)
		fileMode(e, p.Child("defaultMode"), s.Secret.DefaultMode)
		userID(e, p.Child("defaultUser"), s.Secret.DefaultUser)
		keyPaths(e, p.Child("items"), s.Secret.Items)
	})
	u.member("nfs", s.NFS != nil, func(p loc) { nfs(e, p, s.NFS) })
	u.member("iscsi", s.ISCSI != nil, func(p loc) {
		chap := s.ISCSI.DiscoveryCHAPAuth || s.ISCSI.SessionCHAPAuth
		e.present(p.Child("targetPortal"), s.ISCSI.TargetPortal)
		iscsi(e, p, s.ISCSI.IQN, s.ISCSI.Lun, chap && s.ISCSI.SecretRef == nil, " starting with iqn, eui, or naa")
		initiator(e, p, s.ISCSI.InitiatorName, " starting with iqn, eui, or naa")
	})
	if s.ISCSI != nil && s.ISCSI.InitiatorName != nil && len(v.Name+":"+s.ISCSI.TargetPortal) > 64 {
		e.invalid(p.Child("name"), v.Name, "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.")
	}
	u.member("glusterfs", s.Glusterfs != nil, func(p loc) {
		e.present(p.Child("endpoints"), s.Glusterfs.EndpointsName)
		e.present(p.Child("path"), s.Glusterfs.Path)
	})
	u.member("flocker", s.Flocker != nil, func(p loc) { flocker(e, p, s.Flocker) })
	u.member("persistentVolumeClaim", s.PersistentVolumeClaim != nil, func(p loc) {
		e.present(p.Child("claimName"), s.PersistentVolumeClaim.ClaimName)
	})
	u.member("rbd", s.RBD != nil, func(p loc) { rbd(e, p, s.RBD.CephMonitors, s.RBD.RBDImage) })
	u.member("cinder", s.Cinder != nil, func(p loc) {
		e.present(p.Child("volumeID"), s.Cinder.VolumeID)
		localSecret(e, p, s.Cinder.SecretRef)
	})
	u.member("cephFS", s.CephFS != nil, func(loc) { monitors(e, p.Child("cephfs"), s.CephFS.Monitors) })
	u.member("quobyte", s.Quobyte != nil, func(p loc) { quobyte(e, p, s.Quobyte) })
	u.member("downwardAPI", s.DownwardAPI != nil, func(p loc) {
		fileMode(e, p.Child("defaultMode"), s.DownwardAPI.DefaultMode)
		userID(e, p.Child("defaultUser"), s.DownwardAPI.DefaultUser)
		for i := range s.DownwardAPI.Items {
			downwardFile(e, p, &s.DownwardAPI.Items[i])
		}
	})
	u.member("fc", s.FC != nil, func(p loc) { fibreChannel(e, p, s.FC) })
	u.member("flexVolume", s.FlexVolume != nil, func(p loc) { flexVolume(e, p, s.FlexVolume.Driver, s.FlexVolume.Options) })
	u.member("configMap", s.ConfigMap != nil, func(p loc) {
		e.present(p.Child("name"), s.ConfigMap.Name)
		fileMode(e, p.Child("defaultMode"), s.ConfigMap.DefaultMode)
		userID(e, p.Child("defaultUser"), s.ConfigMap.DefaultUser)
		keyPaths(e, p.Child("items"), s.ConfigMap.Items)
	})
	u.member("azureFile", s.AzureFile != nil, func(p loc) {
		e.present(p.Child("secretName"), s.AzureFile.SecretName)
		e.present(p.Child("shareName"), s.AzureFile.ShareName)
	})
	u.member("vsphereVolume", s.VsphereVolume != nil, func(p loc) { e.present(p.Child("volumePath"), s.VsphereVolume.VolumePath) })
	u.member("photonPersistentDisk", s.PhotonPersistentDisk != nil, func(p loc) { e.present(p.Child("pdID"), s.PhotonPersistentDisk.PdID) })
	u.member("portworxVolume", s.PortworxVolume != nil, func(p loc) { e.present(p.Child("volumeID"), s.PortworxVolume.VolumeID) })
	u.member("azureDisk", s.AzureDisk != nil, func(p loc) { azureDisk(e, p, s.AzureDisk) })
	u.member("storageos", s.StorageOS != nil, func(p loc) {
		storageOS(e, p, s.StorageOS.VolumeName, s.StorageOS.VolumeNamespace)
		localSecret(e, p, s.StorageOS.SecretRef)
	})
	u.member("projected", s.Projected != nil, func(p loc) { projected(e, p, s.Projected) })
	u.member("scaleIO", s.ScaleIO != nil, func(p loc) { scaleIO(e, p, s.ScaleIO.Gateway, s.ScaleIO.System, s.ScaleIO.VolumeName) })
	u.member("csi", s.CSI != nil, func(p loc) {
		csiDriverName(e, p.Child("driver"), s.CSI.Driver)
		if ref := s.CSI.NodePublishSecretRef; ref != nil && ref.Name == "" {
			e.required(p.Child("nodePublishSecretRef", "name"), "")
		} else if ref != nil {
			e.invalids(p.Child("name"), ref.Name, apivalidation.NameIsDNSSubdomain(ref.Name, false))
		}
	})
	u.member("ephemeral", s.Ephemeral != nil, func(p loc) { ephemeralVolume(e, p, s.Ephemeral) })
	if s.Ephemeral != nil && u.count == 1 && meta != nil && meta.Name != "" && v.Name != "" {
		name := meta.Name + "-" + v.Name
		for _, message := range apivalidation.NameIsDNSSubdomain(name, false) {
			e.invalid(p.Child("name"), v.Name, fmt.Sprintf("PVC name %q: %v", name, message))
		}
	}
	u.member("image", s.Image != nil, func(p loc) {
		e.ratchet("references of images", func(e *errs) { e.present(p.Child("reference"), s.Image.Reference) })
		pullPolicy(e, p.Child("pullPolicy"), s.Image.PullPolicy)
	})
	if u.count == 0 {
		e.required(p, "must specify a volume type")
	}
}

func fileMode(e *errs, p loc, mode *int32) {
	if mode != nil && (*mode < 0 || *mode > 0o777) {
		e.invalid(p, *mode, "must be a number between 0 and 0777 (octal), both inclusive")
	}
}

func userID(e *errs, p loc, user *int64) {
	if user != nil {
		e.invalids(p, *user, validation.IsValidUserID(*user))
	}
}

func keyPaths(e *errs, p loc, items []corev1.KeyToPath) {
	for i := range items {
		keyPath(e, p.Index(i), &items[i])
	}
}

func keyPath(e *errs, p loc, item *corev1.KeyToPath) {
	e.present(p.Child("key"), item.Key)
	e.present(p.Child("path"), item.Path)
	projectedPath(e, p.Child("path"), item.Path)
	fileMode(e, p.Child("mode"), item.Mode)
	userID(e, p.Child("user"), item.User)
}

func noBacksteps(e *errs, p loc, file string) {
	if slices.Contains(strings.Split(file, "/"), "..") {
		e.invalid(p, file, "must not contain '..'")
	}
}

func localPath(e *errs, p loc, file string) {
	if path.IsAbs(file) {
		e.invalid(p, file, "must be a relative path")
	}
	noBacksteps(e, p, file)
}

// projectedPath checks the path of a file in a volume; names that begin with two dots are the kubelet's own.
func projectedPath(e *errs, p loc, file string) {
	localPath(e, p, file)
	if strings.HasPrefix(file, "..") && !strings.HasPrefix(file, "../") {
		e.invalid(p, file, "must not start with '..'")
	}
}

func hostPath(e *errs, p loc, s *corev1.HostPathVolumeSource) {
	if s.Path == "" {
		e.required(p.Child("path"), "")
		return
	}
	noBacksteps(e, p.Child("path"), s.Path)
	optionalOneOf(e, p.Child("type"), s.Type, corev1.HostPathUnset, corev1.HostPathBlockDev, corev1.HostPathCharDev, corev1.HostPathDirectory,
		corev1.HostPathDirectoryOrCreate, corev1.HostPathFile, corev1.HostPathFileOrCreate, corev1.HostPathSocket)
}

func partition(e *errs, p loc, n int32) {
	if n < 0 || n > 255 {
		e.invalid(p.Child("partition"), n, validation.InclusiveRangeError(1, 255))
	}
}

func gceDisk(e *errs, p loc, s *corev1.GCEPersistentDiskVolumeSource) {
	e.present(p.Child("pdName"), s.PDName)
	partition(e, p, s.Partition)
}

func awsDisk(e *errs, p loc, s *corev1.AWSElasticBlockStoreVolumeSource) {
	e.present(p.Child("volumeID"), s.VolumeID)
	partition(e, p, s.Partition)
}

func nfs(e *errs, p loc, s *corev1.NFSVolumeSource) {
	e.present(p.Child("server"), s.Server)
	e.present(p.Child("path"), s.Path)
	if !path.IsAbs(s.Path) {
		e.invalid(p.Child("path"), s.Path, "must be an absolute path")
	}
}

// qualifiedISCSI returns whether a name of an iSCSI node has a known prefix, and whether it is well-formed.
func qualifiedISCSI(name string) (prefix, good bool) {
	for start, pattern := range map[string]string{
		"iqn": `iqn\.\d{4}-\d{2}\.([[:alnum:]-.]+)(:[^,;*&$|\s]+)$`,
		"eui": `^eui.[[:alnum:]]{16}$`,
		"naa": `^naa.[[:alnum:]]{32}$`,
	} {
		if strings.HasPrefix(name, start) {
			good, err := regexp.MatchString(pattern, name)
			return true, good && err == nil
		}
	}
	return false, false
}

func iscsi(e *errs, p loc, iqn string, lun int32, secretMissing bool, hint string) {
	prefix, good := qualifiedISCSI(iqn)
	switch {
	case iqn == "":
		e.required(p.Child("iqn"), "")
	case !prefix:
		e.invalid(p.Child("iqn"), iqn, "must be valid format"+hint)
	case !good:
		e.invalid(p.Child("iqn"), iqn, "must be valid format")
	}
	if lun < 0 || lun > 255 {
		e.invalid(p.Child("lun"), lun, validation.InclusiveRangeError(0, 255))
	}
	if secretMissing {
		e.required(p.Child("secretRef"), "")
	}
}

func initiator(e *errs, p loc, name *string, hint string) {
	if name == nil {
		return
	}
	if prefix, good := qualifiedISCSI(*name); !prefix {
		e.invalid(p.Child("initiatorname"), *name, "must be valid format"+hint)
	} else if !good {
		e.invalid(p.Child("initiatorname"), *name, "must be valid format")
	}
}

func flocker(e *errs, p loc, s *corev1.FlockerVolumeSource) {
	if s.DatasetName == "" && s.DatasetUUID == "" {
		e.required(p, "one of datasetName and datasetUUID is required")
	}
	if s.DatasetName != "" && s.DatasetUUID != "" {
		e.invalid(p, "resource", "datasetName and datasetUUID can not be specified simultaneously")
	}
	if strings.Contains(s.DatasetName, "/") {
		e.invalid(p.Child("datasetName"), s.DatasetName, "must not contain '/'")
	}
}

func monitors(e *errs, p loc, list []string) {
	if len(list) == 0 {
		e.required(p.Child("monitors"), "")
	}
}

func rbd(e *errs, p loc, list []string, image string) {
	monitors(e, p, list)
	e.present(p.Child("image"), image)
}

func localSecret(e *errs, p loc, ref *corev1.LocalObjectReference) {
	if ref != nil {
		e.present(p.Child("secretRef", "name"), ref.Name)
	}
}

func quobyte(e *errs, p loc, s *corev1.QuobyteVolumeSource) {
	const detail = "must be a host:port pair or multiple pairs separated by commas"
	switch {
	case s.Registry == "":
		e.required(p.Child("registry"), detail)
	case len(s.Tenant) >= 65:
		e.required(p.Child("tenant"), "must be a UUID and may not exceed a length of 64 characters")
	default:
		for pair := range strings.SplitSeq(s.Registry, ",") {
			if _, _, err := net.SplitHostPort(pair); err != nil {
				e.invalid(p.Child("registry"), s.Registry, detail)
			}
		}
	}
	e.present(p.Child("volume"), s.Volume)
}

func fibreChannel(e *errs, p loc, s *corev1.FCVolumeSource) {
	names := p.Child("targetWWNs")
	if len(s.TargetWWNs) == 0 && len(s.WWIDs) == 0 {
		e.required(names, "must specify either targetWWNs or wwids, but not both")
	}
	if len(s.TargetWWNs) > 0 && len(s.WWIDs) > 0 {
		e.invalid(names, s.TargetWWNs, "targetWWNs and wwids can not be specified simultaneously")
	}
	if len(s.TargetWWNs) == 0 {
		return
	}
	if s.Lun == nil {
		e.required(p.Child("lun"), "lun is required if targetWWNs is specified")
	} else if *s.Lun < 0 || *s.Lun > 255 {
		e.invalid(p.Child("lun"), s.Lun, validation.InclusiveRangeError(0, 255))
	}
}

func flexVolume(e *errs, p loc, driver string, options map[string]string) {
	e.present(p.Child("driver"), driver)
	for _, key := range sorted(options) {
		domain, _, _ := strings.Cut(key, "/")
		domain = "." + strings.ToLower(domain)
		if strings.HasSuffix(domain, ".kubernetes.io") || strings.HasSuffix(domain, ".k8s.io") {
			e.invalid(p.Child("options").Key(key), key, "kubernetes.io and k8s.io namespaces are reserved")
		}
	}
}

func azureDisk(e *errs, p loc, s *corev1.AzureDiskVolumeSource) {
	e.present(p.Child("diskName"), s.DiskName)
	e.present(p.Child("diskURI"), s.DataDiskURI)
	optionalOneOf(e, p.Child("cachingMode"), s.CachingMode, corev1.AzureDataDiskCachingNone, corev1.AzureDataDiskCachingReadOnly, corev1.AzureDataDiskCachingReadWrite)
	optionalOneOf(e, p.Child("kind"), s.Kind, corev1.AzureDedicatedBlobDisk, corev1.AzureManagedDisk, corev1.AzureSharedBlobDisk)
	switch {
	case s.Kind == nil:
	case *s.Kind == corev1.AzureManagedDisk && !strings.HasPrefix(s.DataDiskURI, "/subscriptions/"):
		unsupported(e, p.Child("diskURI"), s.DataDiskURI,
			"/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}")
	case *s.Kind != corev1.AzureManagedDisk && !strings.HasPrefix(s.DataDiskURI, "https://"):
		unsupported(e, p.Child("diskURI"), s.DataDiskURI, "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd")
	}
}

func storageOS(e *errs, p loc, name, namespace string) {
	if name == "" {
		e.required(p.Child("volumeName"), "")
	} else {
		e.label(p.Child("volumeName"), name)
	}
	if namespace != "" {
		e.label(p.Child("volumeNamespace"), namespace)
	}
}

func scaleIO(e *errs, p loc, gateway, system, volume string) {
	e.present(p.Child("gateway"), gateway)
	e.present(p.Child("system"), system)
	e.present(p.Child("volumeName"), volume)
}

// coveredDriverName is csiDriverName for a member whose rules are declared too.
func coveredDriverName(e *errs, p loc, name string) {
	own := e.own()
	csiDriverName(own, p, name)
	for _, err := range own.ErrorList {
		if err.Type == field.ErrorTypeTooLong {
			err.Origin = "maxLength"
		} else if err.Type == field.ErrorTypeInvalid {
			err.Origin = "format=k8s-long-name-caseless"
		}
	}
	e.add(own.MarkCoveredByDeclarative()...)
}

func csiDriverName(e *errs, p loc, name string) {
	if name == "" {
		e.required(p, "")
		return
	}
	if len(name) > 63 {
		e.tooLong(p, 63)
	}
	e.invalids(p, name, validation.IsDNS1123Subdomain(strings.ToLower(name)))
}

func ephemeralVolume(e *errs, p loc, s *corev1.EphemeralVolumeSource) {
	p = p.Child("volumeClaimTemplate")
	if s.VolumeClaimTemplate == nil {
		e.required(p, "")
		return
	}
	templateMeta(e, p.Child("metadata"), &s.VolumeClaimTemplate.ObjectMeta)
	claimSpec(e, p.Child("spec"), &s.VolumeClaimTemplate.Spec, false)
}

// templateMeta checks the metadata of a template that may have labels and annotations only.
func templateMeta(e *errs, p loc, meta *metav1.ObjectMeta) {
	e.annotations(p.Child("annotations"), meta.Annotations)
	e.labels(p.Child("labels"), meta.Labels)
	only(e, p, *meta, "cannot be set", "Annotations", "Labels")
}

func downwardFile(e *errs, p loc, file *corev1.DownwardAPIVolumeFile) {
	e.present(p.Child("path"), file.Path)
	projectedPath(e, p.Child("path"), file.Path)
	switch {
	case file.FieldRef != nil:
		fieldRef(e, p.Child("fieldRef"), file.FieldRef, "metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid")
		if file.ResourceFieldRef != nil {
			e.invalid(p, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously")
		}
	case file.ResourceFieldRef != nil:
		resourceFieldRef(e, p.Child("resourceFieldRef"), file.ResourceFieldRef, true)
	default:
		e.required(p, "one of fieldRef and resourceFieldRef is required")
	}
	fileMode(e, p.Child("mode"), file.Mode)
	userID(e, p.Child("user"), file.User)
}

// projected checks the sources of a projected volume, whose paths must differ.
func projected(e *errs, p loc, s *corev1.ProjectedVolumeSource) {
	fileMode(e, p.Child("defaultMode"), s.DefaultMode)
	userID(e, p.Child("defaultUser"), s.DefaultUser)
	paths := map[string]bool{}
	taken := func(file string, value string) {
		if paths[file] {
			e.invalid(p, value, "conflicting duplicate paths")
		}
		paths[file] = true
	}
	items := func(p loc, name string, items []corev1.KeyToPath) {
		e.present(p.Child("name"), name)
		for i := range items {
			keyPath(e, p.Child("items").Index(i), &items[i])
			if items[i].Path != "" {
				taken(items[i].Path, name)
			}
		}
	}
	for i := range s.Sources {
		source, at, n := &s.Sources[i], p.Child("sources").Index(i), 0
		if source.Secret != nil {
			n++
			items(at.Child("secret"), source.Secret.Name, source.Secret.Items)
		}
		if source.ConfigMap != nil {
			n++
			items(at.Child("configMap"), source.ConfigMap.Name, source.ConfigMap.Items)
		}
		if source.DownwardAPI != nil {
			n++
			for j := range source.DownwardAPI.Items {
				file := &source.DownwardAPI.Items[j]
				downwardFile(e, at.Child("downwardAPI"), file)
				if file.Path != "" {
					taken(file.Path, file.Path)
				}
			}
		}
		if source.ServiceAccountToken != nil {
			n++
			tokenProjection(e, p, at.Child("serviceAccountToken"), source.ServiceAccountToken)
		}
		if source.ClusterTrustBundle != nil {
			n++
			bundleProjection(e, at.Child("clusterTrustBundle"), source.ClusterTrustBundle)
			taken(source.ClusterTrustBundle.Path, source.ClusterTrustBundle.Path)
		}
		if source.PodCertificate != nil {
			n++
			certificateProjection(e, at.Child("podCertificate"), source.PodCertificate, taken)
		}
		if n > 1 {
			e.forbidden(at, "may not specify more than 1 volume type per source")
		}
	}
}

// tokenProjection reports a wrong path at the volume, as upstream does.
func tokenProjection(e *errs, volume, p loc, s *corev1.ServiceAccountTokenProjection) {
	seconds := deref(s.ExpirationSeconds)
	if seconds < 10*60 {
		e.invalid(p.Child("expirationSeconds"), seconds, "may not specify a duration less than 10 minutes")
	}
	if seconds > 1<<32 {
		e.invalid(p.Child("expirationSeconds"), seconds, "may not specify a duration larger than 2^32 seconds")
	}
	if s.Path == "" {
		e.required(volume.Child("path"), "")
	} else {
		e.ratchet("paths of tokens", func(e *errs) { projectedPath(e, volume.Child("path"), s.Path) })
	}
	userID(e, p.Child("user"), s.User)
}
