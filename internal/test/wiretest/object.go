package wiretest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// memory holds the objects that a scenario has shown so far, so that an answer may name one instead of repeating it. It is
// the same when a scenario is read and when it is written.
type memory struct {
	version   string         // apiVersion of the kind
	kind      string         // such as Lease
	byVersion map[string]any // by the symbol of the resourceVersion
	byUID     map[string]any // the one shown last
	sent      any            // what the step has sent
}

func newMemory(k *kind) *memory {
	m := &memory{byVersion: map[string]any{}, byUID: map[string]any{}}
	if k != nil {
		m.version, m.kind = k.text["$version"], k.text["$Kind"]
	}
	return m
}

// see remembers the objects of an answer.
func (m *memory) see(tree any) {
	node, _ := tree.(map[string]any)
	kind, _ := node["kind"].(string)
	if items, ok := node["items"].([]any); ok && kind == m.kind+"List" {
		for _, item := range items {
			if object, ok := item.(map[string]any); ok {
				m.see(withType(object, node["apiVersion"], m.kind))
			}
		}
		return
	}
	meta, _ := node["metadata"].(map[string]any)
	uid, _ := meta["uid"].(string)
	version, _ := meta["resourceVersion"].(string)
	if kind != m.kind || uid == "" || version == "" {
		return
	}
	m.byVersion[version] = node
	m.byUID[uid] = node
}

func withType(object map[string]any, version, kind any) map[string]any {
	object = maps.Clone(object)
	object["apiVersion"], object["kind"] = version, kind
	return object
}

// An object is written as a base, its uid and resourceVersion if they are not those of the base, a merge patch, and the
// owners of its fields:
//
//	@rv1                      the object that was shown with the resourceVersion {rv1}
//	@rv1 {rv2} + {"spec":…}   the same with another resourceVersion and spec
//	sent {uid1} {rv1}         what was sent, with the metadata that a server adds
//	… by conformance Update spec{holderIdentity}
var baseForm = regexp.MustCompile(`^(sent|@rv\d+|meta @rv\d+)((?: \{(?:uid|rv)\d+\})*)(?: \+ (.*?))?((?: by .*)?)$`)

// readObject evaluates such an expression.
func (m *memory) readObject(text string) (map[string]any, error) {
	parts := baseForm.FindStringSubmatch(text)
	if parts == nil {
		return nil, fmt.Errorf("%s: want an object such as @rv1 or sent {uid1} {rv1}", text)
	}
	base, err := m.base(parts[1], strings.Fields(parts[2]))
	if err != nil {
		return nil, err
	}
	rest, owners := parts[3]+parts[4], parts[4]
	if parts[3] != "" {
		decoder := json.NewDecoder(strings.NewReader(rest))
		decoder.UseNumber()
		var patch any
		if err := decoder.Decode(&patch); err != nil {
			return nil, fmt.Errorf("%s: %w", text, err)
		}
		if patch, err = m.lengthen(patch); err != nil {
			return nil, err
		}
		object, ok := merge(base, patch).(map[string]any)
		if !ok {
			return nil, fmt.Errorf("%s: the patch leaves no object", text)
		}
		base, owners = object, rest[decoder.InputOffset():]
	}
	if owners == "" {
		return base, nil
	}
	var entries []any
	for owner := range strings.SplitSeq(strings.TrimPrefix(owners, " by "), " by ") {
		entry, err := readOwner(owner, m.version)
		if err != nil {
			return nil, err
		}
		entries = append(entries, entry)
	}
	metadataOf(base)["managedFields"] = entries
	return base, nil
}

// base returns a copy of what an expression starts from.
func (m *memory) base(name string, symbols []string) (map[string]any, error) {
	var object map[string]any
	switch {
	case name == "sent":
		sent, ok := copyTree(m.sent).(map[string]any)
		if !ok {
			return nil, errors.New("sent: the step has sent no object")
		}
		object = withType(sent, m.version, m.kind)
		addDefaults(object)
		metadataOf(object)["namespace"] = "{ns}"
		metadataOf(object)["creationTimestamp"] = "{time}"
	default:
		symbol := "{" + name[strings.Index(name, "@")+1:] + "}"
		seen, ok := m.byVersion[symbol]
		if !ok {
			return nil, fmt.Errorf("%s: no object was shown with that resourceVersion", name)
		}
		object = copyTree(seen).(map[string]any)
		if strings.HasPrefix(name, "meta ") {
			object = map[string]any{"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata", "metadata": object["metadata"]}
		}
	}
	for _, symbol := range symbols {
		key := "uid"
		if strings.HasPrefix(symbol, "{rv") {
			key = "resourceVersion"
		}
		metadataOf(object)[key] = symbol
	}
	return object, nil
}

// metadataOf returns the metadata of an object, which it adds if there is none.
func metadataOf(object map[string]any) map[string]any {
	meta, ok := object["metadata"].(map[string]any)
	if !ok {
		meta = map[string]any{}
		object["metadata"] = meta
	}
	return meta
}

// addDefaults adds what a server fills in: the protocol of a port of Endpoints.
func addDefaults(object map[string]any) {
	subsets, _ := object["subsets"].([]any)
	for _, subset := range subsets {
		s, _ := subset.(map[string]any)
		ports, _ := s["ports"].([]any)
		for _, port := range ports {
			if p, ok := port.(map[string]any); ok && p["protocol"] == nil {
				p["protocol"] = "TCP"
			}
		}
	}
}

// objectText returns an expression for an object, false if its JSON is the better form.
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
	target := copyTree(object).(map[string]any)
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

// owners returns the short forms of managedFields, false if not all have one.
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

func metaString(object any, key string) string {
	value, _ := pointer(object, "/metadata/"+key)
	text, _ := value.(string)
	return text
}

// shorten returns a copy of a tree in which expressions and the short forms of owners stand for objects.
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

// merge applies a JSON merge patch (RFC 7396).
func merge(target, patch any) any {
	changes, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	out, _ := target.(map[string]any)
	if out = maps.Clone(out); out == nil {
		out = map[string]any{}
	}
	for key, value := range changes {
		if value == nil {
			delete(out, key)
			continue
		}
		out[key] = merge(out[key], value)
	}
	return out
}

// mergePatch returns the patch that makes to from from.
func mergePatch(from, to map[string]any) map[string]any {
	patch := map[string]any{}
	for key := range from {
		if _, ok := to[key]; !ok {
			patch[key] = nil
		}
	}
	for key, value := range to {
		below, isObject := value.(map[string]any)
		old, wasObject := from[key].(map[string]any)
		switch {
		case reflect.DeepEqual(from[key], value):
		case isObject && wasObject:
			patch[key] = mergePatch(old, below)
		default:
			patch[key] = value
		}
	}
	return patch
}

func copyTree(tree any) any {
	switch node := tree.(type) {
	case map[string]any:
		out := make(map[string]any, len(node))
		for key, value := range node {
			out[key] = copyTree(value)
		}
		return out
	case []any:
		out := slices.Clone(node)
		for i := range out {
			out[i] = copyTree(out[i])
		}
		return out
	}
	return tree
}

// compact returns the JSON of a tree on one line, with sorted keys.
func compact(tree any) string {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(tree); err != nil {
		return err.Error() // a tree of decoded JSON can be encoded
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func quote(text string) string { return compact(text) }
