package differential

import (
	"encoding/json"
	"net/http"
	"net/url"
	"testing"
)

// The patches of TestManagedFieldsEqualUpstreamAfterRandomWrites apply to objects with random histories. The patches here apply to
// one object with all fields set, as dry runs, and contain many directives.
func TestStrategicMergePatchesEqualUpstream(t *testing.T) {
	patches(t, "application/strategic-merge-patch+json", func(w *writers) any {
		p := w.strategicPatch()
		for range w.IntN(3) {
			w.direct(p, 3)
		}
		return p
	})
}

func TestMergePatchesEqualUpstream(t *testing.T) {
	patches(t, "application/merge-patch+json", func(w *writers) any { return w.mergePatch() })
}

func TestJSONPatchesEqualUpstream(t *testing.T) {
	patches(t, "application/json-patch+json", func(w *writers) any { return w.operations() })
}

// patches sends patches to an object with all fields set.
func patches(t *testing.T, contentType string, patch func(w *writers) any) {
	t.Helper()
	eachCaseInABubble(t, 40, func(g generator) string {
		w := &writers{generator: g, pair: newPair(), resource: pick(g, resources...)}
		defer w.close()
		w.version = pick(g, w.resource.versions...)
		o := w.whole(false)
		m := o["metadata"].(object)
		m["finalizers"], m["labels"] = []any{"f/1", "f/2"}, object{"a": "1", "b": "2"}
		m["ownerReferences"] = []any{g.ownerReference("u1"), g.ownerReference("u2")}
		body, _ := json.Marshal(o)
		if _, wrong := w.send(call{method: http.MethodPost, path: w.path(false), contentType: typeJSON, accept: typeJSON, body: string(body)}); wrong != "" {
			return wrong
		}
		w.look()
		for range 50 {
			body, _ := json.Marshal(patch(w))
			text := string(body)
			if g.percent(20) {
				text = g.mutate(text, `{}[]:,"$ 1n\`)
			}
			query := url.Values{"dryRun": {"All"}, "fieldValidation": {pick(g, "Ignore", "Warn", "Strict")}}
			if _, wrong := w.send(call{method: http.MethodPatch, path: w.path(true), contentType: contentType, accept: typeJSON, query: query, body: text}); wrong != "" {
				return wrong
			}
			w.history = w.history[:1] // dry runs change nothing
		}
		return ""
	})
}
