package crd

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	crdvalidation "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	upstream "k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/kubecoord/kubecoord/httpapi/kube/internal/boxes"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/field"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// This file is the kind CustomResourceDefinition (upstream: registry/customresourcedefinition, strategy.go and etcd.go).

// Definitions returns the kind CustomResourceDefinition of apiextensions.k8s.io/v1. All callers share it. An API that
// serves it and runs [Run] also serves the kinds that its objects define.
func Definitions() kind.Kind { return definitions() }

// definitions is made once per process.
var definitions = sync.OnceValue(func() *definedKind {
	d, err := definitionDescriptor()
	var k kind.Kind
	if err == nil {
		k, err = store.Compile(d)
	}
	if err != nil {
		panic(err) // cannot be: the descriptor is constant
	}
	return &definedKind{Kind: k}
})

func definitionDescriptor() (kind.Descriptor[meta.Object], error) {
	goType := reflect.TypeFor[apiextensionsv1.CustomResourceDefinition]()
	described := publishedSchema(apiextensionsv1.CustomResourceDefinition{}.OpenAPIModelName(), goType)
	typ, err := boxes.Library(unions()).Compile(goType, described)
	if err != nil {
		return kind.Descriptor[meta.Object]{}, err
	}
	return kind.Descriptor[meta.Object]{
		Resource: kind.Resource{
			Group: definitionGroup, Kind: definitionKind, Plural: "customresourcedefinitions",
			ShortNames: []string{"crd", "crds"}, Categories: []string{"api-extensions"},
			ClusterScoped: true, Status: true,
		},
		Strategy: kind.Strategy[meta.Object]{
			Default:  func(o meta.Object) { apiextensionsv1.SetObjectDefaults_CustomResourceDefinition(definitionOf(o)) },
			Warnings: definitionWarnings,
			Create: kind.CreateStrategy[meta.Object]{Prepare: func(_ context.Context, o meta.Object) {
				crd := definitionOf(o)
				crd.Status = apiextensionsv1.CustomResourceDefinitionStatus{}
				addStoredVersion(crd)
			}},
			Update: kind.UpdateStrategy[meta.Object]{
				Prepare: func(o, _ meta.Object) { addStoredVersion(definitionOf(o)) },
				Counts:  func(o, old meta.Object) bool { return !typ.EqualMember(o, old, "spec") },
			},
			Delete: kind.DeleteStrategy[meta.Object]{Prepare: prepareForDelete},
		},
		Versions: []kind.Version[meta.Object]{{
			Name: "v1", Schema: described, Type: typ, Validate: validateDefinition,
			ValidateStatus: validateDefinitionStatus,
		}},
		Native: &kind.Native[meta.Object]{Defines: defined, SlowValidation: true, Repeats: true, NoTableOf: []string{"status"}},
		// Unlike the status of other kinds, it also writes the metadata: the strategy resets that to itself (upstream:
		// registry/customresourcedefinition/strategy.go).
		Subresources: []kind.Subresource[meta.Object]{{
			Name: "status", Verbs: []string{"get", "patch", "update"}, Resets: []string{"spec"},
			Write: func(parent, body meta.Object) error {
				m := parent.GetObjectMeta()
				version, generation := m.ResourceVersion, m.Generation
				*m = *body.GetObjectMeta()
				m.ResourceVersion, m.Generation = version, generation
				typ.CopyMember(parent, body, "status")
				apiextensionsv1.SetDefaults_CustomResourceDefinition(definitionOf(parent))
				return nil
			},
		}},
		Table: definitionTable(),
	}, nil
}

// unions are the types of schemas that write one of several members as their JSON.
func unions() map[reflect.Type]kind.Custom {
	return map[reflect.Type]kind.Custom{
		reflect.TypeFor[apiextensionsv1.JSON]():                         union((*apiextensionsv1.JSON).DeepCopy),
		reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrBool]():        union((*apiextensionsv1.JSONSchemaPropsOrBool).DeepCopy),
		reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrArray]():       union((*apiextensionsv1.JSONSchemaPropsOrArray).DeepCopy),
		reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrStringArray](): union((*apiextensionsv1.JSONSchemaPropsOrStringArray).DeepCopy),
	}
}

func union[T any](deepCopy func(*T) *T) kind.Custom {
	return kind.CustomFuncs[T]{
		Shape: kind.Untyped, Copy: func(v *T) T { return *deepCopy(v) },
		Equal: func(v, w *T) bool { return equality.Semantic.DeepEqual(v, w) },
	}
}

// definitionOf returns a definition as a value of its Go type. A stored one must not be changed.
func definitionOf(o meta.Object) *apiextensionsv1.CustomResourceDefinition {
	return kind.ValueOf[apiextensionsv1.CustomResourceDefinition](o)
}

// internalOf returns a definition in the form that upstream validates, which shares no memory with it.
func internalOf(o meta.Object) (*apiextensions.CustomResourceDefinition, error) {
	var internal apiextensions.CustomResourceDefinition
	err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(definitionOf(o).DeepCopy(), &internal, nil)
	return &internal, err
}

// addStoredVersion adds the storage version to the stored versions.
func addStoredVersion(crd *apiextensionsv1.CustomResourceDefinition) {
	stored, err := apihelpers.GetCRDStorageVersion(crd)
	if err == nil && !slices.Contains(crd.Status.StoredVersions, stored) {
		crd.Status.StoredVersions = append(crd.Status.StoredVersions, stored)
	}
}

// prepareForDelete marks a definition whose objects must be deleted first.
func prepareForDelete(o meta.Object, now time.Time) {
	setCondition(definitionOf(o), now, apiextensionsv1.CustomResourceDefinitionCondition{
		Type: apiextensionsv1.Terminating, Status: apiextensionsv1.ConditionTrue, Reason: "InstanceDeletionPending",
		Message: "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
	})
	m := o.GetObjectMeta()
	if !slices.Contains(m.Finalizers, apiextensionsv1.CustomResourceCleanupFinalizer) {
		m.Finalizers = append(slices.Clone(m.Finalizers), apiextensionsv1.CustomResourceCleanupFinalizer)
	}
}

// setCondition sets a condition, whose time changes only with its status (upstream: apihelpers, SetCRDCondition, which takes
// the time of the machine).
func setCondition(crd *apiextensionsv1.CustomResourceDefinition, now time.Time, c apiextensionsv1.CustomResourceDefinitionCondition) {
	c.LastTransitionTime = metav1.NewTime(now).Rfc3339Copy()
	have := apihelpers.FindCRDCondition(crd, c.Type)
	if have == nil {
		crd.Status.Conditions = append(crd.Status.Conditions, c)
		return
	}
	if have.Status == c.Status && !have.LastTransitionTime.IsZero() {
		c.LastTransitionTime = have.LastTransitionTime
	}
	*have = c
}

// validateDefinition returns the problems of a definition outside of its metadata; old is nil on a create.
func validateDefinition(o, old meta.Object) field.Errors {
	next, err := internalOf(o)
	if err != nil {
		return invalidForm(err)
	}
	if old == nil {
		return outsideMetadata(guarded(func() upstream.ErrorList {
			return crdvalidation.ValidateCustomResourceDefinition(context.Background(), next)
		}))
	}
	before, err := internalOf(old)
	if err != nil {
		return invalidForm(err)
	}
	return outsideMetadata(guarded(func() upstream.ErrorList {
		return crdvalidation.ValidateCustomResourceDefinitionUpdate(context.Background(), next, before)
	}))
}

// validateDefinitionStatus returns the problems of a write of the status.
func validateDefinitionStatus(o, old meta.Object) field.Errors {
	next, err := internalOf(o)
	if err != nil {
		return invalidForm(err)
	}
	before, err := internalOf(old)
	if err != nil {
		return invalidForm(err)
	}
	return outsideMetadata(crdvalidation.ValidateUpdateCustomResourceDefinitionStatus(context.Background(), next, before))
}

func invalidForm(err error) field.Errors { return field.Errors{field.Invalid("", nil, err.Error())} }

// outsideMetadata drops the problems of the metadata that package kinds reports for all kinds: all but the rules about the
// name that joins the names of the spec, and about the annotation of groups that belong to Kubernetes.
func outsideMetadata(errs upstream.ErrorList) field.Errors {
	return boxes.Problems(slices.DeleteFunc(errs, func(err *upstream.Error) bool {
		return strings.HasPrefix(err.Field, "metadata.") && !strings.HasPrefix(err.Field, "metadata.annotations[") &&
			!strings.Contains(err.Detail, "spec.names.plural")
	}))
}

// definitionWarnings returns warnings about schemas that the old definition did not have.
func definitionWarnings(o, old meta.Object) []string {
	warnings := schemaWarnings(o)
	if old == nil {
		return warnings
	}
	had := schemaWarnings(old)
	return slices.DeleteFunc(warnings, func(w string) bool { return slices.Contains(had, w) })
}

// schemaWarnings returns warnings about formats that this version does not know, and about sets of objects and lists.
func schemaWarnings(o meta.Object) []string {
	crd, err := internalOf(o)
	if err != nil {
		return nil
	}
	var formats, sets []string
	find := func(of *apiextensions.CustomResourceValidation) {
		if of == nil || of.OpenAPIV3Schema == nil {
			return
		}
		crdvalidation.SchemaHas(of.OpenAPIV3Schema, func(s *apiextensions.JSONSchemaProps) bool {
			if s.Format != "" {
				node := &spec.Schema{SchemaProps: spec.SchemaProps{Format: s.Format, Type: []string{s.Type}}}
				for _, format := range validation.GetUnrecognizedFormats(node, environment.DefaultCompatibilityVersion()) {
					formats = append(formats, fmt.Sprintf("unrecognized format %q", format))
				}
			}
			if s.XListType != nil && *s.XListType == "set" && s.Items != nil && s.Items.Schema != nil && slices.Contains([]string{"object", "array"}, s.Items.Schema.Type) {
				sets = append(sets, fmt.Sprintf("x-kubernetes-list-type: set for items of type %q is not supported by server-side apply or CEL validation rules", s.Items.Schema.Type))
			}
			return false
		})
	}
	find(crd.Spec.Validation)
	for _, v := range crd.Spec.Versions {
		find(v.Schema)
	}
	slices.Sort(sets)
	return append(formats, slices.Compact(sets)...)
}
