package aggregator

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestSubresourcesStandBelowTheirResource(t *testing.T) {
	all, err := nested([]metav1.APIResource{
		{Name: "widgets/status", Namespaced: true, Kind: "Widget", Verbs: metav1.Verbs{"get"}},
		{Name: "widgets", SingularName: "widget", Namespaced: true, Kind: "Widget", Group: "g", Version: "v1", Verbs: metav1.Verbs{"list"}, ShortNames: []string{"w"}, Categories: []string{"all"}},
		{Name: "places/log"},
	})
	require.NoError(t, err)
	data, err := json.Marshal(all)
	require.NoError(t, err)
	assert.JSONEq(t, `[
		{"resource": "widgets", "singularResource": "widget", "scope": "Namespaced", "responseKind": {"group": "g", "version": "v1", "kind": "Widget"},
		 "verbs": ["list"], "shortNames": ["w"], "categories": ["all"],
		 "subresources": [{"subresource": "status", "responseKind": {"group": "", "version": "", "kind": "Widget"}, "verbs": ["get"]}]},
		{"resource": "places", "singularResource": "", "scope": "Cluster", "responseKind": {"group": "", "version": "", "kind": ""}, "verbs": null,
		 "subresources": [{"subresource": "log", "responseKind": {"group": "", "version": "", "kind": ""}, "verbs": null}]}
	]`, string(data))
	_, err = nested([]metav1.APIResource{{Name: "widgets", Namespaced: true}, {Name: "widgets/status"}})
	assert.EqualError(t, err, "Error: Parent widgets (scope: Namespaced) and subresource status (scope: Cluster) scope do not match")
}
