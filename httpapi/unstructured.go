package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/kubecoord/kubecoord/internal/codec"
	"github.com/kubecoord/kubecoord/internal/yaml"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/field"
	"github.com/kubecoord/kubecoord/store/meta"
)

// This file holds what differs for objects of any form, which a real server has
// no Go type for (upstream: apiextensions-apiserver, apiserver, and apimachinery,
// meta/v1/unstructured): members are in the order of their names, wherever they
// are, and a body must say itself of what type it is.

// decodeUnstructured is decode for such objects. Their type is checked later.
func (e *endpoint) decodeUnstructured(data []byte, f format, strict bool) (d decoded, err error) {
	text := data
	if f == formatYAML {
		if text, d.duplicates, err = yaml.ToJSON(data); err != nil {
			return d, err
		}
		if !strict {
			d.duplicates = nil
		}
	}
	if d.named.Kind, d.named.APIVersion, err = codec.RecognizeJSON(text); err != nil {
		return d, err
	}
	if d.named.Kind == "" {
		return d, fmt.Errorf("Object 'Kind' is missing in '%s'", data)
	}
	d.object = e.res.New(e.version)
	d.strict, err = e.res.Schema(e.version).DecodeJSON(text, d.object, strict)
	if m := d.object.GetObjectMeta(); len(m.ManagedFields) == 0 {
		m.ManagedFields = nil // an empty list is not told from none; one empty entry resets
	}
	return d, err
}

// checkType refuses an object of any form that says to be of another type than
// that of the path.
func (e *endpoint) checkType(o store.Object) error {
	if !e.info.Unstructured {
		return nil
	}
	wrong := func(member field.Path, got, want string) error {
		gv, _ := meta.ParseGroupVersion(o.GetTypeMeta().APIVersion)
		return field.Errors{field.Invalid(member, got, "must be "+want)}.
			Status(meta.GroupKind{Group: gv.Group, Kind: o.GetTypeMeta().Kind}, o.GetObjectMeta().Name)
	}
	switch t := *o.GetTypeMeta(); {
	case t.APIVersion == "":
		return meta.NewInternalError(errors.New("Object 'apiVersion' is missing in 'object has no apiVersion field'"))
	case t.Kind != e.info.Kind:
		return wrong("kind", t.Kind, e.info.Kind)
	case t.APIVersion != e.gv.String():
		return wrong("apiVersion", t.APIVersion, e.gv.String())
	}
	return nil
}

// typedInOrder puts apiVersion and kind where they belong among the sorted members
// of an object.
func (e *endpoint) typedInOrder(object []byte) ([]byte, error) {
	if bytes.HasPrefix(object, []byte(`{"metadata":`)) {
		return appendTyped(make([]byte, 0, len(e.jsonHead)+len(object)), e.jsonHead, object), nil
	}
	var members map[string]json.RawMessage // which are encoded in order
	if err := json.Unmarshal(object, &members); err != nil {
		return nil, err
	}
	members["apiVersion"] = json.RawMessage(`"` + e.gv.String() + `"`)
	members["kind"] = json.RawMessage(`"` + e.info.Kind + `"`)
	return json.Marshal(members)
}

// listInOrder returns a list with its members in the order of their names, and
// the type of each item.
func (c *call) listInOrder(l *store.List, items [][]byte, size int) ([]byte, error) {
	m := l.Meta()
	members := c.api.lists.ToUnstructured(&m)
	members["continue"] = m.Continue // be there one or not
	metadata, err := json.Marshal(members)
	if err != nil {
		return nil, err
	}
	e := c.endpoint
	out := make([]byte, 0, size+len(items)*len(e.jsonHead)+len(e.jsonListHead)+len(metadata)+32)
	out = append(out, `{"apiVersion":"`+e.gv.String()+`","items":[`...)
	for i, item := range items {
		if i > 0 {
			out = append(out, ',')
		}
		typed, err := e.typedInOrder(item)
		if err != nil {
			return nil, err
		}
		out = append(out, typed...)
	}
	out = append(out, `],"kind":"`+e.info.Kind+`List","metadata":`...)
	return append(append(out, metadata...), '}'), nil
}
