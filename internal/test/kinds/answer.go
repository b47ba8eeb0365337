package kinds

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
)

// Answer is a normalised answer to one request.
type Answer struct {
	Step    string // a name for the request
	Request string // method and path
	Status  int
	Type    string   // Content-Type
	Warning []string `json:",omitempty"`
	// Body is the JSON of the body. That of protobuf is the object as JSON. Events are those of a watch.
	Body   any   `json:",omitempty"`
	Events []any `json:",omitempty"`
	// Unsteady answers differ between two runs, by the order of a map. Only their status is compared.
	Unsteady bool `json:",omitempty"`
}

// LoadAnswers returns the recorded answers of a resource.
func LoadAnswers(dir string, r Resource) ([]Answer, error) {
	data, err := os.ReadFile(filepath.Join(dir, r.File()+".json.gz"))
	if err != nil {
		return nil, err
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	var raw []struct {
		Answer
		Body   json.RawMessage
		Events []json.RawMessage
	}
	if err := json.NewDecoder(z).Decode(&raw); err != nil {
		return nil, err
	}
	var all []Answer
	for _, entry := range raw {
		a := entry.Answer
		if len(entry.Body) > 0 {
			if a.Body, _, err = parse(entry.Body); err != nil {
				return nil, err
			}
		}
		for _, e := range entry.Events {
			tree, _, err := parse(e)
			if err != nil {
				return nil, err
			}
			a.Events = append(a.Events, tree)
		}
		all = append(all, a)
	}
	return all, nil
}

// SaveAnswers writes the answers of a resource.
func SaveAnswers(dir string, r Resource, answers []Answer) error {
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return err
	}
	e := json.NewEncoder(z)
	e.SetEscapeHTML(false)
	if err := e.Encode(answers); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, r.File()+".json.gz"), out.Bytes(), 0o644)
}
