package differential

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"testing"
	"time"

	"sigs.k8s.io/yaml"
)

const typeJSON = "application/json"

func TestManagedFieldsEqualUpstreamAfterRandomWrites(t *testing.T) {
	eachCaseInABubble(t, 120, func(g generator) string {
		w := &writers{generator: g, pair: newPair(), resource: pick(g, resources...)}
		defer w.close()
		for range 30 {
			if wrong := w.step(); wrong != "" {
				return wrong
			}
			time.Sleep(pick(g, 0, 0, 300*time.Millisecond, time.Second, 2500*time.Millisecond))
		}
		return ""
	})
}

// writers write to one object of one kind with all kinds of requests.
type writers struct {
	generator
	*pair
	resource resource
	version  string // of the next request
	current  object // the stored object, or nil
}

// step sends a random request to both servers and compares the answers and the stored objects.
func (w *writers) step() string {
	w.version = pick(w.generator, w.resource.versions...)
	if wrong := w.look(); wrong != "" {
		return wrong
	}
	c := w.request()
	if _, wrong := w.send(c); wrong != "" {
		return wrong
	}
	return w.look()
}

// look compares the stored objects and keeps them.
func (w *writers) look() string {
	got, wrong := w.send(call{method: http.MethodGet, path: w.path(true), accept: typeJSON})
	w.current = nil
	if got.code == http.StatusOK {
		_ = json.Unmarshal([]byte(got.body), &w.current)
	}
	return wrong
}

func (w *writers) apiVersion() string {
	if w.resource.group == "" {
		return w.version
	}
	return w.resource.group + "/" + w.version
}

func (w *writers) path(named bool) string {
	p := w.resource.root() + "/" + w.apiVersion() + "/namespaces/default/" + w.resource.plural
	if named {
		p += "/a"
	}
	return p
}

// request returns a random write.
func (w *writers) request() call {
	c := call{
		method: http.MethodPatch, path: w.path(true), accept: typeJSON, contentType: typeJSON,
		agent: pick(w.generator, "agent/1.0", "other/2", "kubectl/v1", ""), query: url.Values{},
	}
	if w.percent(60) {
		c.query.Set("fieldManager", w.manager())
	}
	if w.percent(15) {
		c.query.Set("fieldValidation", pick(w.generator, "Strict", "Ignore"))
	}
	if w.percent(10) {
		c.query.Set("dryRun", "All")
	}
	var body any
	switch n := w.IntN(100); {
	case w.current == nil && w.percent(50) || n < 2:
		c.method, c.path, body = http.MethodPost, w.path(false), w.replacement()
	case n < 4:
		c.method, body = http.MethodDelete, object{}
		if w.percent(20) {
			body = object{"propagationPolicy": pick(w.generator, "Foreground", "Orphan", "Background")}
		}
	case n < 45:
		c.contentType = "application/apply-patch+yaml"
		c.query.Set("fieldManager", w.manager())
		if w.percent(50) {
			c.query.Set("force", "true")
		}
		body = w.applied()
		if w.percent(20) {
			text, _ := yaml.Marshal(body)
			c.body = string(text)
			return c
		}
	case n < 65:
		c.method, body = http.MethodPut, w.replacement()
	case n < 75:
		c.contentType, body = "application/json-patch+json", w.operations()
	case n < 87:
		c.contentType, body = "application/merge-patch+json", w.mergePatch()
	default:
		c.contentType, body = "application/strategic-merge-patch+json", w.strategicPatch()
	}
	text, _ := json.Marshal(body)
	c.body = string(text)
	return c
}

// manager returns one of enough names that the oldest updaters are sometimes merged.
func (w *writers) manager() string {
	if w.percent(10) {
		return "m" + strconv.Itoa(w.IntN(14))
	}
	return pick(w.generator, "m1", "m2", "m3", "kubectl")
}

// whole returns an object with the apiVersion, kind and name of the resource.
func (w *writers) whole(part bool) object {
	o := w.content(w.resource.plural, part)
	o["apiVersion"], o["kind"] = w.apiVersion(), w.kind()
	m := w.generator.metadata()
	m["name"] = "a"
	o["metadata"] = m
	return o
}

func (w *writers) kind() string {
	return map[string]string{"leases": "Lease", "leasecandidates": "LeaseCandidate", "endpoints": "Endpoints", "widgets": "Widget"}[w.resource.plural]
}
