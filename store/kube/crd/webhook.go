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
	apiserverwebhook "k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/client-go/rest"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

// conversions converts objects by the webhook of a definition, with upstream's client: its requests, checks, error texts and
// time limits. It remembers results, so that a step that cannot fail finds the result of the step before it that could.
type conversions struct {
	convertor func() (runtime.ObjectConvertor, error)

	mu   sync.Mutex // guards all below
	done map[conversionKey]*store.Unstructured
}

type conversionKey struct {
	to      string // apiVersion
	content [sha256.Size]byte
}

// maxConversions is the number of results that are remembered. Beyond it all are forgotten.
const maxConversions = 1000

// conversionsOf returns the conversions of a definition, or nil if its strategy is None.
func conversionsOf(crd *apiextensionsv1.CustomResourceDefinition) *conversions {
	if crd.Spec.Conversion == nil || crd.Spec.Conversion.Strategy != apiextensionsv1.WebhookConverter {
		return nil
	}
	return &conversions{convertor: sync.OnceValues(func() (runtime.ObjectConvertor, error) {
		plain := func(of apiserverwebhook.AuthenticationInfoResolver) apiserverwebhook.AuthenticationInfoResolver {
			return anonymous{}
		}
		factory, err := conversion.NewCRConverterFactory(apiserverwebhook.NewDefaultServiceResolver(), plain)
		if err != nil {
			return nil, err
		}
		safe, _, err := factory.NewConverter(crd)
		return safe, err
	})}
}

// anonymous sends no credentials to webhooks.
type anonymous struct{}

// ClientConfigFor implements upstream's AuthenticationInfoResolver.
func (anonymous) ClientConfigFor(string) (*rest.Config, error) { return &rest.Config{}, nil }

// ClientConfigForService implements upstream's AuthenticationInfoResolver.
func (anonymous) ClientConfigForService(string, string, int) (*rest.Config, error) {
	return &rest.Config{}, nil
}

// convert returns an object of one apiVersion in another. The result is shared and must not be changed.
func (c *conversions) convert(o kinds.Object, from, to meta.TypeMeta) (*store.Unstructured, error) {
	u := o.(*store.Unstructured)
	key, err := keyOfConversion(u, to)
	if err != nil {
		return nil, err
	}
	if known := c.known(key); known != nil {
		return withMetadataOf(known, u), nil
	}
	convertor, err := c.convertor()
	if err != nil {
		return nil, meta.NewInternalError(err)
	}
	doc := document(u)
	doc["apiVersion"], doc["kind"] = from.APIVersion, from.Kind
	gv, err := schema.ParseGroupVersion(to.APIVersion)
	if err != nil {
		return nil, meta.NewInternalError(err)
	}
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
	c.remember(key, out)
	if back, err := keyOfConversion(out, from); err == nil {
		c.remember(back, &store.Unstructured{Content: u.Content, ObjectMeta: meta.ObjectMeta{Labels: u.Labels, Annotations: u.Annotations}})
	}
	return withMetadataOf(out, u), nil
}

// orSame is convert for an object that convert has seen. If the webhook fails now, the object stays as it is.
func (c *conversions) orSame(o kinds.Object, from, to meta.TypeMeta) kinds.Object {
	converted, err := c.convert(o, from, to)
	if err != nil {
		return o
	}
	return converted
}

func (c *conversions) known(key conversionKey) *store.Unstructured {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.done[key]
}

func (c *conversions) remember(key conversionKey, u *store.Unstructured) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done == nil || len(c.done) >= maxConversions {
		c.done = map[conversionKey]*store.Unstructured{}
	}
	c.done[key] = &store.Unstructured{
		Content: runtime.DeepCopyJSON(u.Content), ObjectMeta: meta.ObjectMeta{Labels: maps.Clone(u.Labels), Annotations: maps.Clone(u.Annotations)},
	}
}

// keyOfConversion identifies the parts of an object that a webhook may change.
func keyOfConversion(u *store.Unstructured, to meta.TypeMeta) (conversionKey, error) {
	text, err := json.Marshal([]any{u.Name, u.Namespace, u.Labels, u.Annotations, u.Content})
	return conversionKey{to.APIVersion, sha256.Sum256(text)}, err
}

// withMetadataOf returns a converted object with the metadata of the source, of which a webhook may change only labels and
// annotations.
func withMetadataOf(converted, source *store.Unstructured) *store.Unstructured {
	out := &store.Unstructured{ObjectMeta: source.ObjectMeta, Content: runtime.DeepCopyJSON(converted.Content)}
	out.Labels, out.Annotations = maps.Clone(converted.Labels), maps.Clone(converted.Annotations)
	return out
}
