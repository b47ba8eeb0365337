package explore

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
)

// forgets is a controller that makes an Endpoints for the Lease a, and forgets an error 504 if it is wrong.
func forgets(wrong *atomic.Bool) Scenario {
	return Scenario{Steps: []Step{create("a")}, Controllers: once(func(ctx context.Context, c Conn) error {
		code, _, err := ask(ctx, c, http.MethodPost, endpoints, leaseNamed("a"))
		if err == nil && code != http.StatusCreated && code != http.StatusConflict && !(wrong.Load() && code == http.StatusGatewayTimeout) {
			err = fmt.Errorf("create: %d", code)
		}
		return err
	})}
}

// A search goes on where the last one has stopped: with the plan that has failed, then with what was not run. After the last plan it begins again.
func TestResume(t *testing.T) {
	var wrong atomic.Bool
	file := filepath.Join(t.TempDir(), "resume.json")
	all := len(exploring(t, forgets(&wrong), Options{Runs: 1}).NotRun) + 1

	const plan = "answer-504 create endpoints default/a #1"
	wrong.Store(true)
	o := Options{Resume: file, Parallel: 1, Runs: 1}
	runs, left := 0, 0
	for {
		r := exploring(t, forgets(&wrong), o)
		runs, left = runs+r.Runs, len(r.NotRun)
		if len(r.Findings) > 0 {
			assert.Equal(t, []string{plan}, r.Findings[0].Plans)
			break
		}
		require.Less(t, runs, all, "nothing is found")
	}
	assert.Equal(t, all-runs, left, "no plan runs twice")

	wrong.Store(false)
	o.Runs = 1 + left
	r := exploring(t, forgets(&wrong), o)
	assert.Empty(t, r.Findings)
	assert.Empty(t, r.NotRun, "the failed plan and what was left")
	assert.NotContains(t, r.Covered, " 0/", "what the searches before have covered counts")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Contains(t, string(text), `"failed": []`)

	wrong.Store(true)
	o.Runs = 1
	r = exploring(t, forgets(&wrong), o)
	assert.Len(t, r.NotRun, all-1, "a new round")
}

// A plan that failed comes first, whatever else is left.
func TestAFailedPlanComesFirst(t *testing.T) {
	var wrong atomic.Bool
	wrong.Store(true)
	file := filepath.Join(t.TempDir(), "resume.json")
	r := exploring(t, forgets(&wrong), Options{Resume: file})
	require.Len(t, r.Findings, 1)
	r = exploring(t, forgets(&wrong), Options{Resume: file, Runs: 1})
	require.Len(t, r.Findings, 1)
	assert.Equal(t, []string{"answer-504 create endpoints default/a #1"}, r.Findings[0].Plans)
}

// Random plans go on with other seeds.
func TestResumeOfRandomPlans(t *testing.T) {
	var wrong atomic.Bool
	file := filepath.Join(t.TempDir(), "resume.json")
	exploring(t, forgets(&wrong), Options{Resume: file})
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Contains(t, string(text), fmt.Sprintf(`"random": %d`, randomRuns))
	exploring(t, forgets(&wrong), Options{Resume: file})
	text, err = os.ReadFile(file)
	require.NoError(t, err)
	assert.Contains(t, string(text), fmt.Sprintf(`"random": %d`, 2*randomRuns))
}

// A file of another scenario, and what is no such file, is refused before anything runs, and stays as it is.
func TestResumeFilesThatAreRefused(t *testing.T) {
	var wrong atomic.Bool
	dir := t.TempDir()
	file := filepath.Join(dir, "resume.json")
	exploring(t, forgets(&wrong), Options{Resume: file, Runs: 1})
	refused := func(s Scenario, path, want string) {
		t.Helper()
		before, _ := os.ReadFile(path)
		s.API = apitest.New(t)
		_, err := Explore(t, s, Options{Resume: path})
		require.ErrorContains(t, err, "resume file "+path)
		assert.ErrorContains(t, err, want)
		after, _ := os.ReadFile(path)
		assert.Equal(t, string(before), string(after))
	}
	other := forgets(&wrong)
	other.Steps = []Step{create("b")}
	refused(other, file, `got the scenario "TestResumeFilesThatAreRefused: controller: create a", want "TestResumeFilesThatAreRefused: controller: create b"`)
	for name, text := range map[string]string{"empty": "", "list": "[]", "text": "crash-after", "words": `{"done":1}`} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		refused(forgets(&wrong), path, "want a file that a search has written")
	}
	large := filepath.Join(dir, "large")
	require.NoError(t, os.WriteFile(large, nil, 0o600))
	require.NoError(t, os.Truncate(large, maxMemory+1))
	s := forgets(&wrong)
	s.API = apitest.New(t)
	_, err := Explore(t, s, Options{Resume: large})
	assert.ErrorContains(t, err, fmt.Sprintf("more than %d bytes", maxMemory))
	_, err = Explore(t, s, Options{Resume: filepath.Join(dir, "none", "resume.json")})
	assert.ErrorContains(t, err, "resume file")

	folder := filepath.Join(dir, "folder")
	require.NoError(t, os.Mkdir(folder, 0o700))
	exploring(t, forgets(&wrong), Options{Resume: folder, Runs: 1})
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Len(t, entries, 1)
	assert.True(t, strings.HasPrefix(entries[0].Name(), "TestResumeFilesThatAreRefused"), entries[0].Name())

	entries, err = os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		assert.NotContains(t, e.Name(), "resume.json.", "a temporary file is left")
	}
}

// Plans of a file that do not fit are forgotten.
func TestResumeForgetsWhatIsNoPlan(t *testing.T) {
	var wrong atomic.Bool
	file := filepath.Join(t.TempDir(), "resume.json")
	name := t.Name() + ": controller: create a"
	require.NoError(t, os.WriteFile(file, []byte(`{"scenario":"`+name+`","failed":["explode","restart 9","restart 0"],"done":["nonsense"]}`), 0o600))
	r := exploring(t, forgets(&wrong), Options{Resume: file, Runs: 1, Parallel: 1})
	assert.NotContains(t, r.NotRun, "restart 0", "it fits and was run")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.NotContains(t, string(text), "explode")
	assert.NotContains(t, string(text), "restart 9")
}
