package crd

import (
	"cmp"
	"context"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/version"

	"github.com/kubecoord/kubecoord/httpapi/kube/internal/webhooks"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
	"github.com/kubecoord/kubecoord/store/schema"
)

// definedKind is the kind of a definition.
type definedKind struct {
	kind.Kind
	crd *apiextensionsv1.CustomResourceDefinition
	// shared is the kind of all APIs of the process that this kind of one API stands for, or nil.
	shared *definedKind
}

// kindOf returns the kind of a definition. Its names are the accepted ones. A webhook that converts its
// objects is called through calls.
func kindOf(crd *apiextensionsv1.CustomResourceDefinition, calls *webhooks.Calls) (*definedKind, error) {
	names := crd.Status.AcceptedNames
	d := kind.Descriptor[meta.Object]{
		Resource: kind.Resource{
			Group: crd.Spec.Group, Kind: names.Kind, ListKind: names.ListKind, Plural: names.Plural, Singular: names.Singular,
			ShortNames: names.ShortNames, Categories: names.Categories,
			ClusterScoped: crd.Spec.Scope == apiextensionsv1.ClusterScoped,
		},
		New:    func() meta.Object { return new(store.Unstructured) },
		Native: &kind.Native[meta.Object]{CustomResource: true, KeepsVersion: true},
	}
	var compiledVersions []*crVersion
	webhook := conversionsOf(crd, calls)
	for i, v := range versionsOf(crd) {
		compiled, err := newVersion(crd, v)
		if err != nil {
			return nil, err
		}
		compiledVersions = append(compiledVersions, compiled)
		d.Versions = append(d.Versions, compiled.descriptor())
		d.Versions[i].Native = &kind.NativeVersion{Unserved: !v.Served}
		if i > 0 && webhook != nil {
			stored := compiledVersions[0].named
			d.Versions[i].Form.New = d.New
			d.Versions[i].Form.Convert = func(_ context.Context, o meta.Object, toStored bool, reuse kind.Reuse) (meta.Object, error) {
				if toStored {
					return webhook.convert(o, compiled.named, stored, reuse)
				}
				return webhook.convert(o, stored, compiled.named, reuse)
			}
		}
		if i == 0 {
			d.Table.Columns, d.Table.Cells = columns(v.AdditionalPrinterColumns)
		} else {
			d.Versions[i].Table.Columns, d.Versions[i].Table.Cells = columns(v.AdditionalPrinterColumns)
		}
	}
	addSubresources(&d, compiledVersions)
	addSelectableFields(&d, compiledVersions)
	k, err := store.Compile(d)
	if err != nil {
		return nil, err
	}
	whole := &definedKind{Kind: k, crd: crd}
	for _, v := range compiledVersions {
		v.whole = whole
	}
	return whole, nil
}

// addSubresources adds the subresources that a version has at least. A scale has the paths of the first version that has one.
func addSubresources(d *kind.Descriptor[meta.Object], versions []*crVersion) {
	const scale, status = "scale", "status"
	for _, v := range versions {
		of := v.subresources()
		d.Resource.Status = d.Resource.Status || of.Status != nil
		if of.Scale != nil && d.Subresources == nil {
			d.Subresources = []kind.Subresource[meta.Object]{scaleOf(of.Scale)}
		}
	}
	for i, v := range versions {
		of := v.subresources()
		if d.Subresources != nil && of.Scale == nil {
			d.Versions[i].Native.Lacks = append(d.Versions[i].Native.Lacks, scale)
		}
		if d.Resource.Status && of.Status == nil {
			d.Versions[i].Native.Lacks = append(d.Versions[i].Native.Lacks, status)
		}
	}
}

// versionsOf returns the versions, also the ones that are not served, since objects have owners in them: the stored one, then the
// others in the order of preference.
func versionsOf(crd *apiextensionsv1.CustomResourceDefinition) (out []*apiextensionsv1.CustomResourceDefinitionVersion) {
	for i := range crd.Spec.Versions {
		out = append(out, &crd.Spec.Versions[i])
	}
	slices.SortStableFunc(out, func(a, b *apiextensionsv1.CustomResourceDefinitionVersion) int {
		if a.Storage != b.Storage {
			return cmp.Compare(btoi(b.Storage), btoi(a.Storage))
		}
		return version.CompareKubeAwareVersionStrings(b.Name, a.Name)
	})
	return out
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// crVersion is one version of a definition.
type crVersion struct {
	of         *apiextensionsv1.CustomResourceDefinitionVersion
	named      meta.TypeMeta
	deprecated string
	structural *structuralschema.Structural
	rules      func() *rules // compiled by the first call
	whole      *definedKind  // kept alive as long as the kind that validates with the version, so that its definition finds it; see madeKinds
}

func newVersion(crd *apiextensionsv1.CustomResourceDefinition, of *apiextensionsv1.CustomResourceDefinitionVersion) (*crVersion, error) {
	props, err := schemaOf(crd, of.Name)
	if err != nil {
		return nil, err
	}
	v := &crVersion{of: of, named: meta.TypeMeta{
		Kind: crd.Spec.Names.Kind, APIVersion: meta.GroupVersion{Group: crd.Spec.Group, Version: of.Name}.String(),
	}}
	if v.structural, err = structuralOf(props); err != nil {
		return nil, err
	}
	v.rules = compileRules(v, props)
	if of.Deprecated {
		v.deprecated = deprecation(crd, of)
	}
	return v, nil
}

// subresources returns the subresources of the version.
func (v *crVersion) subresources() apiextensionsv1.CustomResourceSubresources {
	if v.of.Subresources == nil {
		return apiextensionsv1.CustomResourceSubresources{}
	}
	return *v.of.Subresources
}

// descriptor describes the version to package kinds.
func (v *crVersion) descriptor() kind.Version[meta.Object] {
	return kind.Version[meta.Object]{
		Name: v.of.Name, Deprecated: v.deprecated, Validate: v.validate, ValidateStatus: v.validateStatus,
		Schema: v.schema(),
	}
}

// schema returns the schema of the version's objects.
func (v *crVersion) schema() *schema.Schema {
	s := schemaFrom(v.structural)
	gv, _ := meta.ParseGroupVersion(v.named.APIVersion)
	parts := strings.Split(gv.Group, ".")
	slices.Reverse(parts)
	s.Name = strings.Join(append(parts, gv.Version, v.named.Kind), ".")
	if len(v.of.SelectableFields) > 0 {
		var fields []any
		for _, f := range v.of.SelectableFields {
			fields = append(fields, map[string]any{"fieldPath": strings.TrimPrefix(f.JSONPath, ".")})
		}
		if s.Extra == nil {
			s.Extra = map[string]any{}
		}
		s.Extra["x-kubernetes-selectable-fields"] = fields
	}
	return s
}

// deprecation returns the warning of a deprecated version (upstream: apiserver/customresource_handler.go).
func deprecation(crd *apiextensionsv1.CustomResourceDefinition, of *apiextensionsv1.CustomResourceDefinitionVersion) string {
	if of.DeprecationWarning != nil {
		return *of.DeprecationWarning
	}
	named := func(version string) string { return crd.Spec.Group + "/" + version + " " + crd.Spec.Names.Kind }
	newest := ""
	for _, v := range crd.Spec.Versions {
		if v.Served && !v.Deprecated && version.CompareKubeAwareVersionStrings(cmp.Or(newest, of.Name), v.Name) < 0 {
			newest = v.Name
		}
	}
	text := named(of.Name) + " is deprecated"
	if newest != "" {
		text += "; use " + named(newest)
	}
	return text
}

// fieldsOf returns the members of a path such as ".spec.replicas".
func fieldsOf(path string) []string { return strings.Split(strings.TrimPrefix(path, "."), ".") }
