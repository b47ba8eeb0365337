package crd

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	crdvalidation "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecoord/kubecoord/store/kind"
)

// Kinds returns a kind for each definition, in the same order, or an error. The error names the first definition from which no kind can be
// made, with the fields and rules that it breaks, or two definitions that claim the same name. In one process equal definitions give the
// same kind. Kinds does not change the definitions.
func Kinds(crds ...*apiextensionsv1.CustomResourceDefinition) ([]kind.Kind, error) {
	kinds := make([]*definedKind, len(crds))
	errs := make([]error, len(crds))
	var work sync.WaitGroup
	for i, crd := range crds {
		work.Go(func() { kinds[i], errs[i] = made().kindFor(crd, false) })
	}
	work.Wait()
	names := map[string]bool{}
	for i, crd := range crds {
		err := errs[i]
		if err == nil && names[crd.Name] {
			err = fmt.Errorf("metadata.name: Duplicate value: %q", crd.Name)
		}
		if err != nil {
			return nil, fmt.Errorf("crd: CustomResourceDefinition %q: %w", crd.Name, err)
		}
		names[crd.Name] = true
	}
	if err := checkNames(kinds); err != nil {
		return nil, fmt.Errorf("crd: %w", err)
	}
	out := make([]kind.Kind, len(kinds))
	for i, k := range kinds {
		out[i] = k
	}
	return out, nil
}

// validateNew validates a definition with defaults as a create of it does.
func validateNew(crd *apiextensionsv1.CustomResourceDefinition) error {
	created := *crd
	created.Status = apiextensionsv1.CustomResourceDefinitionStatus{}
	addStoredVersion(&created)
	internal := &apiextensions.CustomResourceDefinition{}
	if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(&created, internal, nil); err != nil {
		return err
	}
	errs := guarded(func() field.ErrorList {
		return crdvalidation.ValidateCustomResourceDefinition(context.Background(), internal)
	})
	return errorOf(errs)
}

// errorOf returns the error that names all problems, or nil.
func errorOf(errs field.ErrorList) error {
	if len(errs) == 0 {
		return nil // and not a nil Aggregate
	}
	return errs.ToAggregate()
}

// guarded calls upstream's validation, or what makes the kind of a definition in a store. They panic for a few definitions that are not
// structural: a selectable field is looked up in the schema that is missing then. A real server answers 500.
func guarded(validate func() field.ErrorList) (errs field.ErrorList) {
	defer func() {
		if problem := recover(); problem != nil {
			errs = field.ErrorList{field.InternalError(field.NewPath("spec"), fmt.Errorf("validation panics: %v", problem))}
		}
	}()
	return validate()
}

// checkNames refuses two definitions that claim the same name in a group: a real server accepts only the names of the first.
func checkNames(kinds []*definedKind) error {
	taken := map[[3]string]string{} // name of the definition by group, kind of name and name
	for _, k := range kinds {
		crd := k.crd
		claim := func(what string, names ...string) error {
			for _, name := range names {
				key := [3]string{crd.Spec.Group, what, name}
				if other := taken[key]; name != "" && other != "" && other != crd.Name {
					return fmt.Errorf("CustomResourceDefinition %q: spec.names: %q is already in use by %q", crd.Name, name, other)
				}
				taken[key] = crd.Name
			}
			return nil
		}
		n := crd.Spec.Names
		if err := claim("resource", append([]string{n.Plural, n.Singular}, n.ShortNames...)...); err != nil {
			return err
		}
		if err := claim("kind", n.Kind, n.ListKind); err != nil {
			return err
		}
	}
	return nil
}

// schemaOf returns the schema of a version in the internal form, or nil.
func schemaOf(crd *apiextensionsv1.CustomResourceDefinition, name string) (*apiextensions.JSONSchemaProps, error) {
	v1, err := apihelpers.GetSchemaForVersion(crd, name)
	if err != nil || v1 == nil {
		return nil, err
	}
	var internal apiextensions.CustomResourceValidation
	err = apiextensionsv1.Convert_v1_CustomResourceValidation_To_apiextensions_CustomResourceValidation(v1, &internal, nil)
	return internal.OpenAPIV3Schema, err
}

// structuralOf returns the structural schema of a version, with defaults that have no unknown members.
func structuralOf(props *apiextensions.JSONSchemaProps) (*structuralschema.Structural, error) {
	s, err := structuralschema.NewStructural(props)
	if err != nil || s == nil {
		return nil, err
	}
	s = s.DeepCopy() // the defaults are shared with props
	return s, defaulting.PruneDefaults(s)
}
