package aggregator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	apidiscoveryv2beta1 "k8s.io/api/apidiscovery/v2beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	conversion "k8s.io/apiserver/pkg/apis/apidiscovery/v2"
	"k8s.io/client-go/discovery"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/transport"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"k8s.io/kube-aggregator/pkg/apis/apiregistration/v1/helper"
)

// discoveries are the resources of the other servers, by the names of APIServices.
type discoveries map[string]apidiscoveryv2.APIVersionDiscovery

// maxDocument bounds a document of another server, in bytes.
const maxDocument = 16 << 20

// discovery returns what is known of the resources of another server.
func (g *aggregator) discovery(s *apiregistrationv1.APIService) apidiscoveryv2.APIVersionDiscovery {
	g.mu.Lock()
	defer g.mu.Unlock()
	if v, known := g.discovered[s.Name]; known {
		return v
	}
	return stale(s)
}

// stale returns the resources of a server that does not answer.
func stale(s *apiregistrationv1.APIService) apidiscoveryv2.APIVersionDiscovery {
	return apidiscoveryv2.APIVersionDiscovery{Version: s.Spec.Version, Freshness: apidiscoveryv2.DiscoveryFreshnessStale}
}

// discover asks another server for its resources, if it is available, and forgets them with the APIService.
func (g *aggregator) discover(ctx context.Context, name string) {
	s := g.service(name)
	var v apidiscoveryv2.APIVersionDiscovery
	if s != nil && s.Spec.Service != nil {
		v = stale(s)
		if helper.IsAPIServiceConditionTrue(s, apiregistrationv1.Available) {
			if got, err := g.fetch(ctx, s); err == nil {
				v = got
				v.Freshness = apidiscoveryv2.DiscoveryFreshnessCurrent
			}
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if v.Version == "" {
		delete(g.discovered, name)
		return
	}
	g.discovered[name] = v
}

// fetch asks for the aggregated document, and else for the document of the group and version (upstream: kube-aggregator,
// apiserver/handler_discovery.go).
func (g *aggregator) fetch(ctx context.Context, s *apiregistrationv1.APIService) (v apidiscoveryv2.APIVersionDiscovery, err error) {
	v.Version = s.Spec.Version
	client, err := g.client(s)
	if err != nil {
		return v, err
	}
	defer client.CloseIdleConnections()
	contentType, data, err := g.get(ctx, s, client, "/apis", discovery.AcceptV2, "system:masters")
	var list apidiscoveryv2.APIGroupDiscoveryList
	if err == nil && decodeDiscovery(contentType, data, &list) == nil {
		for _, group := range list.Items {
			for _, version := range group.Versions {
				if group.Name == s.Spec.Group && version.Version == s.Spec.Version {
					v = version
				}
			}
		}
		for i := range v.Resources {
			r := &v.Resources[i]
			if r.ResponseKind == nil {
				r.ResponseKind = &metav1.GroupVersionKind{}
			}
			for j := range r.Subresources {
				if r.Subresources[j].ResponseKind == nil {
					r.Subresources[j].ResponseKind = &metav1.GroupVersionKind{}
				}
			}
		}
		return v, nil
	}
	if _, data, err = g.get(ctx, s, client, "/apis/"+s.Spec.Group+"/"+s.Spec.Version, runtime.ContentTypeJSON); err != nil {
		return v, err
	}
	var resources metav1.APIResourceList
	if err = runtime.DecodeInto(clientscheme.Codecs.UniversalDecoder(), data, &resources); err != nil {
		return v, err
	}
	v.Resources, err = nested(resources.APIResources)
	return v, err
}

// get reads a document of another server, as a member of groups.
func (g *aggregator) get(ctx context.Context, s *apiregistrationv1.APIService, client *http.Client, path, accept string, groups ...string) (contentType string, data []byte, err error) {
	at, err := g.resolve(s)
	if err != nil {
		return "", nil, err
	}
	at.Path = path
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return "", nil, err
	}
	req.Header.Set("Accept", accept)
	transport.SetAuthProxyHeaders(req, asker, "", groups, nil)
	resp, err := client.Do(req)
	if err != nil {
		return "", nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return "", nil, fmt.Errorf("bad status from %v: %d", at, resp.StatusCode)
	}
	data, err = io.ReadAll(io.LimitReader(resp.Body, maxDocument+1))
	if len(data) > maxDocument {
		err = fmt.Errorf("the document from %v has more than %d bytes", at, maxDocument)
	}
	return resp.Header.Get("Content-Type"), data, err
}

// decodeDiscovery reads an aggregated document.
func decodeDiscovery(contentType string, data []byte, into *apidiscoveryv2.APIGroupDiscoveryList) error {
	v2, _ := discovery.ContentTypeIsGVK(contentType, apidiscoveryv2.SchemeGroupVersion.WithKind("APIGroupDiscoveryList"))
	old, _ := discovery.ContentTypeIsGVK(contentType, apidiscoveryv2beta1.SchemeGroupVersion.WithKind("APIGroupDiscoveryList"))
	if !v2 && !old {
		return errors.New("not the aggregated document")
	}
	return runtime.DecodeInto(discoveryCodecs().UniversalDecoder(), data, into)
}

// discoveryCodecs are the codecs of the aggregated document, in both versions.
var discoveryCodecs = sync.OnceValue(func() serializer.CodecFactory {
	s := runtime.NewScheme()
	utilruntime.Must(errors.Join(apidiscoveryv2.AddToScheme(s), apidiscoveryv2beta1.AddToScheme(s), conversion.RegisterConversions(s)))
	return serializer.NewCodecFactory(s)
})
