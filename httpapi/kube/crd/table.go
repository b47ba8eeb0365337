package crd

import (
	"slices"
	"strings"
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// definitionTable returns the columns of definitions (upstream: registry/customresourcedefinition/tableconvertor).
func definitionTable() kind.Table[meta.Object] {
	doc := metav1.ObjectMeta{}.SwaggerDoc()
	column := func(name, typ string, priority int32, description string, cell func(*apiextensionsv1.CustomResourceDefinition) any) kind.Column[meta.Object] {
		return kind.Column[meta.Object]{Name: name, Type: typ, Priority: priority, Description: description,
			Cell: func(o meta.Object, _ time.Time) any { return cell(definitionOf(o)) }}
	}
	name := column("Name", "string", 0, doc["name"], func(d *apiextensionsv1.CustomResourceDefinition) any { return d.Name })
	name.Format = "name"
	return kind.Table[meta.Object]{Columns: []kind.Column[meta.Object]{
		name,
		column("Scope", "string", 0, "Cluster/Namespaced", func(d *apiextensionsv1.CustomResourceDefinition) any { return string(d.Spec.Scope) }),
		column("Versions", "string", 0, "Served versions", servedVersions),
		column("Created At", "date", 0, doc["creationTimestamp"], func(d *apiextensionsv1.CustomResourceDefinition) any {
			return d.CreationTimestamp.UTC().Format(time.RFC3339)
		}),
		column("Group", "string", 1, "API group", func(d *apiextensionsv1.CustomResourceDefinition) any { return d.Spec.Group }),
		column("Kind", "string", 1, "CustomResource kind", func(d *apiextensionsv1.CustomResourceDefinition) any { return d.Spec.Names.Kind }),
		column("ShortNames", "string", 1, "Short names", func(d *apiextensionsv1.CustomResourceDefinition) any {
			return strings.Join(d.Spec.Names.ShortNames, ",")
		}),
		column("Established", "boolean", 1, "Established status", func(d *apiextensionsv1.CustomResourceDefinition) any {
			return apihelpers.IsCRDConditionTrue(d, apiextensionsv1.Established)
		}),
	}}
}

// servedVersions returns the names of the served versions, sorted.
func servedVersions(d *apiextensionsv1.CustomResourceDefinition) any {
	var names []string
	for _, v := range d.Spec.Versions {
		if !v.Served {
			continue
		}
		if v.Storage {
			v.Name += "(storage)"
		}
		names = append(names, v.Name)
	}
	slices.Sort(names)
	return strings.Join(names, ",")
}
