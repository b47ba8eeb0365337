package httpapi

import (
	"bytes"
	"encoding/json"

	"github.com/kubecoord/kubecoord/internal/registry"
)

// This file holds what differs for objects of any form, which a real server has
// no Go type for (upstream: apiextensions-apiserver, apiserver, and apimachinery,
// meta/v1/unstructured): members are in the order of their names, wherever they
// are. (Bodies are read by registry.Scheme.)

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
func (c *call) listInOrder(l *registry.List, items [][]byte, size int) ([]byte, error) {
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
