package crd

import (
	"fmt"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/client-go/util/jsonpath"

	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// selectableFields returns the fields that a fieldSelector may name (upstream: registry/customresource, strategy.go).
func selectableFields(of []apiextensionsv1.SelectableField) (out []kind.SelectableField[meta.Object]) {
	for _, f := range of {
		path := jsonpath.New("selectableField").AllowMissingKeys(true)
		err := path.Parse("{" + f.JSONPath + "}")
		out = append(out, kind.SelectableField[meta.Object]{Path: strings.TrimPrefix(f.JSONPath, "."), Value: func(o meta.Object) string {
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
		}})
	}
	return out
}
