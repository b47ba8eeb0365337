package validation

import (
	"fmt"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// maxParameters limits the keys and values of a class's parameters together, and the metadata of an attachment.
const maxParameters = 256 << 10

func validateStorage(e *errs, subresource string, obj, old runtime.Object) bool {
	switch o := obj.(type) {
	case *storagev1.StorageClass:
		storageClass(e, o)
	case *storagev1.CSIDriver:
		csiDriver(e, field.NewPath("spec"), &o.Spec, kindOf[storagev1.CSIDriver](old))
	case *storagev1.CSINode:
		if subresource == "status" {
			storageHealth(e, field.NewPath("status", "storageHealth"), o.Status.StorageHealth)
			return true
		}
		csiNode(e, field.NewPath("spec", "drivers"), o, kindOf[storagev1.CSINode](old))
	case *storagev1.CSIStorageCapacity:
		storageCapacity(e, o, kindOf[storagev1.CSIStorageCapacity](old))
	case *storagev1.VolumeAttachment:
		attachment(e, o)
	case *storagev1.VolumeAttributesClass:
		attributesClass(e, o, kindOf[storagev1.VolumeAttributesClass](old))
	default:
		return false
	}
	return true
}

func provisioner(e *errs, p loc, name string) {
	if name != "" {
		e.qualified(p, strings.ToLower(name))
	}
}

func parameters(e *errs, p loc, m map[string]string) {
	if len(m) > 512 {
		e.tooLong(p, 512)
		return
	}
	size := 0
	for _, key := range sorted(m) {
		if key == "" {
			e.invalid(p, key, "field can not be empty.")
		}
		size += len(key) + len(m[key])
	}
	if size > maxParameters {
		e.tooLong(p, maxParameters)
	}
}

func storageClass(e *errs, c *storagev1.StorageClass) {
	provisioner(e, field.NewPath("provisioner"), c.Provisioner)
	parameters(e, field.NewPath("parameters"), c.Parameters)
	if policy := c.ReclaimPolicy; policy != nil && *policy != "" {
		oneOf(e, field.NewPath("reclaimPolicy"), *policy, corev1.PersistentVolumeReclaimDelete, corev1.PersistentVolumeReclaimRetain)
	}
	if c.VolumeBindingMode == nil {
		e.required(field.NewPath("volumeBindingMode"), "")
	} else {
		oneOf(e, field.NewPath("volumeBindingMode"), *c.VolumeBindingMode, storagev1.VolumeBindingImmediate, storagev1.VolumeBindingWaitForFirstConsumer)
	}
	topologies(e, field.NewPath("allowedTopologies"), c.AllowedTopologies)
}

func topologies(e *errs, p loc, terms []corev1.TopologySelectorTerm) {
	before := make([]map[string][]string, len(terms)) // as upstream: a term without expressions is the same as these
	for i, term := range terms {
		expressions := map[string][]string{}
		list := p.Index(i).Child("matchLabelExpressions")
		for j, r := range term.MatchLabelExpressions {
			p := list.Index(j)
			if len(r.Values) == 0 {
				e.required(p.Child("values"), "")
			}
			values := map[string]bool{}
			for k, value := range r.Values {
				if values[value] {
					e.duplicate(p.Child("values").Index(k), value)
				}
				values[value] = true
			}
			e.labelName(p.Child("key"), r.Key)
			if _, ok := expressions[r.Key]; ok {
				e.duplicate(p.Child("key"), r.Key)
			}
			expressions[r.Key] = slices.Compact(slices.Sorted(slices.Values(r.Values)))
		}
		for _, other := range before {
			if len(expressions)+len(other) == 0 || apiequality.Semantic.DeepEqual(expressions, other) {
				e.duplicate(list, "")
			}
		}
		before = append(before, expressions)
	}
}

func csiDriver(e *errs, p loc, s *storagev1.CSIDriverSpec, old *storagev1.CSIDriver) {
	for _, member := range []struct {
		name  string
		value *bool
	}{{"attachedRequired", s.AttachRequired}, {"podInfoOnMount", s.PodInfoOnMount}, {"storageCapacity", s.StorageCapacity}} {
		if member.value == nil {
			e.required(p.Child(member.name), "")
		}
	}
	optionalOneOf(e, p.Child("fsGroupPolicy"), s.FSGroupPolicy, storagev1.FileFSGroupPolicy, storagev1.NoneFSGroupPolicy, storagev1.ReadWriteOnceWithFSTypeFSGroupPolicy)
	audiences := map[string]bool{}
	for i, r := range s.TokenRequests {
		p := p.Child("tokenRequests").Index(i)
		if audiences[r.Audience] {
			e.duplicate(p.Child("audience"), r.Audience)
			continue
		}
		audiences[r.Audience] = true
		if seconds := r.ExpirationSeconds; seconds != nil && *seconds < 600 {
			e.invalid(p.Child("expirationSeconds"), *seconds, "may not specify a duration less than 10 minutes")
		} else if seconds != nil && *seconds > 1<<32 {
			e.invalid(p.Child("expirationSeconds"), *seconds, "may not specify a duration larger than 2^32 seconds")
		}
	}
	for _, mode := range s.VolumeLifecycleModes {
		oneOf(e, p.Child("volumeLifecycleModes"), mode, storagev1.VolumeLifecyclePersistent, storagev1.VolumeLifecycleEphemeral)
	}
	if s.SELinuxMount == nil {
		e.required(p.Child("seLinuxMount"), "")
	}
	if seconds := s.NodeAllocatableUpdatePeriodSeconds; seconds != nil && *seconds < 10 {
		e.invalid(p.Child("nodeAllocatableUpdatePeriodSeconds"), *seconds, "must be greater than or equal to 10 seconds")
	}
	if tokens := s.ServiceAccountTokenInSecrets; tokens != nil && len(s.TokenRequests) == 0 {
		e.invalid(p.Child("serviceAccountTokenInSecrets"), tokens, "serviceAccountTokenInSecrets is set but no tokenRequests are specified")
	}
	if old != nil {
		e.immutable(p.Child("attachedRequired"), s.AttachRequired, old.Spec.AttachRequired)
		e.immutable(p.Child("volumeLifecycleModes"), s.VolumeLifecycleModes, old.Spec.VolumeLifecycleModes)
	}
}

func csiNode(e *errs, p loc, n, old *storagev1.CSINode) {
	names := map[string]bool{}
	for i, d := range n.Spec.Drivers {
		p := p.Index(i)
		csiDriverName(e, p.Child("name"), d.Name)
		e.present(p.Child("nodeID"), d.NodeID)
		if len(d.NodeID) > 256 {
			e.invalid(p.Child("nodeID"), d.NodeID, "must be 256 characters or less")
		}
		if d.Allocatable != nil {
			counts(e, p.Child("allocatable", "count"), d.Allocatable.Count)
		}
		if names[d.Name] {
			e.duplicate(p.Child("name"), d.Name)
		}
		names[d.Name] = true
		keys := seen[string]{}
		for _, key := range d.TopologyKeys {
			e.present(p, key)
			if keys.again(key) {
				e.duplicate(p, key)
			}
			e.qualified(p, key)
		}
	}
	if old == nil {
		return
	}
	for _, was := range old.Spec.Drivers {
		for _, now := range n.Spec.Drivers {
			was.Allocatable, now.Allocatable = nil, nil
			if was.Name == now.Name {
				frozenMember(e, p, now, was)
			}
		}
	}
}

func storageCapacity(e *errs, c, old *storagev1.CSIStorageCapacity) {
	e.selector(field.NewPath("nodeTopology"), c.NodeTopology)
	className(e, field.NewPath("storageClassName"), c.StorageClassName)
	if c.Capacity != nil {
		e.nonNegativeQuantity(field.NewPath("capacity"), *c.Capacity)
	}
	if old == nil {
		return
	}
	if !apiequality.Semantic.DeepEqual(c.NodeTopology, old.NodeTopology) {
		e.invalid(field.NewPath("nodeTopology"), c.NodeTopology, "field is immutable")
	}
	if c.StorageClassName != old.StorageClassName {
		e.invalid(field.NewPath("storageClassName"), c.StorageClassName, "field is immutable")
	}
}

func attachment(e *errs, a *storagev1.VolumeAttachment) {
	p, s := field.NewPath("spec"), &a.Spec
	coveredDriverName(e, p.Child("attacher"), s.Attacher)
	const one = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"
	switch name, inline := s.Source.PersistentVolumeName, s.Source.InlineVolumeSpec; {
	case name == nil && inline == nil:
		e.required(p.Child("source"), one)
	case name != nil && inline != nil:
		e.forbidden(p.Child("source"), one)
	case name != nil:
		if *name == "" {
			e.required(p.Child("source", "persistentVolumeName"), "must specify non empty persistentVolumeName")
		}
	default:
		volumeSpec(e, p.Child("source", "inlineVolumeSpec"), inline, "", true)
	}
	e.invalids(p.Child("nodeName"), s.NodeName, apivalidation.NameIsDNSSubdomain(s.NodeName, false))
	status := field.NewPath("status")
	size := 0
	for key, value := range a.Status.AttachmentMetadata {
		size += len(key) + len(value)
	}
	if size > maxParameters {
		e.tooLong(status.Child("attachmentMetadata"), maxParameters)
	}
	volumeError(e, status.Child("attachError"), a.Status.AttachError)
	volumeError(e, status.Child("detachError"), a.Status.DetachError)
	if name := s.Source.PersistentVolumeName; name != nil {
		e.invalids(field.NewPath("spec.source.persistentVolumeName"), *name, apivalidation.NameIsDNSSubdomain(*name, false))
	}
}

func volumeError(e *errs, p loc, err *storagev1.VolumeError) {
	if err == nil {
		return
	}
	if len(err.Message) > 1024 {
		e.tooLong(p.Child("message"), maxParameters)
	}
	if code := err.ErrorCode; code != nil && *code < 0 {
		e.invalid(p.Child("errorCode"), *code, validation.InclusiveRangeError(0, math.MaxInt32))
	}
}

func attributesClass(e *errs, c, old *storagev1.VolumeAttributesClass) {
	if old != nil {
		for _, member := range []struct {
			name string
			same bool
		}{{"driverName", c.DriverName == old.DriverName}, {"parameters", apiequality.Semantic.DeepEqual(c.Parameters, old.Parameters)}} {
			if !member.same {
				e.forbidden(field.NewPath(member.name), fmt.Sprintf("updates to %s are forbidden.", member.name))
			}
		}
	}
	e.present(field.NewPath("driverName"), c.DriverName)
	provisioner(e, field.NewPath("driverName"), c.DriverName)
	parameters(e, field.NewPath("parameters"), c.Parameters)
	if len(c.Parameters) == 0 {
		e.required(field.NewPath("parameters"), "must contain at least one key/value pair")
	}
}
