package admission

import (
	"context"
	"encoding/json"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/kube-openapi/pkg/spec3"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/openapi"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// typeConverters merges apply configurations of MutatingAdmissionPolicies by the schemas that the API publishes. It implements
// patch.TypeConverterManager.
type typeConverters struct {
	objects *objects

	mu   sync.Mutex // guards made
	made map[schema.GroupVersionKind]converter
}

type converter struct {
	of *kinds.Kind
	managedfields.TypeConverter
}

// Run implements patch.TypeConverterManager. Nothing has to be fetched.
func (*typeConverters) Run(context.Context) {}

// GetTypeConverter implements patch.TypeConverterManager. It returns nil for a kind that is not served.
func (t *typeConverters) GetTypeConverter(gvk schema.GroupVersionKind) managedfields.TypeConverter {
	r, version := t.objects.find(gvk.Group, gvk.Version, func(i *kind.Info) bool { return i.Kind == gvk.Kind })
	if r == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if c := t.made[gvk]; c.of == r.Kind {
		return c.TypeConverter
	}
	made, err := converterOf(r.Kind, version)
	if err != nil {
		return nil
	}
	if t.made == nil {
		t.made = map[schema.GroupVersionKind]converter{}
	}
	t.made[gvk] = converter{r.Kind, made}
	return made
}

// converterOf makes the converter of one kind in a version from its part of the OpenAPI document.
func converterOf(k *kinds.Kind, version int) (managedfields.TypeConverter, error) {
	info := k.Info()
	gv := openapi.GroupVersion{
		GroupVersion: meta.GroupVersion{Group: info.Group, Version: info.Versions[version].Name},
		Resources: []openapi.Resource{{
			Kind: info.Kind, Plural: info.Plural, NotStrategic: info.Trees, Native: info.Native, JSONOnly: info.JSONOnly,
			ClusterScoped: info.ClusterScoped, Type: k.Document(version), Verbs: info.Verbs,
		}},
	}
	var doc spec3.OpenAPI
	if err := json.Unmarshal((openapi.API{GroupVersions: []openapi.GroupVersion{gv}}).V3(gv.Name()).JSON(), &doc); err != nil {
		return nil, err
	}
	return managedfields.NewTypeConverter(doc.Components.Schemas, false)
}
