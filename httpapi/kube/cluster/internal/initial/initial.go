// Package initial makes the objects that a kube-apiserver makes when it starts, beside its namespaces and its service.
package initial

import (
	"context"
	"net/netip"
	"sync"
	"time"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/kube/cluster/internal/typed"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// Options say what the objects are about.
type Options struct {
	// Objects makes the objects that depend on nothing else.
	Objects bool
	// ClientCA has the certificates of --client-ca-file in PEM.
	ClientCA []byte
	// Advertise is the address of the server, and Port its port.
	Advertise netip.Addr
	Port      int
	// Service makes the Endpoints and the EndpointSlice of the service kubernetes, unless Advertise is an address that they must not
	// have.
	Service bool
}

// object is an object with the kind and the name that it is made in.
type object struct {
	group, plural string
	// value is the object in the Go type of its kind.
	value func() any
	// manager owns its fields.
	manager string
	// shared objects are equal in all servers, but for what change changes.
	shared bool
	name   string // of a shared object
	// change, if not nil, completes a new object that shares its parts with others.
	change func(o meta.Object)
}

// serverManager is the field manager of a kube-apiserver's own writes.
const serverManager = "kube-apiserver"

// Make makes the objects that do not exist and whose kinds are served. On a store on etcd it takes at most as long as ctx.
func Make(ctx context.Context, a *httpapi.API, o Options) error {
	wanted := o.objects(a.Store().Now())
	if o.Objects {
		wanted = append(wanted, apiServices(a.Kinds())...)
	}
	return put(ctx, a, wanted)
}

// put stores the objects that do not exist and whose kinds are served.
func put(ctx context.Context, a *httpapi.API, wanted []object) error {
	var all []*store.Template
	for _, of := range wanted {
		k := typed.KindOf(a, meta.GroupResource{Group: of.group, Resource: of.plural})
		if k == nil {
			continue
		}
		t, err := templates().of(k, of)
		if err != nil {
			return err
		}
		objects, err := a.Store().Objects(k)
		if err != nil {
			return err
		}
		if m := t.Object().GetObjectMeta(); objects.Get(m.Namespace, m.Name) == nil {
			all = append(all, t)
		}
	}
	if all == nil {
		return nil
	}
	_, err := a.Store().Put(ctx, all...)
	return err
}

// objects returns the objects that o asks for, in the order of their kinds.
func (o Options) objects(now time.Time) (all []object) {
	if o.Objects {
		all = append(all, priorityClasses()...)
		all = append(all, flowControl()...)
		all = append(all, identityLease(o.address(), now), tokenTracking(now))
	}
	if len(o.ClientCA) > 0 {
		all = append(all, clientCA(o.ClientCA))
	}
	if o.Service && o.Advertise.IsValid() && !o.Advertise.IsLoopback() {
		all = append(all, endpointsOf(o.Advertise, o.Port), sliceOf(o.Advertise, o.Port))
	}
	return all
}

// address returns the address and the port of the server.
func (o Options) address() string {
	at := o.Advertise
	if !at.IsValid() {
		at = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	return netip.AddrPortFrom(at, uint16(o.Port)).String()
}

// memory keeps the objects that are equal in all servers of a process, by their kinds, so that a further server makes none of them
// ready again.
type memory struct {
	mu    sync.Mutex // guards ready
	ready map[kind.Kind]map[string]*store.Template
}

// templates is the memory of the process.
var templates = sync.OnceValue(func() *memory { return &memory{ready: map[kind.Kind]map[string]*store.Template{}} })

// of returns an object of a kind as a template.
func (m *memory) of(k kind.Kind, of object) (*store.Template, error) {
	make := func() (*store.Template, error) {
		return store.NewTemplate(k, k.Object(of.value(), 0), store.TemplateOptions{FieldManager: of.manager, Valid: true})
	}
	if of.shared {
		make = m.remembered(k, of, make)
	}
	t, err := make()
	if err == nil && of.change != nil {
		t = t.With(of.change)
	}
	return t, err
}

// remembered returns a function that calls make only the first time for a kind and a name.
func (m *memory) remembered(k kind.Kind, of object, make func() (*store.Template, error)) func() (*store.Template, error) {
	return func() (t *store.Template, err error) {
		m.mu.Lock()
		defer m.mu.Unlock()
		if t = m.ready[k.Untyped()][of.name]; t != nil {
			return t, nil
		}
		if t, err = make(); err != nil {
			return nil, err
		}
		if len(m.ready) >= 30 {
			clear(m.ready) // a process with so many kinds makes its own
		}
		if m.ready[k.Untyped()] == nil {
			m.ready[k.Untyped()] = map[string]*store.Template{}
		}
		m.ready[k.Untyped()][of.name] = t
		return t, nil
	}
}
