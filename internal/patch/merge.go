package patch

import "github.com/kubecoord/kubecoord/store/meta"

// Merge applies a JSON merge patch (RFC 7386): null deletes, objects are merged,
// other values are replaced. Merge returns warnings only for Warn.
func Merge(o Object, body []byte, v Validation) (obj any, warnings []string, err error) {
	return o.edit(body, v, new(map[string]any), "", applyMerge)
}

func applyMerge(current, text []byte) ([]byte, error) {
	patch, _ := parse(text) // read refuses documents that are too deep
	if patch == nil || patch.kind == scalar {
		return nil, meta.NewBadRequest("Invalid JSON Patch")
	}
	if patch.kind == array {
		// The patch itself is the result. Decoding it fails, as it is no object.
		prune(patch)
		return patch.encode()
	}
	root, _ := parse(current)
	mergeMembers(root, patch)
	return root.encode()
}

func mergeMembers(into, patch *node) {
	into.opened = true
	for key, p := range patch.members {
		if p == nil {
			delete(into.members, key)
			continue
		}
		live := into.members[key]
		switch {
		case live == nil || live.kind != object:
			prune(p)
			into.members[key] = p
		case p.kind != object:
			into.members[key] = p
		default:
			mergeMembers(live, p)
		}
	}
}

// prune removes null members from all objects in n. Nulls in arrays stay.
func prune(n *node) {
	if n == nil || n.kind == scalar {
		return
	}
	n.opened = true
	for key, member := range n.members {
		if member == nil {
			delete(n.members, key)
		} else {
			prune(member)
		}
	}
	for _, item := range n.items {
		prune(item)
	}
}
