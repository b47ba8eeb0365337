//go:build unix

package kubectl

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/test/kube/kubectl/internal/session"
)

// The results in the sessions of testdata/compared: a step whose results differ has a result of each, and the prose above it
// says why after "Differs: ".
const (
	real = "kube-apiserver"
	ours = "kubecoord"
)

func TestKubectlPrintsBuiltInAndCustomKindsAsWithARealServer(t *testing.T) {
	playCompared(t, "testdata/compared/*.txt", func(*shell) {})
}

// playCompared plays sessions with kubecoord, or with the server of KUBECOORD_REFERENCE. prepare is called with the shell of each.
func playCompared(t *testing.T, pattern string, prepare func(*shell)) {
	files, err := filepath.Glob(pattern)
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			s, err := session.Parse(string(data), real, ours)
			require.NoError(t, err)
			who := ours
			if reference() != "" {
				who = real
			}
			playKinds(t, s, who, prepare)
			if *update {
				require.NoError(t, os.WriteFile(file, []byte(s.String()), 0o644))
			} else {
				require.Equal(t, string(data), s.String(), "the file must equal its own recording")
				checkReasons(t, s)
			}
		})
	}
}

// checkReasons requires a reason for differences, and a difference for each reason.
func checkReasons(t *testing.T, s *session.Session) {
	for _, p := range s.Parts {
		differs := slices.ContainsFunc(p.Steps, func(step *session.Step) bool { return step.Result(real) != step.Result(ours) })
		reason := slices.ContainsFunc(p.Prose, func(line string) bool { return strings.HasPrefix(line, "Differs: ") })
		assert.Equal(t, differs, reason, "%q", p.Prose)
	}
}

// playKinds runs the steps of a session. -update records the results of the server that it runs against. A result of the real
// server is kubecoord's, too, unless a difference is recorded.
func playKinds(t *testing.T, s *session.Session, who string, prepare func(*shell)) {
	sh := newShell(t, current, true)
	prepare(sh)
	made := sh.run("kubectl create namespace $NS")
	if who == ours { // a reference may make namespaces when they are first named
		require.Zero(t, made.Code, made.Stderr)
	}
	norm := sh.normalizer()
	for _, p := range s.Parts {
		for _, step := range p.Steps {
			out := sh.run(step.Command)
			out.Stdout, out.Stderr = norm.Normalize(out.Stdout), norm.Normalize(out.Stderr)
			got := session.Format(out)
			if !*update {
				assert.Equal(t, step.Result(who), got, "$ %s", step.Command)
				continue
			}
			results := map[string]string{real: step.Result(real), ours: step.Result(ours), who: got}
			if _, same := step.Results[""]; same && who == real {
				results[ours] = got
			}
			step.Record(results)
		}
	}
}
