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

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/store"
)

// columns returns the columns of a Table: the name, and the ones of the definition or the age.
func columns(of []apiextensionsv1.CustomResourceColumnDefinition) []kinds.Column {
	doc := metav1.ObjectMeta{}.SwaggerDoc()
	out := []kinds.Column{{
		ColumnInfo: kinds.ColumnInfo{Name: "Name", Type: "string", Format: "name", Description: doc["name"]},
		Cell:       func(o kinds.Object, _ time.Time) any { return o.GetObjectMeta().Name },
	}}
	if len(of) == 0 {
		of = []apiextensionsv1.CustomResourceColumnDefinition{{
			Name: "Age", Type: "date", Description: doc["creationTimestamp"], JSONPath: ".metadata.creationTimestamp",
		}}
	}
	for _, c := range of {
		if c.Description == "" {
			c.Description = "Custom resource definition column (in JSONPath format): " + c.JSONPath
		}
		cell := value(c)
		if c.Type == "date" {
			cell = age(c)
		}
		out = append(out, kinds.Column{
			ColumnInfo: kinds.ColumnInfo{Name: c.Name, Type: c.Type, Format: c.Format, Description: c.Description, Priority: c.Priority},
			Cell:       cell,
		})
	}
	return out
}

// value returns the function of a cell, by upstream's converter of one column.
func value(c apiextensionsv1.CustomResourceColumnDefinition) func(kinds.Object, time.Time) any {
	convertor, err := tableconvertor.New([]apiextensionsv1.CustomResourceColumnDefinition{c})
	return func(o kinds.Object, _ time.Time) any {
		if err != nil {
			return nil
		}
		table, err := convertor.ConvertToTable(context.Background(), &unstructured.Unstructured{Object: document(o.(*store.Unstructured))}, nil)
		if err != nil || len(table.Rows) != 1 || len(table.Rows[0].Cells) != 2 {
			return nil
		}
		return table.Rows[0].Cells[1]
	}
}

// age returns the function of a cell with the age of a date by the clock of the store, which upstream's converter does not
// know.
func age(c apiextensionsv1.CustomResourceColumnDefinition) func(kinds.Object, time.Time) any {
	path := jsonpath.New(c.Name).AllowMissingKeys(true)
	err := path.Parse(fmt.Sprintf("{%s}", c.JSONPath))
	return func(o kinds.Object, now time.Time) any {
		if err != nil {
			return nil
		}
		results, err := path.FindResults(document(o.(*store.Unstructured)))
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
