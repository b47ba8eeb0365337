package httpapi_test

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/admission"
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
			Native: &kind.NativeSubresource[meta.Object]{Connect: func(ctx context.Context, _ kind.Connection, _ func(string) (meta.Object, error)) (http.Handler, error) {
				said, _ := ctx.Value(key{}).(string)
				return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("said: " + said)) }), nil
			}},
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

// admitted records the CONNECTs that an Admission is asked about, in both phases.
type admitted struct {
	asked  []admission.Attributes
	users  []string
	admit  func(*admission.Attributes) error
	refuse error
}

func (a *admitted) Admit(ctx context.Context, attr *admission.Attributes) error {
	a.asked, a.users = append(a.asked, *attr), append(a.users, store.UserOf(ctx).Name)
	if a.admit != nil {
		return a.admit(attr)
	}
	return nil
}

func (a *admitted) Validate(_ context.Context, attr *admission.Attributes) error {
	a.asked = append(a.asked, *attr)
	return a.refuse
}

// A request that the server passes on is decided by admission, which sees and may change its options.
func TestAdmissionDecidesAboutConnections(t *testing.T) {
	type dialOptions struct{ Channel string }
	connect := func(name string, options func(kind.Connection) (any, error)) kind.Subresource[meta.Object] {
		return kind.Subresource[meta.Object]{Name: name, Verbs: []string{"create", "get"}, Native: &kind.NativeSubresource[meta.Object]{
			Options: options, ConnectPaths: true,
			Connect: func(_ context.Context, to kind.Connection, _ func(string) (meta.Object, error)) (http.Handler, error) {
				said := "nothing"
				if o, ok := to.Options.(*dialOptions); ok {
					said = o.Channel
				}
				return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(said)) }), nil
			},
		}}
	}
	k, err := kinds.NewKind(kind.Descriptor[meta.Object]{
		Resource: kind.Resource{Group: "example.com", Kind: "Fleet"},
		New:      func() kinds.Object { return &fleet{} },
		Versions: []kind.Version[meta.Object]{{Name: "v1"}},
		Subresources: []kind.Subresource[meta.Object]{
			connect("log", nil),
			connect("radio", func(to kind.Connection) (any, error) {
				if to.Query.Get("channel") == "" {
					return nil, errors.New("no channel")
				}
				return &dialOptions{to.Query.Get("channel") + to.Path}, nil
			}),
		},
	})
	require.NoError(t, err)
	a := &admitted{}
	s := newServerWith(t, store.Options{}, httpapi.Options{
		Kinds: []kind.Kind{k}, Admission: a,
		Authenticate: func(*http.Request) (httpapi.User, bool) { return httpapi.User{Name: "jane"}, true },
	})
	const fleets = "/apis/example.com/v1/namespaces/default/fleets/"
	assert.Equal(t, "nothing", s.do(t, "GET", fleets+"a/log", "").Body)
	assert.Contains(t, s.do(t, "GET", fleets+"a/radio", "").Body, "no channel")
	assert.Empty(t, a.asked, "a read, and a bad request")

	for _, method := range []string{"GET", "POST", "HEAD", "OPTIONS"} {
		*a = admitted{}
		r := s.do(t, method, fleets+"a/radio/x?channel=16", "")
		assert.Equal(t, 200, r.Code, method)
		require.Len(t, a.asked, 2, method)
		for _, attr := range a.asked {
			assert.Equal(t, []any{admission.Connect, "radio", "default", "a", &dialOptions{"16/x"}, nil, nil, false},
				[]any{attr.Operation, attr.Subresource, attr.Namespace, attr.Name, attr.Options, attr.Object, attr.Old, attr.DryRun}, method)
			assert.Equal(t, "fleets", attr.Resource.Info().Plural)
		}
		assert.Equal(t, []string{"jane"}, a.users)
	}
	*a = admitted{admit: func(attr *admission.Attributes) error {
		attr.Options.(*dialOptions).Channel = "changed"
		attr.Warn("listen")
		return nil
	}}
	r := s.do(t, "GET", fleets+"a/radio?channel=16", "")
	assert.Equal(t, "changed", r.Body)
	assert.Equal(t, []string{`299 - "listen"`}, r.Header.Values("Warning"))
	refused := meta.NewStatusError(http.StatusTeapot, "", nil, "no radio")
	for _, a := range []*admitted{{refuse: refused}, {admit: func(*admission.Attributes) error { return refused }}} {
		s := newServerWith(t, store.Options{}, httpapi.Options{Kinds: []kind.Kind{k}, Admission: a})
		r := s.do(t, "POST", fleets+"a/radio?channel=16", "")
		assert.Equal(t, http.StatusTeapot, r.Code)
		assert.Contains(t, r.Body, "no radio")
	}
}
