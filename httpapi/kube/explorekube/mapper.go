// Package explorekube is for scenarios of package explore whose parts are clients of client-go or managers of controller-runtime.
package explorekube

import (
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

	"github.com/kubecoord/kubecoord/httpapi/apitest/explore"
)

// RESTMapper returns the resources of kinds. A client that finds them out by itself asks the server in each step and at each start of a
// manager, and that is a sixth to a quarter of the work of a run. With RESTMapper the first part of a scenario asks for all. Only a part
// that looks for a kind that was not served then asks again, and keeps the answer for itself.
//
//	mapper, err := explorekube.RESTMapper(c)
//	…
//	client.New(config, client.Options{Mapper: mapper})
//	ctrl.NewManager(config, ctrl.Options{MapperProvider: func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return mapper, nil }})
func RESTMapper(c explore.Conn) (meta.RESTMapper, error) {
	m := &mapper{conn: c}
	if c.Shared != nil {
		if known, ok := c.Shared.Load(sharedKey{}); ok {
			m.known = known.(meta.RESTMapper)
			return m, nil
		}
	}
	known, err := m.discover()
	if err != nil {
		return nil, err
	}
	if c.Shared != nil {
		c.Shared.Store(sharedKey{}, known)
	}
	m.known = known
	return m, nil
}

// sharedKey is the key of the mapper in Conn.Shared. It knows the kinds that were served when it was made, and never changes.
type sharedKey struct{}

// mapper is the RESTMapper of one part of a run.
type mapper struct {
	conn explore.Conn

	mu    sync.Mutex
	known meta.RESTMapper
}

// discover asks the server for all its kinds.
func (m *mapper) discover() (meta.RESTMapper, error) {
	d, err := discovery.NewDiscoveryClientForConfig(&rest.Config{Host: m.conn.Host, Transport: m.conn.Transport, QPS: -1})
	if err != nil {
		return nil, err
	}
	groups, err := restmapper.GetAPIGroupResources(d)
	if err != nil {
		return nil, err
	}
	return restmapper.NewDiscoveryRESTMapper(groups), nil
}

// look calls ask, and once more with what the server serves now if there is no such kind. Like a mapper of controller-runtime it asks the
// server at each call for a kind that is not served.
func look[T any](m *mapper, ask func(meta.RESTMapper) (T, error)) (T, error) {
	m.mu.Lock()
	known := m.known
	m.mu.Unlock()
	found, err := ask(known)
	if !meta.IsNoMatchError(err) {
		return found, err
	}
	now, failed := m.discover()
	if failed != nil {
		return found, failed
	}
	m.mu.Lock()
	m.known = now
	m.mu.Unlock()
	return ask(now)
}

// KindFor implements meta.RESTMapper, as the following methods do.
func (m *mapper) KindFor(resource schema.GroupVersionResource) (schema.GroupVersionKind, error) {
	return look(m, func(known meta.RESTMapper) (schema.GroupVersionKind, error) { return known.KindFor(resource) })
}

func (m *mapper) KindsFor(resource schema.GroupVersionResource) ([]schema.GroupVersionKind, error) {
	return look(m, func(known meta.RESTMapper) ([]schema.GroupVersionKind, error) { return known.KindsFor(resource) })
}

func (m *mapper) ResourceFor(input schema.GroupVersionResource) (schema.GroupVersionResource, error) {
	return look(m, func(known meta.RESTMapper) (schema.GroupVersionResource, error) { return known.ResourceFor(input) })
}

func (m *mapper) ResourcesFor(input schema.GroupVersionResource) ([]schema.GroupVersionResource, error) {
	return look(m, func(known meta.RESTMapper) ([]schema.GroupVersionResource, error) { return known.ResourcesFor(input) })
}

func (m *mapper) RESTMapping(gk schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	return look(m, func(known meta.RESTMapper) (*meta.RESTMapping, error) { return known.RESTMapping(gk, versions...) })
}

func (m *mapper) RESTMappings(gk schema.GroupKind, versions ...string) ([]*meta.RESTMapping, error) {
	return look(m, func(known meta.RESTMapper) ([]*meta.RESTMapping, error) { return known.RESTMappings(gk, versions...) })
}

func (m *mapper) ResourceSingularizer(resource string) (string, error) {
	return look(m, func(known meta.RESTMapper) (string, error) { return known.ResourceSingularizer(resource) })
}
