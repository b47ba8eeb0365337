package wiretest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"strings"
)

// memory holds the objects of a scenario so far, so that an answer may refer to one instead of repeating it. Readers and
// writers of a scenario use it in the same way.
type memory struct {
	version   string         // apiVersion of the kind
	kind      string         // such as Lease
	byVersion map[string]any // by the symbol of the resourceVersion
	byUID     map[string]any // the latest with that uid
	sent      any            // the object that the step sends
}

func newMemory(k *kind) *memory {
	m := &memory{byVersion: map[string]any{}, byUID: map[string]any{}}
	if k != nil {
		m.version, m.kind = k.text["$version"], k.text["$Kind"]
	}
	return m
}

// see adds the objects of an answer.
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

// An object is written as a base, its uid and resourceVersion if they differ from the base, a merge patch, and the
// owners of its fields:
//
//	@rv1                      the object that was shown with the resourceVersion {rv1}
//	@rv1 {rv2} + {"spec":…}   the same with another resourceVersion and spec
//	sent {uid1} {rv1}         the sent object, with the metadata that a server adds
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

// base returns a copy of the base of an expression.
func (m *memory) base(name string, symbols []string) (map[string]any, error) {
	var object map[string]any
	switch {
	case name == "sent":
		sent, ok := CopyTree(m.sent).(map[string]any)
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
		object = CopyTree(seen).(map[string]any)
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

// metadataOf returns the metadata of an object. It adds it if there is none.
func metadataOf(object map[string]any) map[string]any {
	meta, ok := object["metadata"].(map[string]any)
	if !ok {
		meta = map[string]any{}
		object["metadata"] = meta
	}
	return meta
}

// addDefaults adds the server's defaults: the protocol of a port of Endpoints.
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
