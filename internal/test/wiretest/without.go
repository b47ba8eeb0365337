package wiretest

import "slices"

// without returns copies of the outcomes whose bodies and events lack the named members, at any depth.
func without(steps []Expected, names []string) []Expected {
	out := make([]Expected, len(steps))
	for i, e := range steps {
		e.JSON = dropMembers(e.JSON, names)
		events := make([]any, len(e.Events))
		for j, event := range e.Events {
			events[j] = dropMembers(event, names)
		}
		e.Events = events
		out[i] = e
	}
	return out
}

func dropMembers(tree any, names []string) any {
	switch node := tree.(type) {
	case map[string]any:
		out := make(map[string]any, len(node))
		for key, value := range node {
			if !slices.Contains(names, key) {
				out[key] = dropMembers(value, names)
			}
		}
		return out
	case []any:
		out := make([]any, len(node))
		for i, value := range node {
			out[i] = dropMembers(value, names)
		}
		return out
	}
	return tree
}
