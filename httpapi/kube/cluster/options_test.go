package cluster_test

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubecoord/kubecoord/httpapi/kube/cluster"
)

// A field that is added later must be on in one of the two, or be a choice of the user's.
func TestBareWithControllersDoesAllButChoices(t *testing.T) {
	choices := map[string]bool{"LeaseCandidates": true, "RBAC": true}
	o := reflect.ValueOf(cluster.KubeAPIServer().WithControllers())
	for i := range o.NumField() {
		if f := o.Type().Field(i); f.Type.Kind() == reflect.Bool {
			assert.Equal(t, !choices[f.Name], o.Field(i).Bool(), f.Name)
		}
	}
}
