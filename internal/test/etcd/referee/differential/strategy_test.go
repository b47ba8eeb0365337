package differential

import (
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage/names"
)

// strategy is how the registry treats one kind.
//
// Its declarative validation, which newScheme registers, repeats what the other rules say of metadata and takes their place.
type strategy struct {
	rest.DeclarativeValidation
	names.NameGenerator
	unconditional  bool // updates need no resourceVersion
	validateName   validation.ValidateNameFunc
	validate       func(o runtime.Object) field.ErrorList
	validateUpdate func(o, old runtime.Object) field.ErrorList
	// core reports whether the kind is in the core group, which has another rule for finalizers.
	core bool
	// again reports whether updates also validate metadata by the rules for new objects.
	again bool
}

func newStrategy(s strategy) strategy {
	s.DeclarativeValidation, s.NameGenerator = rest.DeclarativeValidation{Scheme: scheme}, names.SimpleNameGenerator
	if s.validateName == nil {
		s.validateName = validation.NameIsDNSSubdomain
	}
	return s
}

var (
	leaseStrategy     = newStrategy(strategy{validate: validateLease, validateUpdate: func(o, _ runtime.Object) field.ErrorList { return validateLease(o) }})
	candidateStrategy = newStrategy(strategy{
		validateName: func(name string, _ bool) []string { return utilvalidation.IsConfigMapKey(name) },
		validate:     validateCandidate, validateUpdate: validateCandidateUpdate,
	})
	endpointsStrategy = newStrategy(strategy{unconditional: true, validate: validateEndpoints, validateUpdate: validateEndpointsUpdate, core: true, again: true})
	widgetStrategy    = newStrategy(strategy{})
)

func (strategy) NamespaceScoped() bool                                     { return true }
func (strategy) AllowCreateOnUpdate(context.Context) bool                  { return true }
func (s strategy) AllowUnconditionalUpdate(context.Context) bool           { return s.unconditional }
func (strategy) PrepareForCreate(context.Context, runtime.Object)          {}
func (strategy) Canonicalize(runtime.Object)                               {}
func (strategy) WarningsOnCreate(context.Context, runtime.Object) []string { return nil }

// PrepareForUpdate clears apiVersion and kind, which internal types do not have. Here one type is both internal and versioned.
func (strategy) PrepareForUpdate(_ context.Context, o, old runtime.Object) {
	o.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	old.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
}

func (strategy) WarningsOnUpdate(context.Context, runtime.Object, runtime.Object) []string {
	return nil
}

func metadata(o runtime.Object) *metav1.ObjectMeta {
	accessor, err := meta.Accessor(o)
	if err != nil {
		panic(err)
	}
	return accessor.(metav1.ObjectMetaAccessor).GetObjectMeta().(*metav1.ObjectMeta)
}

// validateMetadata validates metadata by the rules for new objects. For the core group it restates ValidateObjectMeta of
// apis/core/validation, which is not a library.
func (s strategy) validateMetadata(o runtime.Object) field.ErrorList {
	errs := validation.ValidateObjectMeta(metadata(o), true, s.validateName, field.NewPath("metadata"))
	return append(errs, s.validateFinalizers(o)...)
}

func (s strategy) validateFinalizers(o runtime.Object) (errs field.ErrorList) {
	for i, f := range metadata(o).Finalizers {
		standard := sets.New("kubernetes", metav1.FinalizerOrphanDependents, metav1.FinalizerDeleteDependents).Has(f)
		if s.core && !standard && len(strings.Split(f, "/")) == 1 {
			errs = append(errs, field.Invalid(field.NewPath("metadata", "finalizers").Index(i), f, "name is neither a standard finalizer name nor is it fully qualified"))
		}
	}
	return errs
}

func (s strategy) Validate(_ context.Context, o runtime.Object) field.ErrorList {
	errs := s.validateMetadata(o)
	if s.validate != nil {
		errs = append(errs, s.validate(o)...)
	}
	return errs
}

func (s strategy) ValidateUpdate(_ context.Context, o, old runtime.Object) field.ErrorList {
	errs := validation.ValidateObjectMetaUpdate(metadata(o), metadata(old), field.NewPath("metadata"))
	errs = append(errs, s.validateFinalizers(o)...)
	if s.again {
		errs = append(errs, s.validateMetadata(o)...)
	}
	if s.validateUpdate != nil {
		errs = append(errs, s.validateUpdate(o, old)...)
	}
	return errs
}
