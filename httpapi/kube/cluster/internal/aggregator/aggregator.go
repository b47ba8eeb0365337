// Package aggregator is what kube-aggregator is to a kube-apiserver: it lists the groups of APIServices, passes requests for the groups of
// other servers on to them, says whether these are available, and registers the groups of CustomResourceDefinitions.
package aggregator

import (
	"context"
	"net"
	"net/http"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/util/webhook"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/kube/cluster/internal/controller"
	"github.com/kubecoord/kubecoord/httpapi/kube/cluster/internal/typed"
	"github.com/kubecoord/kubecoord/store/meta"
)

// Options say what an aggregator does.
type Options struct {
	// Dial connects to other servers. Nil is TCP.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Services finds the addresses of services.
	Services webhook.ServiceResolver
	// Register makes an APIService for each group and version of CustomResourceDefinitions.
	Register bool
}

// fieldManager is the field manager of a kube-apiserver's own writes.
const fieldManager = "kube-apiserver"

// aggregator is the aggregator of one API.
type aggregator struct {
	Options
	api         *httpapi.API
	services    *typed.Collection[*apiregistrationv1.APIService]
	definitions *typed.Objects[apiextensionsv1.CustomResourceDefinition]
	behind      *typed.Objects[corev1.Service] // that APIServices name
	slices      *typed.Objects[discoveryv1.EndpointSlice]
	// Queues of names of APIServices: to register, to probe, and to discover. Other servers, which may not answer, hold up only the last two.
	registering, probing, discovering *controller.Queue[string]

	mu         sync.Mutex // guards discovered
	discovered discoveries
}

// Extend changes the options of an API, from one of its httpapi.Options.Parts. It does nothing if the API does not serve APIServices.
func Extend(a *httpapi.API, opts *httpapi.Options, o Options) {
	if typed.KindOf(a, apiServices()) == nil {
		return
	}
	g := &aggregator{
		Options: o, api: a, services: typed.Values[apiregistrationv1.APIService](a, apiServices()),
		definitions: typed.In[apiextensionsv1.CustomResourceDefinition](a, definitions()),
		behind:      typed.In[corev1.Service](a, meta.GroupResource{Resource: "services"}),
		slices:      typed.In[discoveryv1.EndpointSlice](a, meta.GroupResource{Group: discoveryv1.GroupName, Resource: "endpointslices"}),
		discovered:  discoveries{},
	}
	for _, queue := range []**controller.Queue[string]{&g.registering, &g.probing, &g.discovering} {
		*queue = controller.NewQueue[string](a.Store().Clock(), interval)
	}
	outer := opts.Middleware
	opts.Middleware = func(next http.Handler) http.Handler {
		var h http.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { g.route(r, next).ServeHTTP(w, r) })
		if outer != nil {
			h = outer(h)
		}
		return h
	}
	opts.Parts = append(opts.Parts, httpapi.Controller(g.run), g.work(g.registering, 5, g.register), g.work(g.probing, 5, g.probe), g.work(g.discovering, 2, g.discover))
}

// work returns the Part that works on a queue. The numbers of workers are those of a kube-apiserver.
func (g *aggregator) work(queue *controller.Queue[string], workers int, process func(context.Context, string)) httpapi.Part {
	return httpapi.Controller(func(ctx context.Context, _ *httpapi.API) { controller.Work(ctx, queue, workers, process) })
}

func apiServices() meta.GroupResource {
	return meta.GroupResource{Group: apiregistrationv1.GroupName, Resource: "apiservices"}
}

func definitions() meta.GroupResource {
	return meta.GroupResource{Group: apiextensionsv1.GroupName, Resource: "customresourcedefinitions"}
}

// service returns an APIService by its name, or nil.
func (g *aggregator) service(name string) *apiregistrationv1.APIService {
	return g.services.Read(nil).ByName[types.NamespacedName{Name: name}]
}

// route returns the handler of a request: next, unless the path belongs to an APIService that next does not know. "v1." stays local.
func (g *aggregator) route(r *http.Request, next http.Handler) http.Handler {
	rest, ok := strings.CutPrefix(r.URL.Path, "/apis")
	if !ok || rest != "" && rest[0] != '/' {
		return next
	}
	group, rest, below := strings.Cut(strings.TrimPrefix(rest, "/"), "/")
	version, _, _ := strings.Cut(rest, "/")
	switch {
	case group == "" && !below:
		return g.groupList(r, next)
	case group == "":
		return next
	case version != "":
		if s := g.service(version + "." + group); s != nil && s.Spec.Service != nil {
			return g.api.Guard(g.remote(s))
		}
		return next
	case rest == "":
		return g.group(group, next)
	}
	return next
}
