package validation

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func validateMigration(e *errs, subresource string, obj, old runtime.Object) bool {
	o, ok := obj.(*storagemigrationv1.StorageVersionMigration)
	if !ok {
		return false
	}
	was := kindOf[storagemigrationv1.StorageVersionMigration](old)
	if subresource == "status" {
		migrationStatus(e, field.NewPath("status"), o, deref(was))
		return true
	}
	p := field.NewPath("spec", "resource")
	if of := o.Spec.Resource; of.Resource == "" {
		e.required(p.Child("resource"), "resource is required to be set")
	} else if problems := validation.IsDNS1035Label(of.Resource); len(problems) > 0 {
		e.invalid(p.Child("resource"), of.Resource, strings.Join(problems, ","))
	}
	if group := o.Spec.Resource.Group; group != "" {
		if problems := validation.IsDNS1123Subdomain(group); len(problems) > 0 {
			e.invalid(p.Child("group"), group, strings.Join(problems, ","))
		}
	}
	if was != nil {
		frozenMember(e, field.NewPath("spec"), o.Spec, was.Spec)
	}
	return true
}

// migrationStatus checks that a migration ends once.
func migrationStatus(e *errs, p loc, o *storagemigrationv1.StorageVersionMigration, old storagemigrationv1.StorageVersionMigration) {
	version := o.Status.ResourceVersion
	if version != "" && (version[0] == '0' || strings.Trim(version, "0123456789") != "") {
		e.invalid(p.Child("resourceVersion"), version, "resource version is not well formed: "+version)
	}
	e.add(metavalidation.ValidateConditions(o.Status.Conditions, p.Child("conditions"))...)
	if old.Status.ResourceVersion != "" && old.Status.ResourceVersion != version {
		e.invalid(p.Child("resourceVersion"), version, "field is immutable")
	}
	has := func(s storagemigrationv1.StorageVersionMigrationStatus, kind storagemigrationv1.MigrationConditionType) bool {
		return apimeta.IsStatusConditionTrue(s.Conditions, string(kind))
	}
	const succeeded, failed = storagemigrationv1.MigrationSucceeded, storagemigrationv1.MigrationFailed
	refuse := func(is bool, detail string) {
		if is {
			e.invalid(p.Child("conditions"), o.Status.Conditions, detail)
		}
	}
	refuse(has(o.Status, succeeded) && has(o.Status, failed), "Both success and failed conditions cannot be true at the same time")
	refuse(has(old.Status, succeeded) && !has(o.Status, succeeded), "Success condition cannot be set to false once it is true")
	refuse(has(old.Status, failed) && !has(o.Status, failed), "Failed condition cannot be set to false once it is true")
}

// taintRule checks a DeviceTaintRule. Its effect is declared.
func taintRule(e *errs, subresource string, o *resourcev1.DeviceTaintRule) {
	if p := field.NewPath("status", "conditions"); subresource == "status" {
		e.add(metavalidation.ValidateConditions(o.Status.Conditions, p)...)
		limited(e, p, len(o.Status.Conditions), 8)
		return
	}
	p := field.NewPath("spec")
	if s := o.Spec.DeviceSelector; s != nil {
		at := p.Child("deviceSelector")
		if s.Driver != nil {
			csiDriverName(e, at.Child("driver"), *s.Driver)
		}
		if s.Pool != nil {
			poolName(e, at.Child("pool"), *s.Pool)
		}
		if s.Device != nil {
			e.label(at.Child("device"), *s.Device)
		}
	}
	deviceTaint(e, p.Child("taint"), &o.Spec.Taint)
}

// storageHealth checks the status of a CSINode.
func storageHealth(e *errs, p loc, list []storagev1.StorageHealth) {
	names := seen[string]{}
	for i, h := range list {
		p := p.Index(i)
		if names.again(h.Name) {
			e.duplicate(p, h.Name)
		}
		csiDriverName(e, p.Child("name"), h.Name)
		if !limited(e, p.Child("healthConditions"), len(h.HealthConditions), 16) {
			continue
		}
		for i, c := range h.HealthConditions {
			p := p.Child("healthConditions").Index(i)
			oneOf(e, p.Child("status"), c.Status, storagev1.StorageDegraded, storagev1.StorageUnreachable)
			if at := p.Child("reason"); c.Reason == "" {
				e.required(at, "")
			} else {
				e.invalids(at, c.Reason, metavalidation.IsValidConditionReason(c.Reason))
				if len(c.Reason) > 256 {
					e.tooLong(at, 256)
				}
			}
			if len(c.Message) > 1024 {
				e.tooLong(p.Child("message"), 1024)
			}
			optionalOneOf(e, p.Child("accessMode"), c.AccessMode, corev1.ReadOnlyMany, corev1.ReadWriteMany, corev1.ReadWriteOnce, corev1.ReadWriteOncePod)
			optionalOneOf(e, p.Child("volumeMode"), c.VolumeMode, corev1.PersistentVolumeFilesystem, corev1.PersistentVolumeBlock)
		}
	}
}
