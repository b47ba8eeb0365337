package access

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"

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
	for line := range bytes.Lines(bootstrapObjects) {
		if err := s.bootstrap(ctx, line); err != nil {
			return fmt.Errorf("roles of a new cluster: %w", err)
		}
	}
	return nil
}

func (s *Server) bootstrap(ctx context.Context, line []byte) error {
	var o struct {
		Kind     string          `json:"kind"`
		Metadata meta.ObjectMeta `json:"metadata"`
	}
	content := map[string]any{}
	if err := json.Unmarshal(line, &o); err != nil {
		return err
	}
	if err := json.Unmarshal(line, &content); err != nil {
		return err
	}
	delete(content, "kind")
	delete(content, "metadata")
	if strings.HasSuffix(o.Kind, "Role") && content["rules"] == nil {
		content["rules"] = nil // as a role is stored
	}
	u := &store.Unstructured{Content: content, ObjectMeta: o.Metadata}
	for _, m := range []*map[string]string{&u.Labels, &u.Annotations} {
		if *m == nil {
			*m = map[string]string{}
		}
	}
	u.Labels["kubernetes.io/bootstrapping"], u.Annotations[rbacv1.AutoUpdateAnnotationKey] = "rbac-defaults", "true"
	r := s.resource(rbacv1.GroupName, strings.ToLower(o.Kind)+"s")
	if r == nil {
		return nil
	}
	_, err := r.Create(ctx, u, registry.Request{Namespace: u.Namespace, FieldManager: "kube-apiserver"})
	return err
}
