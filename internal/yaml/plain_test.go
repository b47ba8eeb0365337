package yaml_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubecoord/kubecoord/internal/codec"
	"github.com/kubecoord/kubecoord/internal/yaml"
)

// FuzzPlainTree checks that JSON that looks plain can be converted, alone and as an item.
func FuzzPlainTree(f *testing.F) {
	for _, text := range []string{`{"a":[1,"b",{"c":null}],"d":1e400}`, `{"a":"\ud800"}`, `{"a":"\u0000\u0085"}`, `{"a":"-"}`, `{"":"","?":":"," ":"- "}`, `{"a":[[],{},"{"]}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var compact bytes.Buffer
		if json.Compact(&compact, data) != nil {
			return
		}
		if _, isPlain := codec.PlainTree(compact.Bytes()); !isPlain || yaml.IsDeep(compact.Bytes()) {
			return
		}
		_, err := yaml.FromJSON(compact.Bytes())
		assert.NoError(t, err)
		_, err = yaml.FromJSON([]byte("[" + compact.String() + "]"))
		assert.NoError(t, err)
	})
}
