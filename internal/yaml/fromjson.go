package yaml

import "go.yaml.in/yaml/v2"

// FromJSON converts a JSON document to YAML (upstream: JSONToYAML).
//
// It reads JSON as YAML, so JSON that is not YAML 1.1 is an error: escaped slashes,
// surrogate pairs, and keys longer than 1024 characters. encoding/json writes neither
// escaped slashes nor surrogate pairs.
func FromJSON(data []byte) (text []byte, err error) {
	defer recoverTo(&err)
	var value any
	if err := yaml.Unmarshal(data, &value); err != nil {
		return nil, err
	}
	return yaml.Marshal(value)
}
