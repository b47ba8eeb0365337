package main

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var bracket = regexp.MustCompile(`\[([^\]]*)\]`)

// split returns the parts of a path as errors have it: spec.containers[0].name, or data[key.with.dots].
func split(field string) []string {
	var parts []string
	for field != "" {
		if loc := bracket.FindStringIndex(field); loc != nil && loc[0] == 0 {
			parts = append(parts, field[1:loc[1]-1])
			field = strings.TrimPrefix(field[loc[1]:], ".")
			continue
		}
		end := strings.IndexAny(field, ".[")
		if end < 0 {
			return append(parts, field)
		}
		parts = append(parts, field[:end])
		field = strings.TrimPrefix(field[end:], ".")
	}
	return parts
}

func get(tree any, path []string) any {
	for _, part := range path {
		switch node := tree.(type) {
		case map[string]any:
			tree = node[part]
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i >= len(node) {
				return nil
			}
			tree = node[i]
		default:
			return nil
		}
	}
	return tree
}

// set puts a value at a path with dots. A nil removes.
func set(tree map[string]any, path string, value any) {
	parts := strings.Split(path, ".")
	if value == nil {
		remove(tree, parts)
		return
	}
	setAt(tree, parts, value)
}

func setAt(tree map[string]any, path []string, value any) bool {
	switch node := get(tree, path[:len(path)-1]).(type) {
	case map[string]any:
		node[path[len(path)-1]] = value
		return true
	case []any:
		if i, err := strconv.Atoi(path[len(path)-1]); err == nil && i < len(node) {
			node[i] = value
			return true
		}
	}
	return false
}

// remove reports whether there was a value at the path.
func remove(tree map[string]any, path []string) bool {
	last := path[len(path)-1]
	above := path[:len(path)-1]
	switch node := get(tree, above).(type) {
	case map[string]any:
		for key := range node {
			if strings.EqualFold(key, last) { // errors write some names in their own way
				delete(node, key)
				return true
			}
		}
		return false
	case []any:
		i, err := strconv.Atoi(last)
		if err != nil || i >= len(node) {
			return false
		}
		setAt(tree, above, slices.Delete(slices.Clone(node), i, i+1))
		return true
	}
	return false
}

func clone(tree any) any {
	switch node := tree.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, value := range node {
			out[key] = clone(value)
		}
		return out
	case []any:
		out := make([]any, len(node))
		for i := range node {
			out[i] = clone(node[i])
		}
		return out
	}
	return tree
}
