package yaml_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubecoord/kubecoord/internal/yaml"
)

func TestIsPlain(t *testing.T) {
	for text, want := range map[string]bool{
		`{"a":{"b":[1,-2.5e3,true,null,"c\n\"\\\u00e9"]}}`: true,
		`{"a":"` + strings.Repeat("x", 5000) + `"}`:        true,
		`{"` + strings.Repeat("x", 1000) + `":1}`:          true,
		`{"` + strings.Repeat("x", 1001) + `":1}`:          false,
		`{"a":"\/"}`:           false,
		`{"a":"\ud83d\ude00"}`: false,
		`{"a":"é"}`:            false,
		"{\"a\":\"\x7f\"}":     false,
		`{"<<":{}}`:            false,
		`{"a":"<<"}`:           true,
		strings.Repeat("[", 101) + strings.Repeat("]", 101):              false,
		`[` + strings.Repeat("[],", 200) + strings.Repeat(" ", 1) + `1]`: true,
	} {
		assert.Equal(t, want, yaml.IsPlain([]byte(text)), text)
	}
}

// FuzzIsPlain checks that text which looks plain can be converted, alone and as an item.
func FuzzIsPlain(f *testing.F) {
	for _, text := range []string{`{"a":[1,"b",{"c":null}],"d":1e400}`, `{"a":"\ud800"}`, `{"a":"\u0000\u0085"}`, `"-"`, `{"":"","?":":"," ":"- "}`, `[[],{},"{"]`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var compact bytes.Buffer
		if json.Compact(&compact, data) != nil || !yaml.IsPlain(compact.Bytes()) {
			return
		}
		_, err := yaml.FromJSON(compact.Bytes())
		assert.NoError(t, err)
		_, err = yaml.FromJSON([]byte("[" + compact.String() + "]"))
		assert.NoError(t, err)
	})
}
