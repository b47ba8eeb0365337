package access

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store"
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
		u := *o.object
		objects = append(objects, s.resource(rbacv1.GroupName, o.plural).RestoreAgain(&u, o.size))
	}
	err = s.st.Restore(objects, 0)
	if _, conflict := errors.AsType[*registry.RestoreError](err); err == nil || conflict {
		return err
	}
	for _, o := range known { // a store on etcd cannot restore
		u := &store.Unstructured{ObjectMeta: o.object.ObjectMeta, Content: runtime.DeepCopyJSON(o.object.Content)}
		u.Labels, u.Annotations = maps.Clone(u.Labels), maps.Clone(u.Annotations)
		u.UID, u.ManagedFields = "", nil
		if _, err := s.resource(rbacv1.GroupName, o.plural).Create(ctx, u, registry.Request{Namespace: u.Namespace, FieldManager: "kube-apiserver"}); err != nil {
			return fmt.Errorf("roles of a new cluster: %w", err)
		}
	}
	return nil
}

// bootstrapObject is a role or binding that was validated, and is shared by all stores.
type bootstrapObject struct {
	plural string
	object *store.Unstructured
	size   int
}

// bootstrapMemory keeps the objects by the kind ClusterRole, which all APIs of a process share.
type bootstrapMemory struct {
	mu     sync.Mutex // guards byKind
	byKind map[*kinds.Kind][]bootstrapObject
}

// bootstrapped is the memory of the process.
var bootstrapped = sync.OnceValue(func() *bootstrapMemory { return &bootstrapMemory{byKind: map[*kinds.Kind][]bootstrapObject{}} })

// of returns the objects for the APIs with a kind ClusterRole.
func (m *bootstrapMemory) of(k *kinds.Kind, resource func(group, plural string) *registry.Resource) ([]bootstrapObject, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if all := m.byKind[k]; all != nil {
		return all, nil
	}
	var all []bootstrapObject
	for line := range bytes.Lines(bootstrapObjects) {
		plural, u, err := parseBootstrap(line)
		if err != nil {
			return nil, err
		}
		r := resource(rbacv1.GroupName, plural)
		if r == nil {
			continue
		}
		restored, err := r.PrepareRestore(u, registry.Request{FieldManager: "kube-apiserver"})
		if err != nil {
			return nil, err
		}
		all = append(all, bootstrapObject{plural, restored.Object().(*store.Unstructured), restored.Size()})
	}
	if len(m.byKind) >= 10 {
		clear(m.byKind) // a process with so many kinds makes its own
	}
	m.byKind[k] = all
	return all, nil
}

// parseBootstrap returns an object of bootstrapObjects.
func parseBootstrap(line []byte) (plural string, u *store.Unstructured, err error) {
	var o struct {
		Kind     string          `json:"kind"`
		Metadata meta.ObjectMeta `json:"metadata"`
	}
	content := map[string]any{}
	if err := json.Unmarshal(line, &o); err != nil {
		return "", nil, err
	}
	if err := json.Unmarshal(line, &content); err != nil {
		return "", nil, err
	}
	delete(content, "kind")
	delete(content, "metadata")
	if strings.HasSuffix(o.Kind, "Role") && content["rules"] == nil {
		content["rules"] = nil // as a role is stored
	}
	u = &store.Unstructured{Content: content, ObjectMeta: o.Metadata}
	for _, m := range []*map[string]string{&u.Labels, &u.Annotations} {
		if *m == nil {
			*m = map[string]string{}
		}
	}
	u.Labels["kubernetes.io/bootstrapping"], u.Annotations[rbacv1.AutoUpdateAnnotationKey] = "rbac-defaults", "true"
	return strings.ToLower(o.Kind) + "s", u, nil
}
