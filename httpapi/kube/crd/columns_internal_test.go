package crd

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/kubecoord/kubecoord/store"
)

// TestRowOfATableReadsTheObjectOnce counts what the cells of a row allocate: its metadata is not read for each of them.
func TestRowOfATableReadsTheObjectOnce(t *testing.T) {
	const labels, columnCount = 500, 40
	var defined []apiextensionsv1.CustomResourceColumnDefinition
	for i := range columnCount {
		defined = append(defined, apiextensionsv1.CustomResourceColumnDefinition{
			Name: fmt.Sprint("c", i), Type: []string{"string", "date"}[i%2], JSONPath: ".spec.a",
		})
	}
	o := &store.Unstructured{Content: map[string]any{"spec": map[string]any{"a": "x"}}}
	o.Name, o.Labels = "t", map[string]string{}
	for i := range labels {
		o.Labels[fmt.Sprint("label-", i)] = "v"
	}
	_, cells := columns(defined)
	row := cells(o, time.Time{})
	require.Len(t, row, 1+columnCount)
	assert.Equal(t, []any{"t", "x", "<invalid>"}, row[:3])
	allocations := testing.AllocsPerRun(10, func() { cells(o, time.Time{}) })
	assert.Less(t, allocations, 10.0*labels)
}
