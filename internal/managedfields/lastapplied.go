package managedfields

import (
	"bytes"
	"encoding/json"
	"maps"

	"github.com/kubecoord/kubecoord/internal/codec"
)

// kubectl is the manager whose applies respect the annotation of client-side apply
// (upstream: managedfields, lastappliedmanager.go and lastappliedupdater.go).
const (
	kubectl               = "kubectl"
	lastAppliedAnnotation = "kubectl.kubernetes.io/last-applied-configuration"
	maxAnnotations        = 256 << 10 // bytes of all keys and values
)

// runWithLastApplied does the apply. If the manager is kubectl, it ignores conflicts
// over fields in the annotation, and updates the annotation.
func (a *application) runWithLastApplied() (Object, owners, error) {
	result, os, err := a.run(a.opts.Force)
	if a.writer.Manager != kubectl {
		return result, os, err
	}
	if cs, ok := err.(conflicts); ok {
		cs = cs.without(a.lastApplied())
		if len(cs) > 0 {
			return nil, nil, cs
		}
		result, os, err = a.run(true)
	}
	if err != nil {
		return nil, nil, err
	}
	m := result.GetObjectMeta()
	if m.Annotations[lastAppliedAnnotation] == "" {
		return result, os, nil
	}
	text, err := a.configText()
	if err != nil {
		return nil, nil, err
	}
	m.Annotations = maps.Clone(m.Annotations)
	m.Annotations[lastAppliedAnnotation] = text
	total := 0
	for name, value := range m.Annotations {
		total += len(name) + len(value)
	}
	if total > maxAnnotations {
		delete(m.Annotations, lastAppliedAnnotation)
	}
	return result, os, nil
}

func (cs conflicts) without(fields *set) conflicts {
	var out conflicts
	for _, c := range cs {
		if !fields.has(c.path) {
			out = append(out, c)
		}
	}
	return out
}

// lastApplied returns the fields in the annotation that have not changed since
// kubectl applied them. It returns none if the annotation or the object is not valid.
func (a *application) lastApplied() *set {
	text := a.liveObject.GetObjectMeta().Annotations[lastAppliedAnnotation]
	var tree map[string]any
	if err := json.Unmarshal([]byte(text), &tree); err != nil {
		return nil
	}
	s := a.live.schema()
	if tree["apiVersion"] != a.kind.Versions[a.version].APIVersion || tree["kind"] != a.kind.Name ||
		len(s.validate(a.live.value())) > 0 || len(s.validate(codec.TreeValue(tree))) > 0 {
		return nil
	}
	c, _ := s.compare(codec.TreeValue(tree), a.live.value()) // no error for valid documents
	return difference(difference(fieldsOf(s, codec.TreeValue(tree)), c.gained), c.removed)
}

// configText returns the configuration as kubectl writes it into the annotation,
// without the annotation itself.
func (a *application) configText() (string, error) {
	tree := maps.Clone(a.config)
	if m, ok := tree["metadata"].(map[string]any); ok {
		m = maps.Clone(m)
		if annotations, ok := m["annotations"].(map[string]any); ok {
			kept := map[string]any{}
			for name, value := range annotations {
				kept[name] = value
				if value == nil {
					kept[name] = ""
				}
			}
			delete(kept, lastAppliedAnnotation)
			m["annotations"] = kept
		} else {
			delete(m, "annotations")
		}
		tree["metadata"] = m
	}
	var text bytes.Buffer
	err := json.NewEncoder(&text).Encode(tree)
	return text.String(), err
}
