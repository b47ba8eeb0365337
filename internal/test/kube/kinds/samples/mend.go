package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/kubecoord/kubecoord/internal/test/kube/kinds"
)

// mender asks a server which objects it accepts.
type mender struct {
	url      string
	resource kinds.Resource
	dropped  []string
	last     string // the last answer
	verbose  bool
}

type status struct {
	Message string
	Details struct {
		Causes []struct{ Reason, Message, Field string }
	}
}

const runID = "f0f9" // of the requests of this program, which store nothing

// ungated takes the members out of a tree that are not in the server's answer, since a feature gate that is off drops them. It
// returns them.
func (m *mender) ungated(path string, tree, answer any) []kinds.Leaf {
	var out []kinds.Leaf
	switch node := tree.(type) {
	case map[string]any:
		has, _ := answer.(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(node)) {
			at := path + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
			if _, ok := has[key]; !ok && has != nil && at != "/status" && !strings.HasPrefix(at, "/metadata/") && at != "/stringData" {
				out = append(out, kinds.Leaf{Path: at, Value: node[key]})
				delete(node, key)
				continue
			}
			out = append(out, m.ungated(at, node[key], has[key])...)
		}
	case []any:
		has, _ := answer.([]any)
		for i := range node {
			if i < len(has) {
				out = append(out, m.ungated(path+"/"+strconv.Itoa(i), node[i], has[i])...)
			}
		}
	}
	return out
}

// answer returns the last answer as a tree.
func (m *mender) answer() map[string]any {
	tree := map[string]any{}
	_ = json.Unmarshal([]byte(m.last), &tree)
	return tree
}

// create returns the status of a create that stores nothing.
func (m *mender) create(tree map[string]any) (int, status) {
	return m.send(http.MethodPost, m.resource.Path("kinds-samples")+"?dryRun=All&fieldValidation=Strict", "application/json", tree)
}

func (m *mender) send(method, path, contentType string, tree any) (int, status) {
	body, err := json.Marshal(tree)
	if err != nil {
		panic(err) // trees have a JSON form
	}
	text := strings.NewReplacer(kinds.RunID, runID, "NAMESPACE", "kinds-samples").Replace(string(body))
	req, err := http.NewRequest(method, m.url+strings.ReplaceAll(path, kinds.RunID, runID), bytes.NewReader([]byte(text)))
	if err != nil {
		panic(err)
	}
	req.Header.Set("Content-Type", contentType)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		panic(err)
	}
	defer resp.Body.Close()
	answer, _ := io.ReadAll(resp.Body)
	m.last = string(answer)
	var s status
	if resp.StatusCode >= 400 {
		_ = json.Unmarshal(answer, &s)
	}
	return resp.StatusCode, s
}

var (
	supported = regexp.MustCompile(`supported values: (.*)`)
	decodeAt  = regexp.MustCompile(`unknown field "([^"]+)"`)
)

// mend changes an object until the server accepts it, and reports whether it does.
func (m *mender) mend(tree map[string]any, send func(map[string]any) (int, status)) bool {
	for range 200 {
		code, s := send(tree)
		if code < 300 {
			return true
		}
		changed := false
		if match := decodeAt.FindAllStringSubmatch(s.Message, -1); match != nil {
			for _, field := range match {
				changed = m.drop(tree, split(field[1])) || changed
			}
		}
		for _, required := range []bool{false, true} {
			for _, c := range s.Details.Causes {
				if !changed && m.verbose {
					log.Printf("%s: %s", c.Field, c.Message)
				}
				if (c.Reason == "FieldValueRequired") == required && (!required || !changed) {
					changed = m.mendCause(tree, c.Reason, c.Message, split(c.Field)) || changed
				}
			}
		}
		if !changed {
			return false
		}
	}
	return false
}

// mendCause changes an object as one cause asks for, and reports whether it did.
func (m *mender) mendCause(tree map[string]any, reason, message string, path []string) bool {
	if match := supported.FindStringSubmatch(message); match != nil {
		for value := range strings.SplitSeq(match[1], ", ") {
			if s, err := strconv.Unquote(value); err == nil && s != "" {
				if _, isMap := get(tree, path).(map[string]any); !isMap {
					return replace(tree, path, s)
				}
			}
		}
	}
	if text, ok := get(tree, path).(string); ok && reason == "FieldValueDuplicate" {
		return replace(tree, path, text+"b")
	}
	if reason == "FieldValueRequired" && get(tree, path) == nil {
		// Nothing here can make the required member, so the object that lacks it is left out.
		path = path[:max(len(path)-1, 1)]
	}
	if get(tree, path) == nil && reason == "FieldValueInvalid" && len(path) > 2 {
		path = path[:len(path)-1]
	}
	if m.drop(tree, path) {
		m.dropped[len(m.dropped)-1] += fmt.Sprintf("(%s)", message)
		return true
	}
	return false
}

// drop removes the member at a path of at least two parts.
func (m *mender) drop(tree map[string]any, path []string) bool {
	if len(path) < 2 && !slices.Contains([]string{"data", "binaryData", "stringData"}, path[0]) {
		return false
	}
	if remove(tree, path) {
		m.dropped = append(m.dropped, strings.Join(path, "."))
		return true
	}
	return false
}

// minimal returns the object without each member that the server does not need.
func (m *mender) minimal(full map[string]any) map[string]any {
	tree := clone(full).(map[string]any)
	var walk func(path []string)
	walk = func(path []string) {
		if keep := strings.Join(path, "."); slices.Contains([]string{"apiVersion", "kind", "metadata.name", "metadata.labels.kinds"}, keep) {
			return
		}
		before := clone(tree).(map[string]any)
		if len(path) > 0 && remove(tree, path) {
			if keep := strings.Join(path, "."); keep != "metadata" && keep != "metadata.labels" {
				if code, _ := m.create(tree); code < 300 {
					return
				}
			}
			tree = before
		}
		switch node := get(tree, path).(type) {
		case map[string]any:
			for _, key := range slices.Sorted(maps.Keys(node)) {
				walk(append(slices.Clone(path), key))
			}
		case []any:
			for i := len(node) - 1; i >= 0; i-- {
				walk(append(slices.Clone(path), strconv.Itoa(i)))
			}
		}
	}
	walk(nil)
	set(tree, "metadata.name", m.resource.Name("min"))
	return tree
}

// replace puts another value in place of a leaf. A list becomes one of the value. An index may be missing in the path.
func replace(tree any, path []string, value any) bool {
	switch node := tree.(type) {
	case []any:
		if i, err := strconv.Atoi(path[0]); err == nil && i < len(node) {
			if len(path) == 1 {
				was := node[i]
				node[i] = value
				return was != value
			}
			return replace(node[i], path[1:], value)
		}
		changed := false
		for _, item := range node {
			changed = replace(item, path, value) || changed
		}
		return changed
	case map[string]any:
		was, ok := node[path[0]]
		if len(path) > 1 {
			return replace(was, path[1:], value)
		}
		if _, isMap := was.(map[string]any); isMap {
			return false
		}
		if list, isList := was.([]any); isList {
			if len(list) == 1 && list[0] == value {
				return false
			}
			value = []any{value}
		} else if was == value {
			return false
		}
		node[path[0]] = value
		return ok
	}
	return false
}
