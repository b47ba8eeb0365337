package admission

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/apitest"
)

var recordFrom = flag.String("server", "", "URL of a kube-apiserver whose answers are recorded; its user is admin")

// TestAnswersOfARealServer plays the requests in testdata, and compares the answers, and what the webhooks were sent, with
// those of a kube-apiserver.
func TestAnswersOfARealServer(t *testing.T) {
	files, err := filepath.Glob("testdata/*.requests")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".requests"), func(t *testing.T) {
			hooks := newHooks(t)
			all := requests(t, file, hooks)
			answers := strings.TrimSuffix(file, ".requests") + ".answers"
			if *recordFrom != "" {
				record(t, hooks, all, answers)
			}
			data, err := os.ReadFile(answers)
			require.NoError(t, err)
			want := strings.Split(string(data), separator)
			require.Len(t, want, len(all))
			s := newServer(t, Options{Namespaces: true, Webhooks: true, Policies: true}, asAdmin)
			client := &http.Client{Transport: s.api.Transport()}
			for i, r := range all {
				want, got := want[i], r.exchange(t, client, s.api.Host(), hooks)
				if seesMore.MatchString(r.String()) {
					want, got = withoutCalls(want), withoutCalls(got)
				}
				assert.Equal(t, want, got, "%d: %s", i+1, r)
				if r.method == http.MethodPost && strings.HasSuffix(r.path, "/customresourcedefinitions") {
					awaitEstablished(t, client, s.api.Host()+r.path)
				}
			}
		})
	}
}

// awaitEstablished waits until a CustomResourceDefinition is served.
func awaitEstablished(t *testing.T, client *http.Client, definitions string) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, definitions+"?watch=1", nil)
	require.NoError(t, err)
	resp, err := client.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	for events := json.NewDecoder(resp.Body); ; {
		var event struct {
			Object apiextensionsv1.CustomResourceDefinition `json:"object"`
		}
		require.NoError(t, events.Decode(&event))
		if apihelpers.IsCRDConditionTrue(&event.Object, apiextensionsv1.Established) {
			return
		}
	}
}

// seesMore are requests whose webhooks a real server sends more than this one: it removes what the schema of a custom resource
// does not have when it stores the object, after admission.
var seesMore = regexp.MustCompile(`hook: (spec-unknown|labels-number)|extra: 2`)

func withoutCalls(answer string) string {
	before, _, _ := strings.Cut(answer, ",\n \"calls\"")
	return strings.TrimSuffix(before, "\n}\n")
}

// asAdmin makes all requests those of the user of the recorded server.
func asAdmin(o *apitest.Options) {
	o.API.Authenticate = func(*http.Request) (httpapi.User, bool) {
		return httpapi.User{Name: "admin", UID: "admin-uid", Groups: []string{"system:masters", "system:authenticated"}}, true
	}
}

const separator = "--------\n"

// request is one request of a scenario.
type request struct{ method, path, mediaType, body string }

// String returns the request as its file has it.
func (r request) String() string {
	return r.method + " " + r.path + " " + r.mediaType + "\n" + r.body
}

// requests reads the requests of a file, which are separated by empty lines: a line with the method, the path and the media
// type, and then the body. Lines that begin with # are comments. These stand for more text:
//
//   - HOOKURL is the URL of the server of webhooks.
//   - HOOK(path) is the clientConfig of the webhook at a path.
//   - HOOKS(namespace|members|names) is a list of webhooks with these members. Each is for objects in the namespace whose
//     label "hook" has its name, which is also its path.
//   - EACH names, as the first line of a request, is the request for each name in place of NAME.
func requests(t *testing.T, file string, hooks *hooks) (all []request) {
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	text := regexp.MustCompile(`(?m)^#.*\n`).ReplaceAllString(string(data), "")
	text = regexp.MustCompile(`HOOKS\(([^|]*)\|([^|]*)\|([^|)]*)\)`).ReplaceAllStringFunc(text, func(found string) string {
		parts := strings.Split(strings.TrimSuffix(strings.TrimPrefix(found, "HOOKS("), ")"), "|")
		return hookList(parts[0], parts[1], strings.Fields(parts[2]))
	})
	ca := base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: hooks.server.Certificate().Raw}))
	text = regexp.MustCompile(`HOOK\(([^)]*)\)`).ReplaceAllString(text, "{url: \""+hooks.server.URL+"/$1\", caBundle: "+ca+"}")
	text = strings.ReplaceAll(text, "HOOKURL", hooks.server.URL)
	for block := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		first, rest, _ := strings.Cut(block, "\n")
		names, each := strings.CutPrefix(first, "EACH ")
		if !each {
			all = append(all, parseRequest(block))
			continue
		}
		for _, name := range strings.Fields(names) {
			all = append(all, parseRequest(strings.ReplaceAll(rest, "NAME", name)))
		}
	}
	return all
}

func parseRequest(text string) request {
	head, body, _ := strings.Cut(text, "\n")
	words := append(strings.Fields(head), "application/yaml")
	return request{words[0], words[1], words[2], body}
}

func hookList(namespace, members string, names []string) string {
	var all []string
	for _, name := range names {
		all = append(all, "{name: "+name+".example.com, clientConfig: HOOK("+name+"), "+members+", admissionReviewVersions: [v1], "+
			"namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: "+namespace+"}}, objectSelector: {matchLabels: {hook: "+name+"}}}")
	}
	return "[" + strings.Join(all, ", ") + "]"
}

// exchange sends a request, and returns the answer and what the webhooks were sent.
func (r request) exchange(t *testing.T, client *http.Client, server string, hooks *hooks) string {
	hooks.take()
	req, err := http.NewRequest(r.method, server+r.path, strings.NewReader(r.body))
	require.NoError(t, err)
	req.Header.Set("User-Agent", "recorder")
	if r.body != "" {
		req.Header.Set("Content-Type", r.mediaType)
	}
	resp, err := client.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	out := map[string]any{"answer": parsed(data)}
	if warnings := resp.Header.Values("Warning"); warnings != nil {
		out["warnings"] = warnings
	}
	if calls := hooks.take(); calls != nil {
		out["calls"] = calls
	}
	return fmt.Sprintf("%d\n%s", resp.StatusCode, strings.ReplaceAll(normal(t, out), hooks.server.URL, "URL"))
}

// parsed returns a JSON document as a tree, and other text as it is.
func parsed(data []byte) any {
	var doc any
	if err := json.Unmarshal(data, &doc); err != nil {
		return string(data)
	}
	return doc
}

var masks = []struct {
	what *regexp.Regexp
	by   string
}{
	{regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`), "UID"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`), `TIME`},
	{regexp.MustCompile(`"resourceVersion": "\d+"`), `"resourceVersion": "VERSION"`},
	{regexp.MustCompile(`"made-[a-z0-9]{5}"`), `"made-RANDOM"`},
	{regexp.MustCompile(`"caBundle": "[^"]*"`), `"caBundle": "CA"`},
	{regexp.MustCompile(`127\.0\.0\.1:\d+`), "ADDRESS"},
}

// normal returns a document as text without what differs between two runs.
func normal(t *testing.T, doc any) string {
	sortManagers(doc)
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	require.NoError(t, enc.Encode(doc))
	text := b.String()
	for _, m := range masks {
		text = m.what.ReplaceAllString(text, m.by)
	}
	return text
}

// sortManagers orders lists of managers, whose order depends on the seconds in which they wrote.
func sortManagers(tree any) {
	switch tree := tree.(type) {
	case map[string]any:
		if managers, ok := tree["managedFields"].([]any); ok {
			for _, m := range managers {
				m.(map[string]any)["time"] = "TIME"
			}
			slices.SortFunc(managers, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		}
		for _, member := range tree {
			sortManagers(member)
		}
	case []any:
		for _, item := range tree {
			sortManagers(item)
		}
	}
}

// record plays requests to a kube-apiserver without controllers, and writes its answers to a file. It deletes what was created.
func record(t *testing.T, hooks *hooks, all []request, file string) {
	client := &http.Client{}
	var answers, created []string
	for _, r := range all {
		answers = append(answers, r.exchange(t, client, *recordFrom, hooks))
		if r.method == http.MethodPost && !strings.Contains(r.path, "?") {
			if name := regexp.MustCompile(`metadata: {name: "?([-a-z0-9.]+)`).FindStringSubmatch(r.body); name != nil {
				created = append(created, r.path+"/"+name[1])
			}
		}
		if strings.Contains(r.path, "admissionregistration.k8s.io") || strings.Contains(r.path, "customresourcedefinitions") ||
			strings.Contains(r.path, "/podtemplates") { // parameters
			time.Sleep(3 * time.Second) // a real server sees it late
		}
	}
	for _, path := range slices.Backward(created) {
		request{http.MethodDelete, path, "", ""}.exchange(t, client, *recordFrom, hooks)
		if name, ok := strings.CutPrefix(path, "/api/v1/namespaces/"); ok && !strings.Contains(name, "/") {
			removeNamespace(t, client, name, hooks)
		}
	}
	require.NoError(t, os.WriteFile(file, []byte(strings.Join(answers, separator)), 0o644))
}

// removeNamespace removes a deleted namespace and what is in it, as the controller of namespaces does.
func removeNamespace(t *testing.T, client *http.Client, name string, hooks *hooks) {
	for _, resource := range []string{
		"api/v1 configmaps", "api/v1 secrets", "api/v1 pods", "api/v1 podtemplates", "api/v1 limitranges", "api/v1 resourcequotas", "api/v1 serviceaccounts",
		"apis/coordination.k8s.io/v1 leases", "apis/apps/v1 deployments", "apis/autoscaling/v2 horizontalpodautoscalers",
	} {
		root, plural, _ := strings.Cut(resource, " ")
		path := "/" + root + "/namespaces/" + name + "/" + plural
		answer := request{http.MethodGet, path, "", ""}.exchange(t, client, *recordFrom, hooks)
		for _, found := range regexp.MustCompile(`"name": "([^"]*)",\s*"namespace"`).FindAllStringSubmatch(answer, -1) {
			request{http.MethodPatch, path + "/" + found[1], "application/merge-patch+json", `{"metadata":{"finalizers":null}}`}.exchange(t, client, *recordFrom, hooks)
		}
		request{http.MethodDelete, path + "?gracePeriodSeconds=0", "", ""}.exchange(t, client, *recordFrom, hooks)
	}
	request{http.MethodPut, "/api/v1/namespaces/" + name + "/finalize", "application/json",
		`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"` + name + `"},"spec":{"finalizers":[]}}`}.exchange(t, client, *recordFrom, hooks)
}
