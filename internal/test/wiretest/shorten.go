package wiretest

import (
	"reflect"
	"strings"
)

// objectText returns an expression for an object, or false if its JSON is shorter.
func (m *memory) objectText(object map[string]any) (string, bool) {
	partial := object["kind"] == "PartialObjectMetadata"
	if !partial && (object["kind"] != m.kind || m.kind == "") {
		return "", false
	}
	meta, _ := object["metadata"].(map[string]any)
	uid, _ := meta["uid"].(string)
	version, _ := meta["resourceVersion"].(string)
	sent, _ := m.sent.(map[string]any)
	base := ""
	if seen, ok := m.byVersion[version]; ok && metaString(seen, "uid") == uid {
		base = "@" + strings.Trim(version, "{}")
	} else if seen, ok := m.byUID[uid]; ok {
		base = "@" + strings.Trim(metaString(seen, "resourceVersion"), "{}")
	} else if sentMeta, ok := sent["metadata"].(map[string]any); ok && sentMeta["name"] == meta["name"] && !partial {
		base = "sent"
	}
	if partial && base != "" {
		base = "meta " + base
	}
	if base == "" {
		return "", false
	}
	text, err := m.changes(base, object)
	if err != nil {
		return "", false
	}
	back, err := m.readObject(text)
	return text, err == nil && reflect.DeepEqual(any(back), any(object))
}

// changes returns the expression that makes the object from the named base.
func (m *memory) changes(name string, object map[string]any) (string, error) {
	plain, err := m.base(name, nil)
	if err != nil {
		return "", err
	}
	text := name
	var symbols []string
	for _, key := range []string{"uid", "resourceVersion"} {
		if symbol := metaString(object, key); strings.HasPrefix(symbol, "{") && symbol != metaString(plain, key) {
			symbols = append(symbols, symbol)
			text += " " + symbol
		}
	}
	base, err := m.base(name, symbols)
	if err != nil {
		return "", err
	}
	owners := ""
	target := CopyTree(object).(map[string]any)
	if entries := metadataOf(target)["managedFields"]; !reflect.DeepEqual(entries, metadataOf(base)["managedFields"]) {
		if short, ok := m.owners(entries); ok {
			owners = " by " + strings.Join(short, " by ")
			delete(metadataOf(target), "managedFields")
			delete(metadataOf(base), "managedFields")
		}
	}
	if patch := mergePatch(base, target); len(patch) > 0 {
		text += " + " + compact(m.shorten(patch))
	}
	return text + owners, nil
}

// owners returns the short forms of managedFields, or false if an entry has none.
func (m *memory) owners(managedFields any) ([]string, bool) {
	entries, _ := managedFields.([]any)
	var short []string
	for _, entry := range entries {
		text, ok := ownerText(entry, m.version)
		if !ok || strings.Contains(text, " by ") {
			return nil, false
		}
		short = append(short, text)
	}
	return short, len(short) > 0
}

// shorten returns a copy of a tree with objects replaced by expressions and short forms of owners.
func (m *memory) shorten(tree any) any {
	switch node := tree.(type) {
	case map[string]any:
		out := make(map[string]any, len(node))
		for key, value := range node {
			out[key] = m.shorten(value)
			if object, ok := value.(map[string]any); ok {
				if text, ok := m.objectText(object); ok && strings.Contains(text, "@") {
					out[key] = text
				}
			}
			if short, ok := m.owners(value); ok && key == "managedFields" {
				out[key] = short
			}
		}
		return out
	case []any:
		out := make([]any, len(node))
		for i, value := range node {
			out[i] = m.shorten(value)
		}
		return out
	}
	return tree
}

// lengthen is the reverse of shorten.
func (m *memory) lengthen(tree any) (any, error) {
	var err error
	switch node := tree.(type) {
	case map[string]any:
		for key, value := range node {
			if key == "managedFields" {
				if node[key], err = m.lengthenOwners(value); err != nil {
					return nil, err
				}
				continue
			}
			if node[key], err = m.lengthen(value); err != nil {
				return nil, err
			}
		}
	case []any:
		for i, value := range node {
			if node[i], err = m.lengthen(value); err != nil {
				return nil, err
			}
		}
	case string:
		if strings.HasPrefix(node, "@rv") || strings.HasPrefix(node, "meta @rv") {
			return m.readObject(node)
		}
	}
	return tree, nil
}

func (m *memory) lengthenOwners(managedFields any) (any, error) {
	entries, _ := managedFields.([]any)
	for i, entry := range entries {
		text, ok := entry.(string)
		if !ok {
			continue
		}
		var err error
		if entries[i], err = readOwner(text, m.version); err != nil {
			return nil, err
		}
	}
	return managedFields, nil
}
