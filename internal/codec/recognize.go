package codec

import (
	"encoding/json"
	"fmt"

	"github.com/kubecoord/kubecoord/store/meta"
)

// RecognizeJSON returns the kind and apiVersion that a JSON document says it
// has. It fails for what is not JSON, or not an object or null, or where one
// of them is no string or the apiVersion has two slashes. Unlike decoding it
// does not mind the case of the two names, as in the API server
// (apimachinery, serializer/json/meta.go).
func RecognizeJSON(data []byte) (kind, apiVersion string, err error) {
	var found struct { // errors print this type: it is part of the text
		APIVersion string `json:"apiVersion,omitempty"`
		Kind       string `json:"kind,omitempty"`
	}
	if err := json.Unmarshal(data, &found); err != nil {
		return "", "", fmt.Errorf("couldn't get version/kind; json parse error: %w", err)
	}
	if _, ok := meta.ParseGroupVersion(found.APIVersion); !ok {
		return "", "", fmt.Errorf("unexpected GroupVersion string: %s", found.APIVersion)
	}
	return found.Kind, found.APIVersion, nil
}
