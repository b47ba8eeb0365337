package admission

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"flag"
	"fmt"
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
	"github.com/kubecoord/kubecoord/store/kube/internal/recorded"
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
			want := strings.Split(string(data), recorded.Separator)
			require.Len(t, want, len(all))
			s := newServer(t, Options{Runs: runs("")}, asAdmin)
			client := &http.Client{Transport: s.api.Transport()}
			for i, r := range all {
				want, got := want[i], exchange(t, r, client, s.api.Host(), hooks)
				if seesMore.MatchString(r.String()) {
					want, got = withoutCalls(want), withoutCalls(got)
				}
				assert.Equal(t, want, got, "%d: %s", i+1, r)
				if r.Method == http.MethodPost && strings.HasSuffix(r.Path, "/customresourcedefinitions") {
					awaitEstablished(t, client, s.api.Host()+r.Path)
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

// seesMore matches requests whose webhooks get more members from a real server: it prunes a custom resource after admission, when it
// stores the object.
var seesMore = regexp.MustCompile(`hook: (spec-unknown|labels-number)|extra: 2`)

func withoutCalls(answer string) string {
	before, _, _ := strings.Cut(answer, ",\n \"calls\"")
	return strings.TrimSuffix(before, "\n}\n")
}

// asAdmin gives all requests the user that recorded requests had.
func asAdmin(o *apitest.Options) {
	o.API.Authenticate = func(*http.Request) (httpapi.User, bool) {
		return httpapi.User{Name: "admin", UID: "admin-uid", Groups: []string{"system:masters", "system:authenticated"}}, true
	}
}

// yaml is the media type of requests that name none.
const yaml = "application/yaml"

// requests reads the requests of a file, which are separated by empty lines. Lines that begin with # are comments. These stand for
// more text:
//
//   - HOOKURL is the URL of the server of webhooks.
//   - HOOK(path) is the clientConfig of the webhook at a path.
//   - HOOKS(namespace|members|names) is a list of webhooks with these members. Each is for objects in the namespace whose
//     label "hook" has its name, which is also its path.
//   - EACH names, as the first line of a request, is the request for each name in place of NAME.
func requests(t *testing.T, file string, hooks *hooks) (all []recorded.Request) {
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
			all = append(all, recorded.Parse(block, yaml))
			continue
		}
		for _, name := range strings.Fields(names) {
			all = append(all, recorded.Parse(strings.ReplaceAll(rest, "NAME", name), yaml))
		}
	}
	return all
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
func exchange(t *testing.T, r recorded.Request, client *http.Client, server string, hooks *hooks) string {
	hooks.take()
	resp, data := r.Send(t, client, server)
	out := map[string]any{"answer": parsed(data)}
	if warnings := resp.Header.Values("Warning"); warnings != nil {
		out["warnings"] = warnings
	}
	if calls := hooks.take(); calls != nil {
		out["calls"] = calls
	}
	text := recorded.Text(t, out,
		recorded.Mask{Part: regexp.MustCompile(`"made-[a-z0-9]{5}"`), By: `"made-RANDOM"`},
		recorded.Mask{Part: regexp.MustCompile(`"caBundle": "[^"]*"`), By: `"caBundle": "CA"`},
		recorded.Mask{Part: regexp.MustCompile(`127\.0\.0\.1:\d+`), By: "ADDRESS"})
	return fmt.Sprintf("%d\n%s", resp.StatusCode, strings.ReplaceAll(text, hooks.server.URL, "URL"))
}

// parsed returns a JSON document as a tree, and other text as it is.
func parsed(data []byte) any {
	var doc any
	if err := json.Unmarshal(data, &doc); err != nil {
		return string(data)
	}
	return doc
}

// record plays requests to a kube-apiserver without controllers, and writes its answers to a file. It deletes what was created.
func record(t *testing.T, hooks *hooks, all []recorded.Request, file string) {
	client := &http.Client{}
	var answers, created []string
	for _, r := range all {
		answers = append(answers, exchange(t, r, client, *recordFrom, hooks))
		if r.Method == http.MethodPost && !strings.Contains(r.Path, "?") {
			if name := regexp.MustCompile(`metadata: {name: "?([-a-z0-9.]+)`).FindStringSubmatch(r.Body); name != nil {
				created = append(created, r.Path+"/"+name[1])
			}
		}
		if strings.Contains(r.Path, "admissionregistration.k8s.io") || strings.Contains(r.Path, "customresourcedefinitions") ||
			strings.Contains(r.Path, "/podtemplates") { // parameters
			time.Sleep(3 * time.Second) // a real server sees it late
		}
	}
	for _, path := range slices.Backward(created) {
		exchange(t, recorded.Request{Method: http.MethodDelete, Path: path}, client, *recordFrom, hooks)
		if name, ok := strings.CutPrefix(path, "/api/v1/namespaces/"); ok && !strings.Contains(name, "/") {
			removeNamespace(t, client, name, hooks)
		}
	}
	require.NoError(t, os.WriteFile(file, []byte(strings.Join(answers, recorded.Separator)), 0o644))
}

// removeNamespace removes a deleted namespace and what is in it, as the controller of namespaces does.
func removeNamespace(t *testing.T, client *http.Client, name string, hooks *hooks) {
	for _, resource := range []string{
		"api/v1 configmaps", "api/v1 secrets", "api/v1 pods", "api/v1 podtemplates", "api/v1 limitranges", "api/v1 resourcequotas", "api/v1 serviceaccounts",
		"apis/coordination.k8s.io/v1 leases", "apis/apps/v1 deployments", "apis/autoscaling/v2 horizontalpodautoscalers",
	} {
		root, plural, _ := strings.Cut(resource, " ")
		path := "/" + root + "/namespaces/" + name + "/" + plural
		answer := exchange(t, recorded.Request{Method: http.MethodGet, Path: path}, client, *recordFrom, hooks)
		for _, found := range regexp.MustCompile(`"name": "([^"]*)",\s*"namespace"`).FindAllStringSubmatch(answer, -1) {
			exchange(t, recorded.Request{Method: http.MethodPatch, Path: path + "/" + found[1], MediaType: "application/merge-patch+json", Body: `{"metadata":{"finalizers":null}}`}, client, *recordFrom, hooks)
		}
		exchange(t, recorded.Request{Method: http.MethodDelete, Path: path + "?gracePeriodSeconds=0"}, client, *recordFrom, hooks)
	}
	finalized := `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"` + name + `"},"spec":{"finalizers":[]}}`
	exchange(t, recorded.Request{Method: http.MethodPut, Path: "/api/v1/namespaces/" + name + "/finalize", MediaType: "application/json", Body: finalized}, client, *recordFrom, hooks)
}
