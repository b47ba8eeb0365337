// Package recorded is for tests that compare answers with recorded answers of a kube-apiserver. It reads and sends the requests in
// their files, and writes answers as text without what differs between two runs.
package recorded

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Separator is between the answers in a file.
const Separator = "--------\n"

// Request is a request in a file: a line with the method, the path and the media type, and then the body.
type Request struct{ Method, Path, MediaType, Body string }

// Parse reads a request. One that has no media type gets mediaType.
func Parse(text, mediaType string) Request {
	head, body, _ := strings.Cut(text, "\n")
	words := append(strings.Fields(head), mediaType)
	return Request{words[0], words[1], words[2], body}
}

// String returns the request in the form that Parse reads.
func (r Request) String() string {
	return r.Method + " " + r.Path + " " + r.MediaType + "\n" + r.Body
}

// Send sends the request to the server at a URL, and returns the answer and its body. A path with table=1 asks for a table.
func (r Request) Send(t testing.TB, client *http.Client, server string) (*http.Response, []byte) {
	t.Helper()
	req, err := http.NewRequest(r.Method, server+r.Path, strings.NewReader(r.Body))
	require.NoError(t, err)
	req.Header.Set("User-Agent", "recorder")
	if r.Body != "" {
		req.Header.Set("Content-Type", r.MediaType)
	}
	if strings.Contains(r.Path, "table=1") {
		req.Header.Set("Accept", "application/json;as=Table;g=meta.k8s.io;v=v1")
	}
	resp, err := client.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp, body
}

// Mask is a part of a text that differs between two runs, and what Text writes in its place.
type Mask struct {
	Part *regexp.Regexp
	By   string
}

// Text returns a JSON document as indented text. Masks replace parts of it, after those for UIDs, times and resource versions. The
// entries of managedFields are sorted in the document, since their order depends on the seconds in which they were written.
func Text(t testing.TB, document any, masks ...Mask) string {
	t.Helper()
	sortManagers(document)
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	require.NoError(t, e.Encode(document))
	text := b.String()
	for _, m := range slices.Concat([]Mask{
		{regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`), "UID"},
		{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`), "TIME"},
		{regexp.MustCompile(`"resourceVersion": "\d+"`), `"resourceVersion": "VERSION"`},
	}, masks) {
		text = m.Part.ReplaceAllString(text, m.By)
	}
	return text
}

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
