package migrate

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
)

// This file has the section of docs/migrate.md about mockkubeapiserver. Their module cannot be had by way of the module proxy,
// so only our side is run.

func TestServerOfRegisteredTypes(t *testing.T) {
	widgets := store.MustKind(kind.Descriptor[*store.Unstructured]{
		Resource: kind.Resource{Group: "example.com", Kind: "Widget", Plural: "widgets"},
		Versions: []kind.Version[*store.Unstructured]{{Name: "v1"}},
	})
	api := apitest.New(t, apitest.Options{API: httpapi.Options{Kinds: []kind.Kind{widgets}}})
	config := &rest.Config{Host: api.URL()}

	c, err := client.New(config, client.Options{})
	require.NoError(t, err)
	require.NoError(t, c.Create(context.Background(), newWidget()))
}
