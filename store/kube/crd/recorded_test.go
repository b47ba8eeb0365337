package crd_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
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
)

var recordFrom = flag.String("server", "", "URL of a kube-apiserver whose answers are recorded")

// project returns the definition of a project in testdata.
func project(t testing.TB, name string) string {
	f, err := os.Open(filepath.Join("testdata", "projects", name+".yaml.gz"))
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	data, err := io.ReadAll(z)
	require.NoError(t, err)
	return string(data)
}

// request is one request of a scenario.
type request struct{ method, path, mediaType, body string }

func requests(t testing.TB, file string) (all []request) {
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	for block := range strings.SplitSeq(strings.TrimSpace(string(data)), "\n\n") {
		head, body, _ := strings.Cut(block, "\n")
		words := append(strings.Fields(head), "application/json")
		all = append(all, request{words[0], words[1], words[2], body})
	}
	return all
}

// send sends a request and returns the status and the document of the answer.
func (r request) send(t testing.TB, client *http.Client, server string) (int, any) {
	req, err := http.NewRequest(r.method, server+r.path, strings.NewReader(r.body))
	require.NoError(t, err)
	req.Header.Set("User-Agent", "recorder")
	if r.body != "" {
		req.Header.Set("Content-Type", r.mediaType)
	}
	if strings.Contains(r.path, "table=1") {
		req.Header.Set("Accept", "application/json;as=Table;g=meta.k8s.io;v=v1")
	}
	resp, err := client.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	var doc any
	require.NoError(t, json.Unmarshal(data, &doc), "%s", data)
	if warnings := resp.Header.Values("Warning"); warnings != nil {
		doc = map[string]any{"warnings": warnings, "document": doc}
	}
	return resp.StatusCode, doc
}

var (
	aUID     = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
	aTime    = regexp.MustCompile(`"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"`)
	aVersion = regexp.MustCompile(`"resourceVersion": "\d+"`)
	anAge    = regexp.MustCompile(`^(\s+)"(?:\d+[dhms])+"(,?)$`)
)

// normal returns a status and a document as text without what differs between two runs.
func normal(t testing.TB, status int, doc any) string {
	sortCauses(doc)
	sortManagers(doc)
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	require.NoError(t, enc.Encode(doc))
	text := aUID.ReplaceAllString(b.String(), "UID")
	text = aTime.ReplaceAllString(text, `"TIME"`)
	text = aVersion.ReplaceAllString(text, `"resourceVersion": "VERSION"`)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = anAge.ReplaceAllString(line, `$1"AGE"$2`)
	}
	return fmt.Sprintf("%d\n%s", status, strings.Join(lines, "\n"))
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

const separator = "--------\n"

// TestProjects compares the answers to requests for objects of real projects with recorded ones.
func TestProjects(t *testing.T) {
	files, err := filepath.Glob("testdata/projects/*.requests")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".requests")
		t.Run(name, func(t *testing.T) {
			all, recorded := requests(t, file), strings.TrimSuffix(file, ".requests")+".answers"
			name, _, _ := strings.Cut(name, "-")
			if *recordFrom != "" {
				record(t, project(t, name), all, recorded)
			}
			data, err := os.ReadFile(recorded)
			require.NoError(t, err)
			want := strings.Split(string(data), separator)
			require.Len(t, want, len(all))
			s := serve(t, parse(t, project(t, name))...)
			for i, r := range all {
				status, doc := r.send(t, &s.client, "http://server")
				assert.Equal(t, want[i], normal(t, status, doc), "%d: %s %s\n%s", i+1, r.method, r.path, r.body)
			}
		})
	}
}

// record plays requests to a kube-apiserver and writes its answers to a file.
func record(t *testing.T, definition string, all []request, file string) {
	var parsed struct {
		Metadata struct {
			Name string `json:"name"`
		} `json:"metadata"`
	}
	text := asJSON(t, definition)
	require.NoError(t, json.Unmarshal([]byte(text), &parsed))
	client := &http.Client{}
	status, doc := request{"POST", definitionsPath, "application/json", text}.send(t, client, *recordFrom)
	for status == http.StatusConflict { // another scenario has just deleted it
		time.Sleep(time.Second)
		status, doc = request{"POST", definitionsPath, "application/json", text}.send(t, client, *recordFrom)
	}
	require.Equal(t, http.StatusCreated, status, "%v", doc)
	defer func() {
		request{"DELETE", definitionsPath + "/" + parsed.Metadata.Name, "", ""}.send(t, client, *recordFrom)
	}()
	time.Sleep(3 * time.Second) // a real server serves a new definition late
	var answers []string
	for _, r := range all {
		status, doc := r.send(t, client, *recordFrom)
		answers = append(answers, normal(t, status, doc))
	}
	require.NoError(t, os.WriteFile(file, []byte(strings.Join(answers, separator)), 0o644))
}
