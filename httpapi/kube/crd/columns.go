package crd

import (
	"context"
	"fmt"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresource/tableconvertor"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/client-go/util/jsonpath"

	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// cell is the function of a cell, which gets the document of the object.
type cell func(doc map[string]any, now time.Time) any

// columns returns the columns of a Table: the name, and the columns of the definition or the age. cells returns the cells of a row,
// from one document: there may be thousands of columns.
func columns(of []apiextensionsv1.CustomResourceColumnDefinition) (out []kind.Column[meta.Object], cells func(meta.Object, time.Time) []any) {
	doc := metav1.ObjectMeta{}.SwaggerDoc()
	out = []kind.Column[meta.Object]{{Name: "Name", Type: "string", Format: "name", Description: doc["name"]}}
	if len(of) == 0 {
		of = []apiextensionsv1.CustomResourceColumnDefinition{{
			Name: "Age", Type: "date", Description: doc["creationTimestamp"], JSONPath: ".metadata.creationTimestamp",
		}}
	}
	var functions []cell
	for _, c := range of {
		if c.Description == "" {
			c.Description = "Custom resource definition column (in JSONPath format): " + c.JSONPath
		}
		f := value(c)
		if c.Type == "date" {
			f = age(c)
		}
		functions = append(functions, f)
		out = append(out, kind.Column[meta.Object]{
			Name: c.Name, Type: c.Type, Format: c.Format, Description: c.Description, Priority: c.Priority,
		})
	}
	return out, func(o meta.Object, now time.Time) []any {
		doc, row := document(o.(*store.Unstructured)), []any{o.GetObjectMeta().Name}
		for _, f := range functions {
			row = append(row, f(doc, now))
		}
		return row
	}
}

// value returns the function of a cell, by upstream's converter of one column.
func value(c apiextensionsv1.CustomResourceColumnDefinition) cell {
	convertor, err := tableconvertor.New([]apiextensionsv1.CustomResourceColumnDefinition{c})
	return func(doc map[string]any, _ time.Time) any {
		if err != nil {
			return nil
		}
		table, err := convertor.ConvertToTable(context.Background(), &unstructured.Unstructured{Object: doc}, nil)
		if err != nil || len(table.Rows) != 1 || len(table.Rows[0].Cells) != 2 {
			return nil
		}
		return table.Rows[0].Cells[1]
	}
}

// age returns the function of a cell with the age of a date by the clock of the store, which upstream's converter does not
// know.
func age(c apiextensionsv1.CustomResourceColumnDefinition) cell {
	path := jsonpath.New(c.Name).AllowMissingKeys(true)
	err := path.Parse(fmt.Sprintf("{%s}", c.JSONPath))
	return func(doc map[string]any, now time.Time) any {
		if err != nil {
			return nil
		}
		results, err := path.FindResults(doc)
		if err != nil || len(results) == 0 || len(results[0]) == 0 {
			return nil
		}
		text, ok := results[0][0].Interface().(string)
		if !ok {
			return nil
		}
		var at metav1.Time
		switch err := at.UnmarshalQueryParameter(text); {
		case err != nil:
			return "<invalid>"
		case at.IsZero():
			return "<unknown>"
		}
		return duration.HumanDuration(now.Sub(at.Time))
	}
}
