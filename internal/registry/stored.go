package registry

import (
	"fmt"
	"strings"

	"github.com/kubecoord/kubecoord/store/backend"
)

// Keys and values are as a real API server has them (upstream: apiserver, registry/generic and storage/etcd3): the
// storage prefix of the kind, namespace and name; the object in its storage version, in a protobuf envelope or, for
// kinds without a protobuf form, in JSON. The resourceVersion is not in the value. It is the version of the key.

func (r *Resource) storedKey(k key) string {
	if r.Info().ClusterScoped {
		return r.Info().StoragePrefix + "/" + k.name
	}
	return r.Info().StoragePrefix + "/" + k.namespace + "/" + k.name
}

// find returns the resource and the object of a key. It returns nil for keys of others.
func (e *engine) find(stored string) (*Resource, key) {
	rest, name := cutLast(stored)
	if r := e.prefixes[rest]; r != nil && r.Info().ClusterScoped {
		return r, key{"", name}
	}
	prefix, namespace := cutLast(rest)
	if r := e.prefixes[prefix]; r != nil && !r.Info().ClusterScoped {
		return r, key{namespace, name}
	}
	return nil, key{}
}

// cutLast cuts a path before its last element.
func cutLast(p string) (rest, last string) {
	i := strings.LastIndexByte(p, '/')
	return p[:max(i, 0)], p[i+1:]
}

// unreadable is a value that cannot be decoded. Reads that would have to return it fail, as
// on a real server; for watches the object is deleted.
type unreadable struct {
	r *Resource
	key
	version uint64
	until   uint64 // the version of its next change, or 0
	err     error
}

// decode returns the object of a value. The error names the key and the reason.
func (r *Resource) decode(k key, s backend.Stored) (*Item, error) {
	o, err := r.Kind.DecodeStored(s.Value)
	if err == nil {
		if m := o.GetObjectMeta(); m.Name != k.name || m.Namespace != k.namespace {
			err = fmt.Errorf("the object is %q, of namespace %q", m.Name, m.Namespace)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("cannot decode the value of the key %q at version %d: %w", s.Key, s.Version, err)
	}
	setResourceVersion(o, s.Version)
	it := newItem(r.Kind, o, s.Version)
	it.size = uint32(r.Kind.Type().Size(o))
	return it, nil
}
