package kinds

import (
	"encoding/json"
	"os"
	"path/filepath"
)

// Sample has the objects of a resource that the scenario plays, as command samples writes them.
type Sample struct {
	// Full has as many members as a server accepts, Minimal as few. RunID stands for the id of a run.
	Full, Minimal map[string]any
	// Status is a full status, without regard to what a server accepts.
	Status map[string]any `json:",omitempty"`
	// Gated are members for Full that the server drops, since their feature gates are off.
	Gated []Leaf `json:",omitempty"`
	// Changed and Kept are leaves of Full with another value. The server accepts the first and refuses the second.
	Changed, Kept []Leaf `json:",omitempty"`
}

// Leaf is a value at a JSON pointer.
type Leaf struct {
	Path  string
	Value any
}

// Patch returns the JSON patch operation that puts the value there.
func (l Leaf) Patch() map[string]any {
	return map[string]any{"op": "replace", "path": l.Path, "value": l.Value}
}

// LoadSample returns the sample of a resource from the folder of samples.
func LoadSample(dir string, r Resource) (Sample, error) {
	var s Sample
	data, err := os.ReadFile(filepath.Join(dir, r.File()+".json"))
	if err == nil {
		err = json.Unmarshal(data, &s)
	}
	return s, err
}
