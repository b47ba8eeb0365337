package exchange

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
	// Body is the JSON of the body; an object in protobuf is there as JSON. Events are the events of a watch.
	Body   any   `json:",omitempty"`
	Events []any `json:",omitempty"`
	// RetryAfter is the header Retry-After. Calls are the requests that webhooks got because of this request.
	RetryAfter string `json:",omitempty"`
	Calls      []any  `json:",omitempty"`
	// Unsteady answers differ between two runs, by the order of a map. Only their status is compared.
	Unsteady bool `json:",omitempty"`
}

// loadAnswers returns the recorded answers of a scenario.
func loadAnswers(dir, name string) ([]Answer, error) {
	data, err := os.ReadFile(filepath.Join(dir, name+".json.gz"))
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
		Calls  []json.RawMessage
	}
	if err := json.NewDecoder(z).Decode(&raw); err != nil {
		return nil, err
	}
	var all []Answer
	for _, entry := range raw {
		a := entry.Answer
		if len(entry.Body) > 0 {
			if a.Body, _, err = Parse(entry.Body); err != nil {
				return nil, err
			}
		}
		if a.Events, err = parseAll(entry.Events); err != nil {
			return nil, err
		}
		if a.Calls, err = parseAll(entry.Calls); err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	return all, nil
}

func parseAll(documents []json.RawMessage) ([]any, error) {
	var out []any
	for _, d := range documents {
		tree, _, err := Parse(d)
		if err != nil {
			return nil, err
		}
		out = append(out, tree)
	}
	return out, nil
}

// saveAnswers writes the answers of a scenario.
func saveAnswers(dir, name string, answers []Answer) error {
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
	return os.WriteFile(filepath.Join(dir, name+".json.gz"), out.Bytes(), 0o644)
}
