//go:build unix

package kubectl

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/test/kube/kubectl/internal/session"
)

var update = flag.Bool("update", false, "record the output of kubectl with the server of KUBECOORD_REFERENCE, or without one the steps that are not for it")

func TestSessionsPrintTheRecordedOutput(t *testing.T) {
	var files []string
	for _, pattern := range []string{"testdata/*.txt", "testdata/kinds/*.txt"} {
		found, err := filepath.Glob(pattern)
		require.NoError(t, err)
		require.NotEmpty(t, found)
		files = append(files, found...)
	}
	for _, file := range files {
		kinds := filepath.Base(filepath.Dir(file)) == "kinds" // needs all kinds of Kubernetes
		t.Run(strings.TrimSuffix(strings.TrimPrefix(file, "testdata/"), ".txt"), func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			s, err := session.Parse(string(data), variants...)
			require.NoError(t, err)
			rec := newRecording()
			withEachKubectl(t, func(t *testing.T, variant string) { replay(t, s, variant, kinds, rec) })
			if *update {
				t.Cleanup(func() { rec.write(t, s, file) })
			} else {
				require.Equal(t, string(data), s.String(), "the file must equal its own recording")
			}
		})
	}
}

// replay runs all steps of a session with one kubectl.
func replay(t *testing.T, s *session.Session, variant string, kinds bool, rec *recording) {
	sh := newShell(t, variant, kinds)
	norm := sh.normalizer()
	for _, p := range s.Parts {
		switch {
		case p.Only != "" && p.Only != variant:
			t.Logf("left out of %s: %s", variant, p.Reason)
			continue
		case p.NotOnReference && reference() != "":
			t.Logf("left out on the reference: %s", p.Reason)
			continue
		}
		for _, step := range p.Steps {
			out := sh.run(step.Command)
			out.Stdout, out.Stderr = norm.Normalize(out.Stdout), norm.Normalize(out.Stderr)
			got := session.Format(out)
			if *update && p.NotOnReference == (reference() == "") {
				rec.add(step, variant, got)
				continue
			}
			assert.Equal(t, step.Result(variant), got, "$ %s", step.Command)
		}
	}
}

// recording collects the output of the kubectls.
type recording struct {
	mu      sync.Mutex // guards results
	results map[*session.Step]map[string]string
}

func newRecording() *recording { return &recording{results: map[*session.Step]map[string]string{}} }

func (r *recording) add(step *session.Step, variant, result string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.results[step] == nil {
		r.results[step] = map[string]string{}
	}
	r.results[step][variant] = result
}

// write writes the collected output to the file of the session.
func (r *recording) write(t *testing.T, s *session.Session, file string) {
	for _, p := range s.Parts {
		for _, step := range p.Steps {
			results := r.results[step]
			if results == nil {
				continue
			}
			if p.Only == "" {
				require.Len(t, results, len(variants), "-update needs the results of all kubectls")
			}
			step.Record(results)
		}
	}
	require.NoError(t, os.WriteFile(file, []byte(s.String()), 0o644))
}
