package httpapi_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// The functions of a kind, which many APIs share, get what its API has.
func TestFunctionsOfAKindGetTheContextOfTheirAPI(t *testing.T) {
	type key struct{}
	k, err := kinds.NewKind(kind.Descriptor[meta.Object]{
		Resource: kind.Resource{Group: "example.com", Kind: "Fleet"},
		New:      func() kinds.Object { return &fleet{} },
		Versions: []kind.Version[meta.Object]{{Name: "v1"}},
		Subresources: []kind.Subresource[meta.Object]{{
			Name: "radio", Verbs: []string{"get"},
			Connect: func(ctx context.Context, _ kind.Connection, _ func(string) (meta.Object, error)) (http.Handler, error) {
				said, _ := ctx.Value(key{}).(string)
				return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("said: " + said)) }), nil
			},
		}},
	})
	require.NoError(t, err)
	for _, says := range []string{"ahoy", "over"} {
		s := newServerWith(t, store.Options{}, httpapi.Options{
			Kinds:       []kind.Kind{k},
			KindContext: func(ctx context.Context) context.Context { return context.WithValue(ctx, key{}, says) },
		})
		assert.Equal(t, "said: "+says, s.do(t, "GET", "/apis/example.com/v1/namespaces/default/fleets/a/radio", "").Body)
	}
	s := newServerWith(t, store.Options{}, httpapi.Options{Kinds: []kind.Kind{k}})
	assert.Equal(t, "said: ", s.do(t, "GET", "/apis/example.com/v1/namespaces/default/fleets/a/radio", "").Body)
}
