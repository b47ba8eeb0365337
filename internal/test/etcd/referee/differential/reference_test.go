package differential

import (
	"net/http"
	"time"

	"github.com/emicklei/go-restful/v3"
	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	genericapi "k8s.io/apiserver/pkg/endpoints"
	"k8s.io/apiserver/pkg/endpoints/filters"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/generic"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/kubecoord/kubecoord/internal/registry"
)

// resource is one kind as the reference serves it.
type resource struct {
	group, plural, singular string
	versions                []string // the first one is stored
	object, list            func() runtime.Object
	strategy                strategy
	prefix                  string // of the storage keys
	mediaType               string // of stored objects
	converter               func() managedfields.TypeConverter
}

var resources = []resource{{
	group: coordination, plural: "leases", singular: "lease", versions: []string{"v1"},
	object: func() runtime.Object { return &coordinationv1.Lease{} }, list: func() runtime.Object { return &coordinationv1.LeaseList{} },
	strategy: leaseStrategy, prefix: "leases", mediaType: runtime.ContentTypeProtobuf, converter: publishedTypes,
}, {
	group: coordination, plural: "leasecandidates", singular: "leasecandidate", versions: []string{"v1beta1", "v1alpha2"},
	object: func() runtime.Object { return &coordinationv1beta1.LeaseCandidate{} }, list: func() runtime.Object { return &coordinationv1beta1.LeaseCandidateList{} },
	strategy: candidateStrategy, prefix: "leasecandidates", mediaType: runtime.ContentTypeProtobuf, converter: publishedTypes,
}, {
	plural: "endpoints", singular: "endpoints", versions: []string{"v1"},
	object: func() runtime.Object { return &corev1.Endpoints{} }, list: func() runtime.Object { return &corev1.EndpointsList{} },
	strategy: endpointsStrategy, prefix: "services/endpoints", mediaType: runtime.ContentTypeProtobuf, converter: publishedTypes,
}, {
	group: widgetGroup, plural: "widgets", singular: "widget", versions: []string{"v1"},
	object: func() runtime.Object { return &widget{} }, list: func() runtime.Object { return &widgetList{} },
	strategy: widgetStrategy, prefix: widgetGroup + "/widgets", mediaType: runtime.ContentTypeJSON, converter: widgetConverter,
}}

func init() {
	// These would wait by a clock that differs inside a bubble.
	utilruntime.ErrorHandlers = nil
	klog.SetLogger(logr.Discard())
}

func publishedTypes() managedfields.TypeConverter {
	return applyconfigurations.NewTypeConverter(scheme)
}

func (r *resource) root() string {
	if r.group == "" {
		return "/api"
	}
	return "/apis"
}

// newReference returns a server made of upstream's handlers and registry. Its first version is the first version of a store.
func newReference() http.Handler {
	revision := uint64(registry.DefaultFirstVersion)
	container := restful.NewContainer()
	for i := range resources {
		r := &resources[i]
		served := r.serve(&revision)
		for _, version := range r.versions {
			_, _, err := r.install(version, served).InstallREST(container)
			utilruntime.Must(err)
		}
	}
	resolver := &request.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")}
	return filters.WithAuditInit(filters.WithRequestInfo(filters.WithWarningRecorder(container), resolver))
}

// serve returns the registry of the resource over an empty storage.
func (r *resource) serve(revision *uint64) rest.Storage {
	served := &genericregistry.Store{
		NewFunc: r.object, NewListFunc: r.list,
		DefaultQualifiedResource:  schema.GroupResource{Group: r.group, Resource: r.plural},
		SingularQualifiedResource: schema.GroupResource{Group: r.group, Resource: r.singular},
		CreateStrategy:            r.strategy, UpdateStrategy: r.strategy, DeleteStrategy: r.strategy,
		TableConvertor: rest.NewDefaultTableConvertor(schema.GroupResource{Group: r.group, Resource: r.plural}),
	}
	info, _ := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), r.mediaType)
	codec := codecs.CodecForVersions(info.Serializer, info.Serializer,
		schema.GroupVersion{Group: r.group, Version: r.versions[0]}, schema.GroupVersion{Group: r.group, Version: runtime.APIVersionInternal})
	options := generic.RESTOptions{
		StorageConfig: storagebackend.NewDefaultConfig("/registry", codec).ForResource(schema.GroupResource{Group: r.group, Resource: r.plural}),
		Decorator: func(*storagebackend.ConfigForResource, string, func(runtime.Object) (string, error), func() runtime.Object, func() runtime.Object,
			storage.AttrFunc, storage.IndexerFuncs, *cache.Indexers) (storage.Interface, factory.DestroyFunc, error) {
			return &memory{codec: codec, revision: revision, objects: map[string]stored{}}, func() {}, nil
		},
		EnableGarbageCollection: true,
		ResourcePrefix:          r.prefix,
	}
	utilruntime.Must(served.CompleteWithOptions(&generic.StoreOptions{RESTOptions: options}))
	return served
}

// install returns one version of the resource, ready to be installed.
func (r *resource) install(version string, served rest.Storage) *genericapi.APIGroupVersion {
	all := map[string][]string{}
	for _, v := range r.versions {
		all[r.plural] = append(all[r.plural], schema.GroupVersion{Group: r.group, Version: v}.String())
	}
	return &genericapi.APIGroupVersion{
		Root: r.root(), GroupVersion: schema.GroupVersion{Group: r.group, Version: version},
		Storage: map[string]rest.Storage{r.plural: served}, AllServedVersionsByResource: all,
		OptionsExternalVersion: &schema.GroupVersion{Version: "v1"}, ParameterCodec: parameterCodec, Serializer: codecs,
		Creater: scheme, Convertor: scheme, ConvertabilityChecker: scheme, UnsafeConvertor: runtime.UnsafeObjectConvertor(scheme),
		Defaulter: scheme, Typer: scheme, Namer: runtime.Namer(meta.NewAccessor()),
		EquivalentResourceRegistry: runtime.NewEquivalentResourceRegistry(),
		MinRequestTimeout:          time.Minute, Authorizer: authorizerfactory.NewAlwaysAllowAuthorizer(),
		TypeConverter: r.converter(), MaxRequestBodyBytes: 3 << 20,
	}
}
