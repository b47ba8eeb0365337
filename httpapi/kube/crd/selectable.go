package crd

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/client-go/util/jsonpath"

	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// addSelectableFields adds the fields that a fieldSelector may name in a version at least (upstream: registry/customresource,
// strategy.go).
func addSelectableFields(d *kind.Descriptor[meta.Object], versions []*crVersion) {
	for _, v := range versions {
		for _, f := range v.of.SelectableFields {
			field := selectableField(f.JSONPath)
			if slices.ContainsFunc(d.SelectableFields, func(have kind.SelectableField[meta.Object]) bool { return have.Path == field.Path }) {
				continue
			}
			d.SelectableFields = append(d.SelectableFields, field)
			for i, v := range versions {
				if !slices.Contains(v.of.SelectableFields, f) {
					d.Versions[i].Native.Lacks = append(d.Versions[i].Native.Lacks, f.JSONPath)
				}
			}
		}
	}
}

func selectableField(jsonPath string) kind.SelectableField[meta.Object] {
	path := jsonpath.New("selectableField").AllowMissingKeys(true)
	err := path.Parse("{" + jsonPath + "}")
	return kind.SelectableField[meta.Object]{Path: strings.TrimPrefix(jsonPath, "."), Value: func(o meta.Object) string {
		if err != nil {
			return ""
		}
		results, err := path.FindResults(o.(*store.Unstructured).Content) // validation allows no field of the metadata
		if err != nil || len(results) == 0 || len(results[0]) == 0 {
			return ""
		}
		if value := results[0][0].Interface(); value != nil {
			return fmt.Sprint(value)
		}
		return ""
	}}
}
