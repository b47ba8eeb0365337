package yaml

import "go.yaml.in/yaml/v2"

// FromJSON converts a JSON document to YAML (upstream: JSONToYAML).
//
// JSON is read as the YAML that it is, so what JSON allows and YAML 1.1 does not
// is an error: escaped slashes and surrogate pairs, and keys longer than 1024
// characters. encoding/json writes none of the former.
func FromJSON(data []byte) (text []byte, err error) {
	defer recoverTo(&err)
	var value any
	if err := yaml.Unmarshal(data, &value); err != nil {
		return nil, err
	}
	return yaml.Marshal(value)
}
