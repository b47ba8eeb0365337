package managedfields

import "fmt"

// document is an object in one version, as a tree.
type document struct {
	kind    *Kind
	version int
	tree    map[string]any
	// obj is the object that tree was made from. It is nil for other trees.
	obj Object
}

// outline returns an object as a document without managedFields. Atomic lists in it
// are codec.Unopened.
func (k *Kind) outline(version int, o Object) document {
	d := k.document(version, k.Versions[version].Type.Outline(o))
	d.obj = o
	return d
}

// open returns an object as a document without managedFields and without obj.
func (k *Kind) open(version int, o Object) document {
	t := k.Versions[version].Type
	bare := t.CopyStruct(o).(Object)
	bare.GetObjectMeta().ManagedFields = nil
	return k.document(version, t.ToUnstructured(bare))
}

// document returns the tree of an object as a document without managedFields.
func (k *Kind) document(version int, tree map[string]any) document {
	tree["apiVersion"], tree["kind"] = k.Versions[version].APIVersion, k.Name
	delete(members(tree["metadata"]), "managedFields")
	return document{kind: k, version: version, tree: tree}
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
		return d, d.schema().validate(d.tree).err()
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
		out = d.kind.outline(to, o)
	} else {
		out = d.kind.open(to, o)
	}
	return out, out.schema().validate(out.tree).err()
}

// name returns the name and type of the document for error texts.
func (d document) name() string {
	m, _ := d.tree["metadata"].(map[string]any)
	namespace, _ := m["namespace"].(string)
	name, _ := m["name"].(string)
	return fmt.Sprintf("%s/%s; %s", namespace, name, d.kind.typeText(d.version))
}
