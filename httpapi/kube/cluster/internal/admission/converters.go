package admission

import (
	"context"
	"encoding/json"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/kube-openapi/pkg/spec3"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store/kind"
)

// typeConverters merges apply configurations of MutatingAdmissionPolicies by the schemas that the API publishes. It implements
// patch.TypeConverterManager.
type typeConverters struct {
	objects *objects

	mu   sync.Mutex // guards made
	made map[schema.GroupVersionKind]converter
}

type converter struct {
	of kind.Kind
	managedfields.TypeConverter
}

// Run implements patch.TypeConverterManager. Nothing has to be fetched.
func (*typeConverters) Run(context.Context) {}

// GetTypeConverter implements patch.TypeConverterManager. It returns nil for a version of a group that is not served. A kind that the
// document of its version does not describe, such as Scale, has no schema: JSON patches need none (upstream: the manager of
// plugin/policy/mutating/patch looks for the document alone).
func (t *typeConverters) GetTypeConverter(gvk schema.GroupVersionKind) managedfields.TypeConverter {
	r, version := t.objects.find(gvk.Group, gvk.Version, func(i *kind.Info) bool { return i.Kind == gvk.Kind })
	if r == nil {
		if t.objects.serves(gvk.GroupVersion()) {
			return withoutSchema()
		}
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if c := t.made[gvk]; c.of == r.Kind().Untyped() {
		return c.TypeConverter
	}
	made, err := converterOf(r.Kind(), version)
	if err != nil {
		return nil
	}
	if t.made == nil {
		t.made = map[schema.GroupVersionKind]converter{}
	}
	t.made[gvk] = converter{r.Kind().Untyped(), made}
	return made
}

// withoutSchema returns the converter that has no kinds.
var withoutSchema = sync.OnceValue(func() managedfields.TypeConverter {
	c, err := managedfields.NewTypeConverter(nil, false)
	if err != nil {
		panic(err) // cannot be: there is nothing to read
	}
	return c
})

// converterOf makes the converter of one kind in a version from its part of the OpenAPI document.
func converterOf(k kind.Kind, version int) (managedfields.TypeConverter, error) {
	var doc spec3.OpenAPI
	if err := json.Unmarshal(httpapi.OpenAPI(k, version), &doc); err != nil {
		return nil, err
	}
	return managedfields.NewTypeConverter(doc.Components.Schemas, false)
}
