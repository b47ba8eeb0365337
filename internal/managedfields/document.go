package managedfields

import (
	"fmt"

	"github.com/kubecoord/kubecoord/internal/codec"
)

// document is an object in one version: a Go object or a tree.
type document struct {
	kind    *FieldManager
	version int
	obj     Object         // nil for a tree
	tree    map[string]any // nil for an object
}

// of returns an object as a document.
func (k *FieldManager) of(version int, o Object) document {
	return document{kind: k, version: version, obj: o}
}

// open returns an object as a tree without managedFields.
func (k *FieldManager) open(version int, o Object) document {
	t := k.Versions[version].Type
	bare := t.CopyStruct(o).(Object)
	bare.GetObjectMeta().ManagedFields = nil
	tree := t.ToUnstructured(bare)
	tree["apiVersion"], tree["kind"] = k.Versions[version].APIVersion, k.Name
	delete(members(tree["metadata"]), "managedFields")
	return document{kind: k, version: version, tree: tree}
}

// value returns the document without managedFields.
func (d document) value() codec.Value {
	if d.obj != nil {
		return d.kind.Versions[d.version].Type.Value(d.obj)
	}
	return codec.TreeValue(d.tree)
}

func (d document) schema() schema { return d.kind.schema(d.version) }

// with returns another document of the same version.
func (d document) with(tree map[string]any) document {
	return document{kind: d.kind, version: d.version, tree: tree}
}

func (d document) fields() *set { return fieldsOf(d.schema(), d.tree) }

// object returns the document as an object.
func (d document) object() (Object, error) {
	if d.obj != nil {
		return d.obj, nil
	}
	o := d.kind.empty(d.version)
	if _, err := d.kind.Versions[d.version].Type.FromUnstructured(d.tree, o, false); err != nil {
		return nil, fmt.Errorf("unable to convert unstructured object to %s: %w", d.kind.typeText(d.version), err)
	}
	return o, nil
}

// inVersion returns the document in another version, or errNoVersion if the kind has no
// such version.
func (d document) inVersion(apiVersion string) (document, error) {
	to, err := d.kind.version(apiVersion)
	if err != nil {
		return document{}, err
	}
	if to == d.version {
		return d, nil
	}
	if d.kind.Convert == nil && d.kind.Versions[d.version].Type.Rest != nil {
		// As upstream: without a Go type, the conversion keeps nulls.
		d.version = to
		return d, d.schema().validate(d.value()).err()
	}
	o, err := d.object()
	if err != nil {
		return document{}, err
	}
	if d.kind.Convert != nil {
		if d.obj != nil {
			// A copy loses fields that are not on the wire.
			o = d.kind.Versions[d.version].Type.Copy(o).(Object)
		}
		o = d.kind.Convert(o, d.version, to)
	}
	var out document
	if d.obj != nil {
		out = d.kind.of(to, o)
	} else {
		out = d.kind.open(to, o)
	}
	return out, out.schema().validate(out.value()).err()
}

// name returns the name and type of the document for error texts.
func (d document) name() string {
	m, _ := d.tree["metadata"].(map[string]any)
	namespace, _ := m["namespace"].(string)
	name, _ := m["name"].(string)
	return fmt.Sprintf("%s/%s; %s", namespace, name, d.kind.typeText(d.version))
}
