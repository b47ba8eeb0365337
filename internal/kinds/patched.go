package kinds

import (
	"errors"
	"fmt"
	"strings"

	"github.com/kubecoord/kubecoord/internal/codec"
)

// Simple returns the result of encoding a stored object as JSON and decoding it again, or nil if that may differ from
// the object. It may share memory with the object, for a patch that replaces the parts that it changes.
func (t Target) Simple(o Object) Object {
	switch {
	case t.Kind.Form(t.Version) != 0 || !t.Schema().RoundTrips(o):
		return nil
	case t.Kind.pure:
		return t.Schema().CopyStruct(o).(Object)
	}
	return t.Kind.Copy(o)
}

// DecodePatched decodes a patched document, and returns the problems of strict decoding. If a patch has removed the
// apiVersion of a built-in kind, it decodes as the internal type, unlike a request body.
func (s *Scheme) DecodePatched(t Target, doc []byte, strict bool) (Object, []error, error) {
	if o := t.decodeOwn(doc, JSON, strict, nil); o != nil {
		return o, nil, nil
	}
	var d decoded
	kind, apiVersion, err := codec.RecognizeJSON(doc)
	if t.Kind.info.Native && err == nil && lacksVersion(apiVersion, t.TypeMeta().APIVersion) {
		d, err = t.decodeInternal(kind, doc, strict)
	} else {
		d, err = s.decodeAny(t, doc, JSON, strict, nil)
	}
	return d.object, d.strict, err
}

// decodeInternal decodes a document without an apiVersion. A real server reads it as the internal Go type of the
// kind, which was not made for JSON: the members of the metadata stand beside kind, and neither metadata nor spec is
// known (upstream: apiserver, endpoints/handlers/patch.go, and apimachinery, serializer/json). The content of a
// document that uses the names of internal fields, such as Spec, is not read here.
func (t Target) decodeInternal(kind string, doc []byte, strict bool) (d decoded, err error) {
	if kind != "" && kind != t.Kind.info.Kind {
		return d, fmt.Errorf("no kind %q is registered for the internal version of group %q in scheme %q", kind, t.Kind.info.Group, schemeName)
	}
	d.object = t.Kind.New(t.Version)
	problems, err := t.Schema().DecodeJSON([]byte(`{"metadata":`+string(doc)+`}`), d.object, strict)
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
