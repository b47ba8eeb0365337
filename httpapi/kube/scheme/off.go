package scheme

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// offVersion returns a version of a kind that a kube-apiserver does not serve by default. Its Go type has the members of the stored one,
// but for resource.k8s.io/v1beta1, so that the JSON of one is the JSON of the other. Defaults are the stored version's.
func (b *builder) offVersion(gk schema.GroupKind, name string, stored *objectType) (kind.Version[meta.Object], error) {
	own, v, err := b.version(gk.WithVersion(name))
	if err != nil {
		return v, err
	}
	rename := memberNames(gk, name)
	convert := func(o meta.Object, to *objectType, rename func(map[string]any)) (meta.Object, error) {
		tree, err := treeOf(valueOf(o))
		if err != nil {
			return nil, err
		}
		rename(tree)
		out := to.new()
		data, err := json.Marshal(tree)
		if err == nil {
			err = json.Unmarshal(data, valueOf(out))
		}
		*out.GetTypeMeta(), *out.GetObjectMeta() = *o.GetTypeMeta(), *o.GetObjectMeta()
		return out, err
	}
	must := func(o meta.Object, err error) meta.Object {
		if err != nil {
			panic(fmt.Sprintf("scheme: %s: %v", gk, err)) // cannot be: what was decoded can be encoded
		}
		return o
	}
	v.Form.Convert = kind.ConvertBy(
		func(o meta.Object) meta.Object { return must(convert(o, own, rename.older)) },
		func(o meta.Object) meta.Object {
			out := must(convert(o, stored, rename.newer))
			b.setDefaults(out)
			return out
		})
	return v, nil
}

func treeOf(v any) (tree map[string]any, err error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(strings.NewReader(string(data)))
	d.UseNumber()
	return tree, d.Decode(&tree)
}

// renaming changes the members of a tree to the names of the newer version, and back.
type renaming struct{ newer, older func(tree map[string]any) }

// memberNames returns what differs between the stored version of a kind and another one: resource.k8s.io/v1beta1 has the members of a
// request beside its name and the members of a device in "basic", v1 the first in "exactly" and the others beside the name.
func memberNames(gk schema.GroupKind, version string) renaming {
	same := func(map[string]any) {}
	if gk.Group != "resource.k8s.io" || version != "v1beta1" {
		return renaming{same, same}
	}
	var path []string
	member, beside := "exactly", []string{"name", "firstAvailable"}
	switch gk.Kind {
	case "ResourceClaim":
		path = []string{"spec", "devices", "requests"}
	case "ResourceClaimTemplate":
		path = []string{"spec", "spec", "devices", "requests"}
	case "ResourceSlice":
		path, member, beside = []string{"spec", "devices"}, "basic", []string{"name"}
	default:
		return renaming{same, same}
	}
	in := func(tree map[string]any) {
		eachItem(tree, path, func(item map[string]any) { nest(item, member, beside) })
	}
	out := func(tree map[string]any) { eachItem(tree, path, func(item map[string]any) { unnest(item, member) }) }
	if member == "basic" {
		return renaming{newer: out, older: in}
	}
	return renaming{newer: in, older: out}
}

func eachItem(tree map[string]any, path []string, f func(map[string]any)) {
	for _, name := range path[:len(path)-1] {
		tree, _ = tree[name].(map[string]any)
	}
	items, _ := tree[path[len(path)-1]].([]any)
	for _, item := range items {
		if m, is := item.(map[string]any); is {
			f(m)
		}
	}
}

// nest moves the members of an item, but for some, into one of them. A request that chooses from others has no members to move.
func nest(item map[string]any, member string, beside []string) {
	inner := map[string]any{}
	for name, value := range item {
		if slices.Contains(beside, name) {
			continue
		}
		delete(item, name)
		if value != "" {
			inner[name] = value
		}
	}
	if len(inner) > 0 || member == "basic" {
		item[member] = inner
	}
}

func unnest(item map[string]any, member string) {
	inner, _ := item[member].(map[string]any)
	delete(item, member)
	for name, value := range inner {
		item[name] = value
	}
}
