package wiretest

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// An entry of managedFields of the usual version is written as "manager operation fields", such as
// conformance Update metadata{labels{. n}} spec{holderIdentity}. A field stands without f: before it. Other keys, such as
// v:"a", are quoted.

var (
	plainWord  = regexp.MustCompile(`^[\w.-]+$`)
	plainField = regexp.MustCompile(`^f:[\w./-]+$`)
)

// ownerText returns the short form of an entry of managedFields, false if it has none.
func ownerText(entry any, version string) (string, bool) {
	m, _ := entry.(map[string]any)
	manager, _ := m["manager"].(string)
	operation, _ := m["operation"].(string)
	apiVersion, _ := m["apiVersion"].(string)
	fields, ok := m["fieldsV1"].(map[string]any)
	if len(m) != 6 || !ok || m["time"] != "{time}" || m["fieldsType"] != "FieldsV1" || !plainWord.MatchString(manager) || !plainWord.MatchString(operation) {
		return "", false
	}
	text, ok := fieldsText(fields)
	return strings.TrimSpace(manager + " " + operation + " " + text), ok && apiVersion == version
}

func fieldsText(fields map[string]any) (string, bool) {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		below, ok := fields[key].(map[string]any)
		if !ok {
			return "", false
		}
		part := quote(key)
		switch {
		case key == ".":
			part = "."
		case plainField.MatchString(key) && key != "f:.":
			part = key[2:]
		}
		if len(below) > 0 {
			text, ok := fieldsText(below)
			if !ok {
				return "", false
			}
			part += "{" + text + "}"
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, " "), true
}

// readOwner is the reverse of ownerText.
func readOwner(text, version string) (any, error) {
	manager, rest, _ := strings.Cut(text, " ")
	operation, rest, _ := strings.Cut(rest, " ")
	fields, rest, err := readFields(rest)
	if err != nil || rest != "" {
		return nil, fmt.Errorf("owner %q: want manager, operation and fields", text)
	}
	return map[string]any{"manager": manager, "operation": operation, "apiVersion": version, "time": "{time}", "fieldsType": "FieldsV1", "fieldsV1": fields}, nil
}

// readFields reads fields up to the brace that closes them, and returns the rest.
func readFields(text string) (map[string]any, string, error) {
	fields := map[string]any{}
	for {
		text = strings.TrimLeft(text, " ")
		if text == "" || text[0] == '}' {
			return fields, text, nil
		}
		key, rest, err := readField(text)
		if err != nil {
			return nil, "", err
		}
		below := map[string]any{}
		if strings.HasPrefix(rest, "{") {
			if below, rest, err = readFields(rest[1:]); err != nil {
				return nil, "", err
			}
			if !strings.HasPrefix(rest, "}") {
				return nil, "", fmt.Errorf("no } after %s", key)
			}
			rest = rest[1:]
		}
		fields[key], text = below, rest
	}
}

func readField(text string) (key, rest string, err error) {
	if text[0] == '"' {
		decoder := json.NewDecoder(strings.NewReader(text))
		err = decoder.Decode(&key)
		return key, text[decoder.InputOffset():], err
	}
	end := strings.IndexAny(text, " {}")
	if end < 0 {
		end = len(text)
	}
	if key = text[:end]; key != "." {
		key = "f:" + key
	}
	return key, text[end:], nil
}
