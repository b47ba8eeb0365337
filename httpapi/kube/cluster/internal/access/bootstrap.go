package access

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// bootstrapObjects are the roles and bindings that a kube-apiserver makes when it starts with --authorization-mode=RBAC,
// in the order in which it makes them, one on each line. The label and the annotation that all of them have are left out.
//
//go:embed bootstrap/rbac.jsonl
var bootstrapObjects []byte

// Bootstrap makes the roles and bindings that a kube-apiserver makes when it starts, unless the store has some: a fork has
// them, and a test may have deleted one.
func (s *Server) Bootstrap(ctx context.Context) error {
	roles := s.objects(rbacv1.GroupName, "clusterroles")
	if s.rbac == nil || roles == nil || roles.Get("", "cluster-admin") != nil {
		return nil
	}
	all, err := bootstrapped().of(roles.Kind(), s.objects)
	if err == nil {
		_, err = s.api.Store().Put(ctx, all...)
	}
	if err != nil {
		return fmt.Errorf("roles of a new cluster: %w", err)
	}
	return nil
}

// bootstrapMemory keeps the objects by the kind ClusterRole, which all APIs of a process share.
type bootstrapMemory struct {
	mu     sync.Mutex // guards byKind
	byKind map[kind.Kind][]*store.Template
}

// bootstrapped is the memory of the process.
var bootstrapped = sync.OnceValue(func() *bootstrapMemory { return &bootstrapMemory{byKind: map[kind.Kind][]*store.Template{}} })

// of returns the objects for the APIs with a kind ClusterRole.
func (m *bootstrapMemory) of(k kind.Kind, objects func(group, plural string) *store.Objects) ([]*store.Template, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if all := m.byKind[k.Untyped()]; all != nil {
		return all, nil
	}
	var all []*store.Template
	for line := range bytes.Lines(bootstrapObjects) {
		plural, err := pluralOf(line)
		if err != nil {
			return nil, err
		}
		of := objects(rbacv1.GroupName, plural)
		if of == nil {
			continue
		}
		o, err := parseBootstrap(of.Kind(), line)
		if err != nil {
			return nil, err
		}
		t, err := store.NewTemplate(of.Kind(), o, store.TemplateOptions{FieldManager: "kube-apiserver"})
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	if len(m.byKind) >= 10 {
		clear(m.byKind) // a process with so many kinds makes its own
	}
	m.byKind[k.Untyped()] = all
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
	o := k.New(0)
	if err := json.Unmarshal(line, kind.Value(o)); err != nil {
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
