package cluster

import (
	"bytes"
	"cmp"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kubecoord/kubecoord/internal/test/exchange"
)

// hooks is the webhook server of a play. The path of a call names the answer.
type hooks struct {
	p           *play
	server      *httptest.Server
	ca, otherCA string // base64 of PEM
	ordered     bool   // calls come in a fixed order, which take keeps

	mu      sync.Mutex // guards all below
	calls   []any
	probes  map[string]int
	answers map[string]answer
}

// answer is the answer of a webhook: a response, to which the uid is added, or a whole body.
type answer struct {
	response string // JSON of the response, without uid
	status   int    // of a whole body
	kind     string // its media type, JSON if empty
	body     string // UID stands for the uid of the request
	location string
	hang     bool
	cut      bool // the connection ends without an answer
	// Of the conversion webhook: convert changes each converted object, back is the path of a request to the server before the
	// answer, and pad is how many spaces follow the answer.
	convert func(o map[string]any)
	back    string
	pad     int
}

func newHooks(p *play) *hooks {
	h := &hooks{p: p, probes: map[string]int{}, answers: map[string]answer{}}
	h.server = httptest.NewUnstartedServer(http.HandlerFunc(h.serve))
	h.server.Config.ErrorLog = log.New(io.Discard, "", 0) // handshakes that fail are expected
	h.server.StartTLS()
	h.ca = base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: h.server.Certificate().Raw}))
	h.otherCA = base64.StdEncoding.EncodeToString(anotherCA())
	return h
}

// port returns the port of the server.
func (h *hooks) port() string { return h.server.URL[strings.LastIndexByte(h.server.URL, ':')+1:] }

func (h *hooks) close() {
	h.server.CloseClientConnections()
	h.server.Close()
}

// anotherCA returns a certificate that has signed nothing.
func anotherCA() []byte {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil
	}
	ca := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "other"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, ca, ca, key.Public(), key)
	if err != nil {
		return nil
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

func (h *hooks) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	if name, ok := strings.CutPrefix(r.URL.Path, "/probe/"); ok {
		h.mu.Lock()
		h.probes[name]++
		h.mu.Unlock()
		h.write(w, body, `{"allowed":true}`)
		return
	}
	tree, _, err := exchange.Parse(body)
	if err != nil {
		tree = string(body)
	}
	h.mu.Lock()
	switch {
	case strings.HasPrefix(r.URL.Path, "/apis"):
		if strings.Contains(r.URL.Path, "/namespaces/") { // a server asks for the discovery by itself
			h.calls = append(h.calls, passedOn(r, string(body)))
		}
	case strings.HasPrefix(r.URL.Path, "/openapi"): // as for the discovery
	case !strings.HasPrefix(r.URL.Path, "/convert"): // how often a server converts depends on its caches
		h.calls = append(h.calls, exchange.Object{{Key: "path", Value: r.URL.String()}, {Key: "type", Value: r.Header.Get("Content-Type")}, {Key: "review", Value: tree}})
	}
	a := h.answers[r.URL.Path]
	h.mu.Unlock()
	switch {
	case a.cut:
		panic(http.ErrAbortHandler)
	case a.hang:
		if h.p.player.Hung != nil {
			h.p.player.Hung()
		}
		<-r.Context().Done()
	case a.location != "":
		w.Header().Set("Location", a.location)
		w.WriteHeader(a.status)
	case a.status != 0:
		w.Header().Set("Content-Type", cmp.Or(a.kind, "application/json"))
		w.WriteHeader(a.status)
		fmt.Fprint(w, strings.ReplaceAll(a.body, "UID", exchange.TextAt(tree, "request", "uid")))
	case strings.HasPrefix(r.URL.Path, "/convert"):
		if a.back != "" {
			if resp, _, err := h.p.Send(http.MethodGet, a.back, ""); err != nil || resp.StatusCode != http.StatusOK {
				a.response = `{"result":{"status":"Failure","message":"the server does not answer"}}`
			}
		}
		convert(w, body, a)
		_, _ = w.Write(bytes.Repeat([]byte(" "), a.pad)) // the client may be gone
	case a.response != "":
		h.write(w, body, a.response)
	default:
		h.write(w, body, `{"allowed":true}`)
	}
}

// passedOn returns what a server has passed on to the server of another group.
func passedOn(r *http.Request, body string) exchange.Object {
	call := exchange.Object{{Key: "path", Value: r.Method + " " + r.URL.String()}, {Key: "host", Value: r.Host}, {Key: "body", Value: body}}
	names := slices.Sorted(maps.Keys(r.Header))
	for _, name := range names {
		if name != "Audit-Id" {
			call = append(call, exchange.Member{Key: name, Value: strings.Join(r.Header[name], " | ")})
		}
	}
	return call
}

// write answers a review.
func (h *hooks) write(w http.ResponseWriter, body []byte, response string) {
	var review map[string]any
	members := map[string]any{}
	tree, _, err := exchange.Parse(body)
	response = strings.ReplaceAll(h.p.text(response), "COUNT", exchange.TextAt(tree, "request", "object", "metadata", "labels", "count"))
	if err != nil || json.Unmarshal(body, &review) != nil || json.Unmarshal([]byte(response), &members) != nil {
		w.WriteHeader(http.StatusTeapot)
		return
	}
	request, _ := review["request"].(map[string]any)
	members["uid"] = request["uid"]
	if patch, ok := members["patch"]; ok {
		data, _ := json.Marshal(patch) // came from JSON
		members["patch"] = data
		members["patchType"] = "JSONPatch"
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"apiVersion": review["apiVersion"], "kind": "AdmissionReview", "response": members})
}

// take returns the calls since the last take, in the order of their paths, because validating webhooks are called at the same time.
func (h *hooks) take() []any {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := h.calls
	h.calls = nil
	if h.ordered {
		return out
	}
	slices.SortStableFunc(out, func(a, b any) int { return cmp.Compare(exchange.TextAt(a, "path"), exchange.TextAt(b, "path")) })
	return out
}

// on sets the response of a path.
func (p *play) on(path, response string) {
	p.hooks.mu.Lock()
	defer p.hooks.mu.Unlock()
	p.hooks.answers[path] = answer{response: response}
}

// raw sets a whole answer of a path.
func (p *play) raw(path string, a answer) {
	p.hooks.mu.Lock()
	defer p.hooks.mu.Unlock()
	p.hooks.answers[path] = a
}

// hook returns a webhook of a configuration as YAML. Members may override the ones that it has.
func hook(name, path, members string) string {
	for _, m := range []struct{ name, text string }{
		{"clientConfig", `{url: "WEBHOOKS` + path + `", caBundle: CABUNDLE}`},
		{"sideEffects", "None"},
		{"admissionReviewVersions", "[v1]"},
		{"namespaceSelector", "{matchLabels: {kubernetes.io/metadata.name: NAMESPACE}}"},
		{"rules", `[{apiGroups: [""], apiVersions: [v1], resources: [configmaps], operations: ["*"]}]`},
		{"objectSelector", "{matchExpressions: [{key: probe, operator: DoesNotExist}]}"},
		{"timeoutSeconds", "5"},
	} {
		if !strings.Contains(members, m.name+":") {
			members = strings.TrimPrefix(members+", "+m.name+": "+m.text, ", ")
		}
	}
	return "{name: " + name + ".example.com, " + members + "}"
}

const (
	validating = "ValidatingWebhookConfiguration"
	mutating   = "MutatingWebhookConfiguration"
)

// configure creates a configuration, and waits until the server knows it. name contains the id of the run.
func (p *play) configure(kind, name string, webhooks ...string) {
	path := "/apis/admissionregistration.k8s.io/v1/" + strings.ToLower(kind) + "s"
	webhooks = append(webhooks, hook("probe", "/probe/"+name, "objectSelector: {matchLabels: {probe: "+name+"}}"))
	p.must(http.MethodPost, path, "{apiVersion: admissionregistration.k8s.io/v1, kind: "+kind+", metadata: {name: "+name+"}, webhooks: ["+strings.Join(webhooks, ", ")+"]}")
	p.cleanup = append(p.cleanup, path+"/"+name)
	p.until("configuration "+name, http.MethodPost, configMaps+"?dryRun=All", configMap("probe", "labels: {probe: "+name+"}"), func(int, []byte) bool { return p.hooks.probed(p.text(name)) })
}

// drop deletes a configuration, and waits until the server has forgotten it.
func (p *play) drop(kind, name string) {
	p.must(http.MethodDelete, "/apis/admissionregistration.k8s.io/v1/"+strings.ToLower(kind)+"s/"+name, "")
	p.until("end of configuration "+name, http.MethodPost, configMaps+"?dryRun=All", configMap("probe", "labels: {probe: "+name+"}"), func(int, []byte) bool { return !p.hooks.probed(p.text(name)) })
}

// probed reports whether a probe was called since it was last asked for.
func (h *hooks) probed(name string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := h.probes[name]
	h.probes[name] = 0
	return n > 0
}

const configMaps = "/api/v1/namespaces/NAMESPACE/configmaps"

func configMap(name, metadata string) string {
	if metadata != "" {
		metadata = ", " + metadata
	}
	return "{apiVersion: v1, kind: ConfigMap, metadata: {name: " + name + metadata + "}, data: {a: b}}"
}

// convert is a conversion webhook: spec.size of v1 is spec.length of v1beta1.
func convert(w http.ResponseWriter, body []byte, a answer) {
	var review map[string]any
	if json.Unmarshal(body, &review) != nil {
		return
	}
	request, _ := review["request"].(map[string]any)
	objects, _ := request["objects"].([]any)
	for _, o := range objects {
		tree, _ := o.(map[string]any)
		spec, _ := tree["spec"].(map[string]any)
		from, to := "size", "length"
		if request["desiredAPIVersion"] == "cluster.example.com/v1" {
			from, to = to, from
		}
		if v, ok := spec[from]; ok {
			spec[to] = v
			delete(spec, from)
		}
		tree["apiVersion"] = request["desiredAPIVersion"]
		if a.convert != nil {
			a.convert(tree)
		}
	}
	response := map[string]any{"result": map[string]any{"status": "Success"}, "convertedObjects": objects}
	if a.response != "" {
		_ = json.Unmarshal([]byte(a.response), &response)
	}
	response["uid"] = request["uid"]
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"apiVersion": review["apiVersion"], "kind": "ConversionReview", "response": response})
}

// sortEvents puts events in the order of their objects.
func sortEvents(events []any) {
	key := func(e any) string {
		return exchange.TextAt(e, "object", "kind") + "/" + exchange.TextAt(e, "object", "metadata", "namespace") + "/" + exchange.TextAt(e, "object", "metadata", "name")
	}
	slices.SortStableFunc(events, func(a, b any) int { return strings.Compare(key(a), key(b)) })
}
