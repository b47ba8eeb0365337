package main

import (
	"log"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/kubecoord/kubecoord/internal/test/kube/kinds"
)

// stored creates the full object, mends the status of the sample, and finds the leaves of the object that can change.
func (m *mender) stored(s *kinds.Sample) {
	name := strings.ReplaceAll(s.Full["metadata"].(map[string]any)["name"].(string), "full", "leaf")
	tree := clone(s.Full).(map[string]any)
	set(tree, "metadata.name", name)
	collection := m.resource.Path("kinds-samples")
	if code, _ := m.send(http.MethodPost, collection, "application/json", tree); code >= 300 && code != http.StatusConflict {
		log.Printf("%s: %s", name, m.last)
		return
	}
	defer func() {
		m.send(http.MethodDelete, collection+"/"+name+"?gracePeriodSeconds=0", "application/json", map[string]any{})
		m.send(http.MethodPatch, collection+"/"+name, "application/merge-patch+json", map[string]any{"metadata": map[string]any{"finalizers": nil}})
	}()
	body := map[string]any{"status": s.Status}
	if s.Status != nil && !m.mend(body, func(tree map[string]any) (int, status) {
		return m.send(http.MethodPatch, collection+"/"+name+"/status?dryRun=All&fieldValidation=Strict", "application/merge-patch+json", tree)
	}) {
		log.Printf("%s: no status: %s", name, m.last)
	}
	if s.Status != nil {
		m.ungated("", body, m.answer())
	}
	m.leaves(collection+"/"+name, s)
}

// leaves adds the leaves of the full object with another value.
func (m *mender) leaves(path string, s *kinds.Sample) {
	for _, leaf := range changes("", s.Full) {
		if strings.HasPrefix(leaf.Path, "/metadata/") || leaf.Path == "/kind" || leaf.Path == "/apiVersion" {
			continue
		}
		code, _ := m.send(http.MethodPatch, path+"?dryRun=All", "application/json-patch+json", []any{leaf.Patch()})
		if code < 300 {
			s.Changed = append(s.Changed, leaf)
		} else {
			s.Kept = append(s.Kept, leaf)
		}
	}
}

// changes returns another value for each leaf below a value. Of lists only the first item is walked.
func changes(path string, v any) []kinds.Leaf {
	var out []kinds.Leaf
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			out = append(out, changes(path+"/"+strings.NewReplacer("~", "~0", "/", "~1").Replace(key), v[key])...)
		}
	case []any:
		if len(v) > 0 {
			out = changes(path+"/0", v[0])
		}
	case string:
		other := v + "x"
		if n, err := strconv.Atoi(v); err == nil {
			other = strconv.Itoa(n + 1)
		}
		out = append(out, kinds.Leaf{Path: path, Value: other})
	case int:
		out = append(out, kinds.Leaf{Path: path, Value: v + 1})
	case bool:
		out = append(out, kinds.Leaf{Path: path, Value: !v})
	}
	return out
}
