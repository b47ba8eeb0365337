package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode"

	"github.com/kubecoord/kubecoord/internal/yaml"
	"github.com/kubecoord/kubecoord/store/meta"
)

// decodeApply reads an applied configuration. One that is no YAML is refused by
// a real server when it turns it into JSON for its audit log, which leaves out
// what looks like JSON.
func decodeApply(data []byte) (config map[string]any, duplicates []error, err error) {
	text, duplicates, err := yaml.ToJSON(data)
	switch {
	case err != nil && bytes.HasPrefix(bytes.TrimLeftFunc(data, unicode.IsSpace), []byte("{")):
		return nil, nil, meta.NewBadRequest("error decoding patch: error converting YAML to JSON: %s", err)
	case err != nil:
		return nil, nil, meta.NewBadRequest("error encoding patch: %s", err)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&config); err != nil {
		if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			err = fmt.Errorf("json: cannot unmarshal %s into Go value of type map[string]interface {}", e.Value)
		}
		return nil, nil, meta.NewBadRequest("error decoding patch: error unmarshaling JSON: while decoding JSON: %s", err)
	}
	return plainNumbers(config).(map[string]any), duplicates, nil
}

// plainNumbers turns the numbers of a document into int64, or float64 where
// they are no whole ones.
func plainNumbers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			v[k] = plainNumbers(e)
		}
	case []any:
		for i, e := range v {
			v[i] = plainNumbers(e)
		}
	case json.Number:
		if i, err := v.Int64(); err == nil {
			return i
		}
		f, _ := v.Float64()
		return f
	}
	return v
}
