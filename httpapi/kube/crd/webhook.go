package crd

import (
	"crypto/sha256"
	"encoding/json"
	"maps"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/conversion"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecoord/kubecoord/httpapi/kube/internal/webhooks"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// conversions converts objects by the webhook of a definition, with upstream's client: its requests, checks and error texts. It
// remembers results, for all that upstream reads from the watch cache of a version.
type conversions struct {
	convertor func() (runtime.ObjectConvertor, error)

	mu   sync.Mutex // guards all below
	done map[conversionKey]*store.Unstructured
	size int // of the results, in bytes of JSON
}

type conversionKey struct {
	to      string // apiVersion
	content [sha256.Size]byte
}

// maxRemembered is how many bytes of results are remembered. Beyond it all are forgotten.
const maxRemembered = 16 << 20

// conversionsOf returns the conversions of a definition by a webhook that is called through calls, or nil if its strategy is
// None. Nil calls are ones over TCP, with time limits by the time of the machine.
func conversionsOf(crd *apiextensionsv1.CustomResourceDefinition, calls *webhooks.Calls) *conversions {
	if !hasWebhook(crd) {
		return nil
	}
	return &conversions{convertor: sync.OnceValues(func() (runtime.ObjectConvertor, error) {
		if calls == nil {
			calls = webhooks.New(webhooks.Options{})
		}
		factory, err := conversion.NewCRConverterFactory(calls, calls.Resolver)
		if err != nil {
			return nil, err
		}
		safe, _, err := factory.NewConverter(crd)
		return safe, err
	})}
}

// hasWebhook reports whether a webhook converts the objects of a definition.
func hasWebhook(crd *apiextensionsv1.CustomResourceDefinition) bool {
	return crd.Spec.Conversion != nil && crd.Spec.Conversion.Strategy == apiextensionsv1.WebhookConverter
}

// own returns the kind that serves a definition: the shared kind k, or one whose webhook is called as the webhooks of this API
// are. That is old if it was made of k, also for an API that this one is a fork of, because a new one would end watches.
func (c *controller) own(k, old *definedKind) (*definedKind, error) {
	if !hasWebhook(k.crd) {
		return k, nil
	}
	if old != nil && old.shared == k {
		return old, nil
	}
	own, err := kindOf(k.crd, c.calls)
	if err == nil {
		own.shared = k
	}
	return own, err
}

// convert returns an object of one apiVersion in another.
func (c *conversions) convert(o meta.Object, from, to meta.TypeMeta, reuse kind.Reuse) (meta.Object, error) {
	u := o.(*store.Unstructured)
	key, _, err := keyOfConversion(u, to)
	if err != nil {
		return nil, meta.NewInternalError(err)
	}
	converted := c.known(key)
	if converted == nil || reuse == kind.Anew {
		if converted, err = c.ask(u, key, from, to); err != nil {
			return nil, err
		}
	}
	return withMetadataOf(converted, u), nil
}

// ask asks the webhook, and remembers the result, which is shared and must not be changed. As upstream, the time limit of the webhook
// ends the call, and not the context of a request.
func (c *conversions) ask(u *store.Unstructured, key conversionKey, from, to meta.TypeMeta) (*store.Unstructured, error) {
	convertor, err := c.convertor()
	if err != nil {
		return nil, meta.NewInternalError(err)
	}
	gv, err := schema.ParseGroupVersion(to.APIVersion)
	if err != nil {
		return nil, meta.NewInternalError(err)
	}
	doc := document(u)
	doc["apiVersion"], doc["kind"] = from.APIVersion, from.Kind
	converted, err := convertor.ConvertToVersion(&unstructured.Unstructured{Object: doc}, gv)
	if err != nil {
		return nil, err
	}
	out := &store.Unstructured{ObjectMeta: meta.ObjectMeta{Name: u.Name, Namespace: u.Namespace}, Content: map[string]any{}}
	for name, value := range converted.(*unstructured.Unstructured).Object {
		switch name {
		case "apiVersion", "kind", "metadata":
		default:
			out.Content[name] = value
		}
	}
	out.Labels = converted.(*unstructured.Unstructured).GetLabels()
	out.Annotations = converted.(*unstructured.Unstructured).GetAnnotations()
	_, size, err := keyOfConversion(out, from)
	if err != nil {
		return nil, meta.NewInternalError(err)
	}
	c.remember(key, out, size)
	return out, nil
}

func (c *conversions) known(key conversionKey) *store.Unstructured {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.done[key]
}

func (c *conversions) remember(key conversionKey, u *store.Unstructured, size int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.size += size; c.done == nil || c.size > maxRemembered {
		c.done, c.size = map[conversionKey]*store.Unstructured{}, size
	}
	c.done[key] = u
}

// keyOfConversion identifies the parts of an object that a webhook may change, and returns their size in bytes of JSON.
func keyOfConversion(u *store.Unstructured, to meta.TypeMeta) (key conversionKey, size int, err error) {
	text, err := json.Marshal([]any{u.Name, u.Namespace, u.Labels, u.Annotations, u.Content})
	return conversionKey{to.APIVersion, sha256.Sum256(text)}, len(text), err
}

// withMetadataOf restores the metadata of the source in a converted object, except labels and annotations: a webhook may change
// only these.
func withMetadataOf(converted, source *store.Unstructured) *store.Unstructured {
	out := &store.Unstructured{ObjectMeta: source.ObjectMeta, Content: runtime.DeepCopyJSON(converted.Content)}
	out.Labels, out.Annotations = maps.Clone(converted.Labels), maps.Clone(converted.Annotations)
	return out
}
