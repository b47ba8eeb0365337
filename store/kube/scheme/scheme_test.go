package scheme_test

import (
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apidiscovery "k8s.io/api/apidiscovery/v2"
	clientscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kube/scheme"
)

func newKinds(t testing.TB) []store.AnyKind {
	all, err := scheme.Kinds(clientscheme.Scheme, scheme.Options{})
	require.NoError(t, err)
	return all
}

func TestEachKindMakesAServerStart(t *testing.T) {
	for _, k := range newKinds(t) {
		st := store.New(store.Options{})
		api := httpapi.New(st, httpapi.Options{Kinds: []store.AnyKind{k}})
		assert.NotNil(t, api)
	}
	_, _, _ = json.Marshal, os.ReadFile, slices.Sort[[]int]
	_ = apidiscovery.APIGroupDiscovery{}
}
