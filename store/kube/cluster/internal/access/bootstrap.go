package access

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// bootstrapObjects are the roles and bindings that a kube-apiserver 1.36.3 makes when it starts with --authorization-mode=RBAC,
// in the order in which it makes them, one on each line. The label and the annotation that all of them have are left out.
//
//go:embed bootstrap/rbac.jsonl
var bootstrapObjects []byte

// Bootstrap makes the roles and bindings that a kube-apiserver makes when it starts, unless the store has some: a fork has
// them, and a test may have deleted one.
func (s *Server) Bootstrap(ctx context.Context) error {
	r := s.resource(rbacv1.GroupName, "clusterroles")
	if s.rbac == nil || r == nil || r.Peek("", "cluster-admin") != nil {
		return nil
	}
	known, err := bootstrapped().of(r.Kind, s.resource)
	if err != nil {
		return fmt.Errorf("roles of a new cluster: %w", err)
	}
	var objects []*registry.Restored
	for _, o := range known {
		r := s.resource(rbacv1.GroupName, o.plural)
		objects = append(objects, r.RestoreAgain(r.Kind.Type().CopyStruct(o.object).(meta.Object), o.size))
	}
	err = s.st.Restore(objects, 0)
	if _, conflict := errors.AsType[*registry.RestoreError](err); err == nil || conflict {
		return err
	}
	for _, o := range known { // a store on etcd cannot restore
		r := s.resource(rbacv1.GroupName, o.plural)
		own := r.Kind.Copy(o.object)
		m := own.GetObjectMeta()
		m.UID, m.ManagedFields = "", nil
		if _, err := r.Create(ctx, own, registry.Request{Namespace: m.Namespace, FieldManager: "kube-apiserver"}); err != nil {
			return fmt.Errorf("roles of a new cluster: %w", err)
		}
	}
	return nil
}

// bootstrapObject is a role or binding that was validated, and is shared by all stores.
type bootstrapObject struct {
	plural string
	object meta.Object
	size   int
}

// bootstrapMemory keeps the objects by the kind ClusterRole, which all APIs of a process share.
type bootstrapMemory struct {
	mu     sync.Mutex // guards byKind
	byKind map[kind.Kind][]bootstrapObject
}

// bootstrapped is the memory of the process.
var bootstrapped = sync.OnceValue(func() *bootstrapMemory { return &bootstrapMemory{byKind: map[kind.Kind][]bootstrapObject{}} })

// of returns the objects for the APIs with a kind ClusterRole.
func (m *bootstrapMemory) of(k kind.Kind, resource func(group, plural string) *registry.Resource) ([]bootstrapObject, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if all := m.byKind[k]; all != nil {
		return all, nil
	}
	var all []bootstrapObject
	for line := range bytes.Lines(bootstrapObjects) {
		plural, err := pluralOf(line)
		if err != nil {
			return nil, err
		}
		r := resource(rbacv1.GroupName, plural)
		if r == nil {
			continue
		}
		o, err := parseBootstrap(r.Kind, line)
		if err != nil {
			return nil, err
		}
		restored, err := r.PrepareRestore(o, registry.Request{FieldManager: "kube-apiserver"})
		if err != nil {
			return nil, err
		}
		all = append(all, bootstrapObject{plural, restored.Object(), restored.Size()})
	}
	if len(m.byKind) >= 10 {
		clear(m.byKind) // a process with so many kinds makes its own
	}
	m.byKind[k] = all
	return all, nil
}

// pluralOf returns the resource of an object of bootstrapObjects.
func pluralOf(line []byte) (string, error) {
	var o struct {
		Kind string `json:"kind"`
	}
	err := json.Unmarshal(line, &o)
	return strings.ToLower(o.Kind) + "s", err
}

// parseBootstrap returns an object of bootstrapObjects.
func parseBootstrap(k kind.Kind, line []byte) (meta.Object, error) {
	o, err := kinds.Of(k).DecodeJSON(0, line)
	if err != nil {
		return nil, err
	}
	*o.GetTypeMeta() = meta.TypeMeta{}
	m := o.GetObjectMeta()
	for _, own := range []*map[string]string{&m.Labels, &m.Annotations} {
		if *own == nil {
			*own = map[string]string{}
		}
	}
	m.Labels["kubernetes.io/bootstrapping"], m.Annotations[rbacv1.AutoUpdateAnnotationKey] = "rbac-defaults", "true"
	return o, nil
}
