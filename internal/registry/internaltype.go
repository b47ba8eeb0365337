package registry

import (
	"errors"
	"fmt"
	"strings"

	"github.com/kubecoord/kubecoord/internal/codec"
)

// decodePatched decodes a patched document. If a patch has removed the apiVersion of a built-in
// kind, the result is not that of a body without one.
func (s *Scheme) decodePatched(t Target, doc []byte, strict bool) (decoded, error) {
	if d, ok := t.decodeOwn(doc, JSON, strict, nil); ok {
		return d, nil
	}
	if t.Kind.info.Native {
		if kind, apiVersion, err := codec.RecognizeJSON(doc); err == nil && lacksVersion(apiVersion, t.typeMeta().APIVersion) {
			return t.decodeInternal(kind, doc, strict)
		}
	}
	return s.decodeAny(t, doc, JSON, strict, nil)
}

// decodeInternal decodes a document without an apiVersion. A real server reads it as the
// internal Go type of the kind, which was not made for JSON: the members of the metadata stand
// beside kind, and neither metadata nor spec is known (upstream: apiserver,
// endpoints/handlers/patch.go, and apimachinery, serializer/json). The content of a document
// that uses the names of internal fields, such as Spec, is not read here.
func (t Target) decodeInternal(kind string, doc []byte, strict bool) (d decoded, err error) {
	if kind != "" && kind != t.Kind.info.Kind {
		return d, fmt.Errorf("no kind %q is registered for the internal version of group %q in scheme %q", kind, t.Kind.info.Group, schemeName)
	}
	d.object = t.Kind.newWire(t.Version)
	problems, err := t.schema().DecodeJSON([]byte(`{"metadata":`+string(doc)+`}`), d.object, strict)
	if err != nil {
		return d, errors.New(strings.Replace(err.Error(), "ObjectMeta.metadata.", t.Kind.info.Kind+".ObjectMeta.", 1))
	}
	for _, p := range problems {
		text := strings.Replace(p.Error(), `"metadata.`, `"`, 1)
		if text != `unknown field "kind"` && text != `unknown field "apiVersion"` {
			d.strict = append(d.strict, errors.New(text))
		}
	}
	return d, nil
}
