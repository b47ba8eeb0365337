package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/kubecoord/kubecoord/internal/test/etcd/referee/reference"
)

// recording is what one server has and answers. Each member is a text by the name of what it describes.
type recording struct{ gates, kinds, fields, answers, wire map[string]string }

// record starts the server of a binary without flags that only some versions know, and records it.
func (u *upgrade) record(ctx context.Context, name, binary string) (r recording, err error) {
	server, err := reference.StartPlain(ctx, binary)
	if err != nil {
		return recording{}, err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	proxy := httptest.NewServer(newProxy(server))
	defer proxy.Close()
	if r.gates, err = gates(ctx, server); err != nil {
		return r, err
	}
	if r.kinds, err = resources(ctx, server); err != nil {
		return r, err
	}
	if r.fields, err = fields(ctx, server); err != nil {
		return r, err
	}
	module := filepath.Join(u.tree(), "internal/test/kube/kinds")
	recorded := filepath.Join(module, "testdata/answers")
	if err := errors.Join(os.RemoveAll(recorded), os.Mkdir(recorded, 0o755)); err != nil { // no answer of another server stays
		return r, err
	}
	if _, err := command(ctx, module, "go", "test", ".", "-count=1", "-timeout=1h", "-run=^TestRecord$", "-url="+proxy.URL); err != nil {
		log.Printf("%s: not all answers are recorded: %v", name, err)
	}
	answers := filepath.Join(u.scratch, "answers-"+name)
	if err := os.CopyFS(answers, os.DirFS(recorded)); err != nil {
		return r, err
	}
	r.answers, err = readAnswers(answers)
	return r, err
}

// newProxy returns a handler that passes requests on with the credentials of the server, and makes a namespace before the first write in it.
func newProxy(server *reference.Server) http.Handler {
	target, _ := url.Parse(server.URL())
	proxy := &httputil.ReverseProxy{Transport: server, FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }}
	var made sync.Map
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, below, _ := strings.Cut(r.URL.Path, "/namespaces/")
		if name, _, inside := strings.Cut(below, "/"); inside && r.Method != http.MethodGet {
			once, _ := made.LoadOrStore(name, sync.OnceFunc(func() {
				if err := server.CreateNamespace(r.Context(), name); err != nil {
					log.Print(err)
				}
			}))
			once.(func())()
		}
		proxy.ServeHTTP(w, r)
	})
}

func get(ctx context.Context, server *reference.Server, path, accept string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL()+path, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", accept)
	resp, err := server.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("GET %s: %d %s", path, resp.StatusCode, data)
	}
	return data, err
}

// gates returns the stage and the default of each feature gate.
func gates(ctx context.Context, server *reference.Server) (map[string]string, error) {
	data, err := get(ctx, server, "/metrics", "text/plain")
	out := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^kubernetes_feature_enabled\{name="(\w+)",stage="(\w*)"\} (\d)`).FindAllSubmatch(data, -1) {
		out[string(m[1])] = map[string]string{"0": "off", "1": "on"}[string(m[3])] + " " + string(m[2])
	}
	return out, err
}

// resources returns how discovery describes each resource and subresource.
func resources(ctx context.Context, server *reference.Server) (map[string]string, error) {
	type described struct {
		Resource, Subresource, Scope, SingularResource string
		Verbs, ShortNames, Categories                  []string
		Subresources                                   []described
		ResponseKind                                   struct{ Kind string }
	}
	out := map[string]string{}
	for _, path := range []string{"/api", "/apis"} {
		data, err := get(ctx, server, path, "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList")
		if err != nil {
			return nil, err
		}
		var list struct {
			Items []struct {
				Metadata struct{ Name string }
				Versions []struct {
					Version   string
					Resources []described
				}
			}
		}
		if err := json.Unmarshal(data, &list); err != nil {
			return nil, err
		}
		for _, group := range list.Items {
			for _, v := range group.Versions {
				for _, r := range v.Resources {
					name := strings.TrimPrefix(group.Metadata.Name+"/"+v.Version+" "+r.Resource, "/")
					out[name] = fmt.Sprint(r.ResponseKind.Kind, " ", r.Scope, " ", r.Verbs, r.ShortNames, r.Categories)
					for _, sub := range r.Subresources {
						out[name+"/"+sub.Subresource] = fmt.Sprint(sub.ResponseKind.Kind, " ", sub.Verbs)
					}
				}
			}
		}
	}
	return out, nil
}

// fields returns the form of each field of each type in the OpenAPI documents.
func fields(ctx context.Context, server *reference.Server) (map[string]string, error) {
	data, err := get(ctx, server, "/openapi/v3", "application/json")
	if err != nil {
		return nil, err
	}
	var index struct {
		Paths map[string]struct{ ServerRelativeURL string }
	}
	if err := json.Unmarshal(data, &index); err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, path := range index.Paths {
		data, err := get(ctx, server, path.ServerRelativeURL, "application/json")
		if err != nil {
			return nil, err
		}
		var doc struct {
			Components struct {
				Schemas map[string]struct {
					Required   []string
					Properties map[string]map[string]any
				}
			}
		}
		if err := json.Unmarshal(data, &doc); err != nil {
			return nil, err
		}
		for name, s := range doc.Components.Schemas {
			for member, p := range s.Properties {
				delete(p, "description")
				if slices.Contains(s.Required, member) {
					p["required"] = true
				}
				form, err := json.Marshal(p)
				if err != nil {
					return nil, err
				}
				out[strings.TrimPrefix(name, "io.k8s.")+"."+member] = string(form)
			}
		}
	}
	return out, nil
}

// readAnswers returns each answer of the recorded scenarios.
func readAnswers(dir string) (map[string]string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.json.gz"))
	out := map[string]string{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		unpacked, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, err
		}
		var answers []map[string]any
		if err := json.NewDecoder(unpacked).Decode(&answers); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		for i, a := range answers {
			text, err := json.Marshal(a)
			if err != nil {
				return nil, err
			}
			out[fmt.Sprintf("%s %03d %v", strings.TrimSuffix(filepath.Base(file), ".json.gz"), i, a["Step"])] = string(text)
		}
	}
	return out, err
}

// playWire plays the scenarios of httpapi/testdata/wire, and returns the lines of the files that would be recorded again. The file of a
// scenario that does not differ has the lines of today.
func (u *upgrade) playWire(ctx context.Context, binary string) (map[string]string, error) {
	cmd := []string{"KUBE_APISERVER=" + binary, "go", "test", "./reference", "-count=1", "-timeout=1h", "-run=Recorded/kube-apiserver", "-all", "-write"}
	if _, err := command(ctx, filepath.Join(u.tree(), "internal/test/etcd/referee"), "env", cmd...); err != nil {
		return map[string]string{"the server": err.Error()}, nil
	}
	today, err := lines(filepath.Join(u.root, "httpapi/testdata/wire"))
	if err != nil {
		return nil, err
	}
	next, err := lines(filepath.Join(u.tree(), "httpapi/testdata/wire"))
	maps.DeleteFunc(next, func(line, _ string) bool { _, same := today[line]; return same })
	return next, err
}

// lines returns the lines of the scenarios in a folder.
func lines(dir string) (map[string]string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	out := map[string]string{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(data)) {
			out[filepath.Base(file)+" "+strings.TrimSpace(line)] = ""
		}
	}
	return out, err
}
