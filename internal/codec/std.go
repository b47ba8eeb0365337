package codec

import (
	"encoding/json"
	"errors"

	kjson "sigs.k8s.io/json"
)

// Unmarshal is json.Unmarshal with the error texts of a real server. From Go 1.27 on,
// encoding/json has other texts for syntax errors.
func Unmarshal(data []byte, v any) error {
	err := json.Unmarshal(data, v)
	if _, ok := errors.AsType[*json.SyntaxError](err); ok {
		return syntaxError(data)
	}
	return err
}

// syntaxError returns the error for a document that is not JSON. sigs.k8s.io/json keeps the texts of Go 1.26.
func syntaxError(data []byte) error {
	return kjson.UnmarshalCaseSensitivePreserveInts(data, new(json.RawMessage))
}
