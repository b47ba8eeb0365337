package admission

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// hooks is a server of webhooks. The path of a request says what the webhook does; see behaviours.
type hooks struct {
	server *httptest.Server
	stop   chan struct{} // closed at the end of the test

	mu    sync.Mutex // guards calls
	calls []call
}

// call is what a webhook was sent.
type call struct {
	Path   string `json:"path"`
	Review any    `json:"review"`
}

func newHooks(t *testing.T) *hooks {
	h := &hooks{stop: make(chan struct{})}
	h.server = httptest.NewTLSServer(h)
	t.Cleanup(func() {
		close(h.stop)
		h.server.Close()
	})
	return h
}

// take returns the calls since the last take, in the order of their paths: validating webhooks are called at the same time.
func (h *hooks) take() []call {
	h.mu.Lock()
	defer h.mu.Unlock()
	calls := h.calls
	h.calls = nil
	slices.SortStableFunc(calls, func(a, b call) int { return strings.Compare(a.Path, b.Path) })
	return calls
}

// ServeHTTP implements http.Handler.
func (h *hooks) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var review map[string]any
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	name := strings.Trim(r.URL.Path, "/")
	h.mu.Lock()
	if name == "allow" {
		h.calls = append(h.calls, call{r.URL.RequestURI(), maps.Clone(review)})
	} else {
		h.calls = append(h.calls, call{Path: r.URL.RequestURI()})
	}
	h.mu.Unlock()
	request, _ := review["request"].(map[string]any)
	response := map[string]any{"uid": request["uid"], "allowed": true}
	if text, ok := raw[name]; ok {
		w.Header().Set("Content-Type", "application/json")
		text(w, r, h)
		return
	}
	if change, ok := behaviours[name]; ok {
		change(request, response)
	} else if patch, ok := patches[name]; ok {
		response["patchType"], response["patch"] = "JSONPatch", []byte(patch)
	}
	delete(review, "request")
	review["response"] = response
	if name == "wrong-kind" {
		review["kind"] = "ConfigMap"
	}
	if name == "wrong-version" {
		review["apiVersion"] = "admission.k8s.io/v1beta1"
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(review) // the client may be gone
}

// behaviours change the response of a webhook that allows all.
var behaviours = map[string]func(request, response map[string]any){
	"deny": func(_, response map[string]any) { response["allowed"] = false },
	"deny-message": func(_, response map[string]any) {
		response["allowed"], response["status"] = false, map[string]any{"message": "it is not wanted"}
	},
	"deny-reason": func(_, response map[string]any) {
		response["allowed"], response["status"] = false, map[string]any{"reason": "Conflict", "code": 409}
	},
	"deny-details": func(_, response map[string]any) {
		response["allowed"] = false
		response["status"] = map[string]any{"code": 422, "reason": "Invalid", "message": "no", "details": map[string]any{
			"name": "a", "kind": "b", "causes": []any{map[string]any{"field": "spec", "message": "wrong", "reason": "FieldValueInvalid"}},
		}}
	},
	"deny-code-200": func(_, response map[string]any) {
		response["allowed"], response["status"] = false, map[string]any{"status": "Success", "code": 200, "message": "fine"}
	},
	"deny-code-1000": func(_, response map[string]any) {
		response["allowed"], response["status"] = false, map[string]any{"code": 1000, "message": "much"}
	},
	"deny-code-negative": func(_, response map[string]any) {
		response["allowed"], response["status"] = false, map[string]any{"code": -5}
	},
	"warn": func(_, response map[string]any) {
		response["warnings"] = []any{"the first", "the second", "the first", "with \"quotes\" and \n a line"}
	},
	"annotate": func(_, response map[string]any) {
		response["auditAnnotations"] = map[string]any{"key": "value", "bad key/": "x"}
	},
	"wrong-uid":       func(_, response map[string]any) { response["uid"] = "other" },
	"patch-only":      func(_, response map[string]any) { response["patch"] = []byte(`[]`) },
	"patch-type-only": func(_, response map[string]any) { response["patchType"] = "JSONPatch" },
	"patch-type-merge": func(_, response map[string]any) {
		response["patchType"], response["patch"] = "MergePatch", []byte(`{"a":1}`)
	},
	"patch-empty-type": func(_, response map[string]any) { response["patchType"], response["patch"] = "", []byte(`[]`) },
	"patch-undecodable": func(_, response map[string]any) {
		response["patchType"], response["patch"] = "JSONPatch", []byte(`{"a":1}`)
	},
	"patch-not-json": func(_, response map[string]any) {
		response["patchType"], response["patch"] = "JSONPatch", []byte(`hello`)
	},
	"patch-not-base64": func(_, response map[string]any) { response["patchType"], response["patch"] = "JSONPatch", "!!" },
	"patch-once": func(request, response map[string]any) {
		o, _ := request["object"].(map[string]any)
		labels, _ := o["metadata"].(map[string]any)["labels"].(map[string]any)
		if labels["once"] == nil {
			response["patchType"], response["patch"] = "JSONPatch", []byte(`[{"op":"add","path":"/metadata/labels/once","value":"yes"}]`)
		}
	},
	"patch-count": func(request, response map[string]any) {
		o, _ := request["object"].(map[string]any)
		labels, _ := o["metadata"].(map[string]any)["labels"].(map[string]any)
		count, _ := labels["count"].(string)
		response["patchType"] = "JSONPatch"
		response["patch"] = []byte(`[{"op":"add","path":"/metadata/labels/count","value":"` + count + `x"}]`)
	},
}

// patches are patches of mutating webhooks.
var patches = map[string]string{
	"label":            `[{"op":"add","path":"/metadata/labels/patched","value":"yes"}]`,
	"nothing":          `[]`,
	"uid":              `[{"op":"add","path":"/metadata/uid","value":"mine"}]`,
	"name":             `[{"op":"replace","path":"/metadata/name","value":"other"}]`,
	"no-name":          `[{"op":"remove","path":"/metadata/name"}]`,
	"generate-name":    `[{"op":"add","path":"/metadata/generateName","value":"made-"},{"op":"remove","path":"/metadata/name"}]`,
	"namespace":        `[{"op":"replace","path":"/metadata/namespace","value":"default"}]`,
	"no-namespace":     `[{"op":"remove","path":"/metadata/namespace"}]`,
	"version":          `[{"op":"add","path":"/metadata/resourceVersion","value":"1"}]`,
	"version-rubbish":  `[{"op":"add","path":"/metadata/resourceVersion","value":"x"}]`,
	"creation":         `[{"op":"add","path":"/metadata/creationTimestamp","value":"2001-01-01T00:00:00Z"}]`,
	"deletion":         `[{"op":"add","path":"/metadata/deletionTimestamp","value":"2001-01-01T00:00:00Z"}]`,
	"generation":       `[{"op":"add","path":"/metadata/generation","value":77}]`,
	"finalizer":        `[{"op":"add","path":"/metadata/finalizers","value":["example.com/f"]}]`,
	"owners":           `[{"op":"add","path":"/metadata/ownerReferences","value":[{"apiVersion":"v1","kind":"Secret","name":"a","uid":"1"},{"apiVersion":"v1","kind":"Secret","name":"a","uid":"1"}]}]`,
	"kind":             `[{"op":"replace","path":"/kind","value":"Secret"}]`,
	"no-kind":          `[{"op":"remove","path":"/kind"}]`,
	"unknown-kind":     `[{"op":"replace","path":"/kind","value":"Nothing"}]`,
	"api-version":      `[{"op":"replace","path":"/apiVersion","value":"v2"}]`,
	"no-api-version":   `[{"op":"remove","path":"/apiVersion"}]`,
	"status-patch":     `[{"op":"add","path":"/status","value":{"replicas":9,"observedGeneration":9}}]`,
	"managers":         `[{"op":"add","path":"/metadata/managedFields","value":[{"manager":"x","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{}}}]}]`,
	"managers-rubbish": `[{"op":"add","path":"/metadata/managedFields","value":[{"manager":"x","operation":"Dance","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{}}}]}]`,
	"no-managers":      `[{"op":"remove","path":"/metadata/managedFields"}]`,
	"unknown-field":    `[{"op":"add","path":"/nobody","value":{"knows":1}}]`,
	"wrong-type":       `[{"op":"add","path":"/data","value":{"a":5}}]`,
	"replicas-text":    `[{"op":"replace","path":"/spec/replicas","value":"many"}]`,
	"labels-number":    `[{"op":"add","path":"/metadata/labels","value":{"a":5}}]`,
	"metadata-list":    `[{"op":"replace","path":"/metadata","value":[]}]`,
	"invalid-label":    `[{"op":"add","path":"/metadata/labels/patched","value":"not valid!"}]`,
	"missing-path":     `[{"op":"replace","path":"/spec/no/such","value":1}]`,
	"test-fails":       `[{"op":"test","path":"/metadata/name","value":"somebody"}]`,
	"bad-op":           `[{"op":"dance","path":"/metadata"}]`,
	"whole":            `[{"op":"replace","path":"","value":{}}]`,
	"text":             `[{"op":"replace","path":"","value":"text"}]`,
	"data":             `[{"op":"add","path":"/data","value":{"from":"webhook"}}]`,
	"spec-color":       `[{"op":"add","path":"/spec/color","value":"red"}]`,
	"spec-size-text":   `[{"op":"add","path":"/spec/size","value":"big"}]`,
	"spec-unknown":     `[{"op":"add","path":"/spec/unknown","value":"gone"}]`,
	"cr-status":        `[{"op":"add","path":"/status","value":{"phase":"Ready"}}]`,
}

// raw are answers that are no AdmissionReviews.
var raw = map[string]func(http.ResponseWriter, *http.Request, *hooks){
	"empty":    func(http.ResponseWriter, *http.Request, *hooks) {},
	"not-json": func(w http.ResponseWriter, _ *http.Request, _ *hooks) { _, _ = w.Write([]byte("hello, world")) },
	"html": func(w http.ResponseWriter, _ *http.Request, _ *hooks) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<p>hello"))
	},
	"null": func(w http.ResponseWriter, _ *http.Request, _ *hooks) { _, _ = w.Write([]byte("null")) },
	"list": func(w http.ResponseWriter, _ *http.Request, _ *hooks) { _, _ = w.Write([]byte("[1,2]")) },
	"no-type": func(w http.ResponseWriter, _ *http.Request, _ *hooks) {
		_, _ = w.Write([]byte(`{"response":{"allowed":true}}`))
	},
	"no-response": func(w http.ResponseWriter, _ *http.Request, _ *hooks) {
		_, _ = w.Write([]byte(`{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1"}`))
	},
	"status": func(w http.ResponseWriter, _ *http.Request, _ *hooks) {
		_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","message":"a status","code":403}`))
	},
	"code-500": func(w http.ResponseWriter, _ *http.Request, _ *hooks) { http.Error(w, "it is broken", 500) },
	"code-404": func(w http.ResponseWriter, _ *http.Request, _ *hooks) { http.NotFound(w, nil) },
	"code-204": func(w http.ResponseWriter, _ *http.Request, _ *hooks) { w.WriteHeader(204) },
	"code-status": func(w http.ResponseWriter, _ *http.Request, _ *hooks) {
		w.WriteHeader(403)
		_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","message":"a status","reason":"Forbidden","code":403}`))
	},
	"redirect": func(w http.ResponseWriter, r *http.Request, h *hooks) {
		http.Redirect(w, r, h.server.URL+"/allow", http.StatusTemporaryRedirect)
	},
	"cut": func(http.ResponseWriter, *http.Request, *hooks) { panic(http.ErrAbortHandler) },
	"hang": func(_ http.ResponseWriter, r *http.Request, h *hooks) {
		select {
		case <-r.Context().Done():
		case <-h.stop:
		case <-time.After(time.Minute):
		}
	},
}
