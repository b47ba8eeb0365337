package selector_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/selector"
)

func TestOneTermOfALabelSelector(t *testing.T) {
	object := map[string]string{"a": "x", "n": "5", "e": ""}
	for term, want := range map[string]bool{
		"a": true, "z": false, "!a": false, "!z": true, "a=x": true, "a==y": false, "z=": false, "e=": true, "a!=x": false, "a!=y": true, "z!=x": true,
		"a in (x,y)": true, "a in (y)": false, "z in (,x)": false, "a notin (x)": false, "a notin (y)": true, "z notin (x)": true,
		"n>4": true, "n>5": false, "n<6": true, "n<5": false, "a>0": false, "z<9": false, "n>9223372036854775807": false, "n<0": false,
	} {
		labels, err := selector.ParseLabels(term)
		require.NoError(t, err)
		assert.Equal(t, want, labels.Matches(object), term)
	}
}

// A selector with more keys than the object has labels is looked up by the labels.
func TestManyKeysMatchFewLabels(t *testing.T) {
	keys, object := "k=v", map[string]string{"k": "v"}
	for i := range 40 {
		keys += fmt.Sprintf(",!gone%d", i)
	}
	for i := range 20 {
		object[fmt.Sprintf("other%d", i)] = ""
	}
	for _, tt := range []struct {
		in   string
		want bool
	}{{keys, true}, {keys + ",k=w", false}, {keys + ",!other7", false}, {keys + ",needed", false}, {keys + ",needed!=x", true}} {
		labels, err := selector.ParseLabels(tt.in)
		require.NoError(t, err)
		for range 10 { // the order of the labels is random
			assert.Equal(t, tt.want, labels.Matches(object), tt.in)
		}
	}
}
