package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A change of the code must take its mutations along.
func TestMutationsCanBePlanted(t *testing.T) {
	list, err := parse(mutations)
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(list), 60)
	names := map[string]bool{}
	for _, m := range list {
		_, err := m.mutated("../../..")
		assert.NoError(t, err)
		assert.False(t, names[m.name], "two mutations are named %q", m.name)
		names[m.name] = true
	}
}

func TestParseNamesWhatIsMissing(t *testing.T) {
	_, err := parse("== hub: x\nfile a.go\n- a\n+ b\n")
	assert.ErrorContains(t, err, "hub: x: a mutation needs file, test, and two different texts")
	_, err = parse("== hub: x\nfiles a.go\n")
	assert.ErrorContains(t, err, `line 2: got "files"`)
}
