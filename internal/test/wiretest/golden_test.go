package wiretest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// recorded is where the answers of the real API server are.
const recorded = "../../../httpapi/testdata/wire"

func TestLoadGoldenReadsTheRecordedAnswers(t *testing.T) {
	goldens, err := LoadGolden(recorded)
	require.NoError(t, err)
	require.NotEmpty(t, goldens)
	files, err := filepath.Glob(filepath.Join(recorded, "*.json"))
	require.NoError(t, err)
	assert.Len(t, goldens, len(files))
	for i, g := range goldens[1:] {
		assert.Less(t, goldens[i].Scenario.Name, g.Scenario.Name, "order")
	}
	for _, g := range goldens {
		res := compare(g, g, nil)
		assert.Empty(t, res.Differences, "%s compared with itself", g.Scenario.Name)
	}
}

func TestLoadGoldenRefuses(t *testing.T) {
	for _, row := range []struct{ name, text, err string }{
		{"another scenario", `{"scenario":{"name":"b","steps":[]},"expect":[]}`, `holds scenario "b", want "a"`},
		{"an unknown member", `{"scenario":{"name":"a","steps":[{"methd":"GET"}]},"expect":[]}`, `json: unknown field "methd"`},
		{"too few outcomes", `{"scenario":{"name":"a","steps":[{"method":"GET"}]},"expect":[]}`, "holds 0 outcomes for 1 steps"},
	} {
		t.Run(row.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "a.json")
			require.NoError(t, os.WriteFile(path, []byte(row.text), 0o600))
			_, err := LoadGolden(filepath.Dir(path))
			assert.EqualError(t, err, path+": "+row.err)
		})
	}
}

func TestLoadGoldenFromNowhere(t *testing.T) {
	_, err := LoadGolden(filepath.Join(t.TempDir(), "none"))
	assert.ErrorIs(t, err, os.ErrNotExist)
}
