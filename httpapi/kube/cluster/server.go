package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/httpapi/kube/cluster/internal/access"
	"github.com/kubecoord/kubecoord/httpapi/kube/crd"
	"github.com/kubecoord/kubecoord/httpapi/kube/scheme"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/fixture"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// Server is an API server with a store in memory.
type Server struct{ *httpapi.API }

// New returns a server with a store of the options st and the options of o.API(api). The caller must Close it.
func New(o Options, st store.Options, api httpapi.Options) (*Server, error) {
	api, err := o.API(api)
	if err != nil {
		return nil, err
	}
	return &Server{httpapi.New(store.New(st), api)}, nil
}

// NewTest returns the server of one test, with the objects of the fixtures. It ends with the test. Clients reach it by the Transport of the
// result, without a socket. Wrong options and a fixture that does not load fail the test.
func NewTest(t apitest.TB, o Options, fixtures ...fixture.Source) *apitest.API {
	t.Helper()
	options, err := o.API(httpapi.Options{})
	if err != nil {
		t.Fatalf("%v", err)
	}
	return apitest.New(t, apitest.Options{API: options, Fixtures: fixtures})
}

// Close closes the API and its store.
func (s *Server) Close() {
	s.API.Close()
	s.Store().Close()
}

// API returns the options of an API that serves all kinds and does what o says, for httpapi.New, apitest.New, or a store on etcd,
// which needs the Kinds of the result. api has more kinds and the other options. Its Authenticate and Authorize are asked first. Its
// Parts must not have crd.Run, which the result calls. Each API that is made with the result has its own admission and controllers, and
// so has each fork.
func (o Options) API(api httpapi.Options) (httpapi.Options, error) {
	err := errors.Join(o.checkRanges(), o.checkPlugins())
	if err != nil {
		return httpapi.Options{}, fmt.Errorf("cluster: %w", err)
	}
	if api.Kinds, err = o.kinds(api.Kinds); err != nil {
		return httpapi.Options{}, fmt.Errorf("cluster: %w", err)
	}
	tokens := access.NewTokens(access.TokenOptions(o.Tokens))
	api.Parts = append(slices.Clip(api.Parts), func(a *httpapi.API, opts *httpapi.Options) func(context.Context) {
		opts.Checks = slices.Clip(opts.Checks)
		o.extend(a, opts, tokens)
		return nil
	})
	return api, nil
}

// kinds returns the kinds to serve: built-in ones, definitions, those in more, and the ones that have no objects.
func (o Options) kinds(more []kind.Kind) (out []kind.Kind, err error) {
	all, err := builtinKinds()
	if len(o.FeatureGates) > 0 || o.Versions != nil {
		all, err = newBuiltinKinds(scheme.Options{FeatureGates: o.FeatureGates, Versions: o.Versions})
	}
	if err != nil {
		return nil, err
	}
	needed := map[string]bool{"namespaces": o.Namespaces || o.Service || o.NamespaceDeletion, "services": o.Service || o.Addresses,
		"ipaddresses.networking.k8s.io": o.Addresses, "servicecidrs.networking.k8s.io": o.Addresses}
	services, err := scheme.APIServices()
	if err != nil {
		return nil, err
	}
	for _, k := range append(slices.Clip(all), crd.Definitions(), services) {
		if o.serves(k) || needed[resourceOf(k).String()] {
			out = append(out, k)
		}
	}
	var reviews []kind.Kind
	var account kind.Kind
	if o.Reviews {
		if reviews, account, err = scheme.Reviews(); err != nil {
			return nil, err
		}
	}
	for _, k := range slices.Concat(more, reviews) {
		if indexOf(out, k) < 0 {
			out = append(out, k)
		}
	}
	if account != nil {
		if i := indexOf(out, account); i >= 0 {
			out[i] = account // which has tokens
		}
	}
	return out, nil
}

// serves reports whether Serves accepts a version of a kind.
func (o Options) serves(k kind.Kind) bool {
	return o.Serves == nil || slices.ContainsFunc(k.Info().Versions, func(v kind.VersionInfo) bool {
		gr := resourceOf(k)
		return o.Serves(schema.GroupVersionResource{Group: gr.Group, Version: v.Name, Resource: gr.Resource})
	})
}

func resourceOf(k kind.Kind) meta.GroupResource { return k.GroupResource() }

// indexOf returns the index of the kind with the resource of k, or -1.
func indexOf(all []kind.Kind, k kind.Kind) int {
	return slices.IndexFunc(all, func(have kind.Kind) bool { return resourceOf(have) == resourceOf(k) })
}

// builtinKinds returns the kinds of client-go's scheme. Types that a program has added to that scheme are not among them.
var builtinKinds = sync.OnceValues(func() ([]kind.Kind, error) { return newBuiltinKinds(scheme.Options{}) })

func newBuiltinKinds(o scheme.Options) ([]kind.Kind, error) {
	types := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(types); err != nil {
		return nil, err
	}
	return scheme.Kinds(types, o)
}
