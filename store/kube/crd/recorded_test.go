package crd_test

import (
	"encoding/json"
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

	"github.com/kubecoord/kubecoord/store/kube/crd"
	"github.com/kubecoord/kubecoord/store/kube/internal/recorded"
)

var recordFrom = flag.String("server", "", "URL of a kube-apiserver whose answers are recorded")

func requests(t testing.TB, file string) (all []recorded.Request) {
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	for block := range strings.SplitSeq(strings.TrimSpace(string(data)), "\n\n") {
		all = append(all, recorded.Parse(block, "application/json"))
	}
	return all
}

// send sends a request and returns the status and the document of the answer.
func send(t testing.TB, r recorded.Request, client *http.Client, server string) (int, any) {
	resp, data := r.Send(t, client, server)
	var doc any
	require.NoError(t, json.Unmarshal(data, &doc), "%s", data)
	if warnings := resp.Header.Values("Warning"); warnings != nil {
		doc = map[string]any{"warnings": warnings, "document": doc}
	}
	return resp.StatusCode, doc
}

// normal returns a status and a document as text without what differs between two runs.
func normal(t testing.TB, status int, doc any) string {
	sortCauses(doc)
	age := recorded.Mask{Part: regexp.MustCompile(`(?m)^(\s+)"(?:\d+[dhms])+"(,?)$`), By: `$1"AGE"$2`}
	return fmt.Sprintf("%d\n%s", status, recorded.Text(t, doc, age))
}

// sortCauses orders the causes of a Status, which are in random order in the answers of a real server, and drops the message
// that joins them.
func sortCauses(doc any) {
	status, _ := doc.(map[string]any)
	details, _ := status["details"].(map[string]any)
	causes, _ := details["causes"].([]any)
	if len(causes) < 2 {
		return
	}
	slices.SortFunc(causes, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	delete(status, "message")
}

// versions are the resourceVersions of the last two answers with one. A body may name them as $version
// and $before: a write with $before is a conflict unless the write before it changed nothing.
type versions struct{ version, before string }

func (v *versions) in(r recorded.Request) recorded.Request {
	r.Body = strings.NewReplacer("$version", v.version, "$before", v.before).Replace(r.Body)
	return r
}

func (v *versions) see(doc any) {
	of, _ := doc.(map[string]any)
	if inner, ok := of["document"].(map[string]any); ok {
		of = inner
	}
	m, _ := of["metadata"].(map[string]any)
	if text, _ := m["resourceVersion"].(string); text != "" {
		v.version, v.before = text, v.version
	}
}

// TestProjects compares the answers to requests for objects of real projects with recorded ones.
func TestProjects(t *testing.T) {
	files, err := filepath.Glob("testdata/projects/*.requests")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".requests")
		t.Run(name, func(t *testing.T) {
			all, answers := requests(t, file), strings.TrimSuffix(file, ".requests")+".answers"
			name, _, _ := strings.Cut(name, "-")
			if *recordFrom != "" {
				record(t, string(crd.ReadProject(t, name)), all, answers)
			}
			data, err := os.ReadFile(answers)
			require.NoError(t, err)
			want := strings.Split(string(data), recorded.Separator)
			require.Len(t, want, len(all))
			s := serve(t, parse(t, string(crd.ReadProject(t, name)))...)
			var seen versions
			for i, r := range all {
				status, doc := send(t, seen.in(r), &s.client, "http://server")
				seen.see(doc)
				assert.Equal(t, want[i], normal(t, status, doc), "%d: %s %s\n%s", i+1, r.Method, r.Path, r.Body)
			}
		})
	}
}

// record plays requests to a kube-apiserver and writes its answers to a file.
func record(t *testing.T, definition string, all []recorded.Request, file string) {
	var parsed struct {
		Metadata struct {
			Name string `json:"name"`
		} `json:"metadata"`
	}
	text := asJSON(t, definition)
	require.NoError(t, json.Unmarshal([]byte(text), &parsed))
	client := &http.Client{}
	create := recorded.Request{Method: http.MethodPost, Path: definitionsPath, MediaType: "application/json", Body: text}
	status, doc := send(t, create, client, *recordFrom)
	for status == http.StatusConflict { // another scenario has just deleted it
		time.Sleep(time.Second)
		status, doc = send(t, create, client, *recordFrom)
	}
	require.Equal(t, http.StatusCreated, status, "%v", doc)
	defer func() {
		send(t, recorded.Request{Method: http.MethodDelete, Path: definitionsPath + "/" + parsed.Metadata.Name}, client, *recordFrom)
	}()
	time.Sleep(3 * time.Second) // a real server serves a new definition late
	var answers []string
	var seen versions
	for _, r := range all {
		status, doc := send(t, seen.in(r), client, *recordFrom)
		seen.see(doc)
		answers = append(answers, normal(t, status, doc))
	}
	require.NoError(t, os.WriteFile(file, []byte(strings.Join(answers, recorded.Separator)), 0o644))
}
