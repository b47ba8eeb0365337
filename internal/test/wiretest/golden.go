package wiretest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Golden is a scenario together with the outcome it had.
type Golden struct {
	Scenario Scenario   `json:"scenario"`
	Expect   []Expected `json:"expect"` // one for each step
	// VersionOrder lists the symbols of the resource versions from oldest to newest.
	VersionOrder []string `json:"versionOrder,omitempty"`
}

// Expected is the normalised outcome of one step.
type Expected struct {
	Status   int                 `json:"status,omitempty"`
	Headers  map[string][]string `json:"headers,omitempty"` // only those that are compared
	JSON     any                 `json:"json,omitempty"`
	Text     string              `json:"text,omitempty"`     // the body, where it is not JSON or is compared as text
	Indented bool                `json:"indented,omitempty"` // JSON came on several lines
	Protobuf bool                `json:"protobuf,omitempty"` // JSON was decoded from protobuf
	Events   []any               `json:"events,omitempty"`
	Closed   bool                `json:"closed,omitempty"` // the server ended the stream
}

// LoadGolden reads every *.json below dir, ordered by scenario name. A file that holds an unknown member, a scenario of
// another name than its own, or not one outcome for each step is an error.
func LoadGolden(dir string) ([]Golden, error) {
	var goldens []Golden
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".json" {
			return err
		}
		g, err := readGolden(path)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		goldens = append(goldens, g)
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(goldens, func(a, b Golden) int { return strings.Compare(a.Scenario.Name, b.Scenario.Name) })
	return goldens, nil
}

func readGolden(path string) (Golden, error) {
	var g Golden
	data, err := os.ReadFile(path)
	if err != nil {
		return g, err
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&g); err != nil {
		return g, err
	}
	if want := strings.TrimSuffix(filepath.Base(path), ".json"); g.Scenario.Name != want {
		return g, fmt.Errorf("holds scenario %q, want %q", g.Scenario.Name, want)
	}
	if len(g.Expect) != len(g.Scenario.Steps) {
		return g, fmt.Errorf("holds %d outcomes for %d steps", len(g.Expect), len(g.Scenario.Steps))
	}
	return g, nil
}
