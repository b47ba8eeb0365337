package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
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

// A test that was renamed or moved would let its mutations live.
func TestMutationsNameTests(t *testing.T) {
	list, err := parse(mutations)
	require.NoError(t, err)
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Example)\w*)\(`)
	for _, m := range list {
		flag, isFlag := strings.CutPrefix(m.tests[0], "-run=")
		if !isFlag {
			continue
		}
		top, _, _ := strings.Cut(flag, "/")
		wanted := regexp.MustCompile(top)
		found := slices.ContainsFunc(m.tests[1:], func(pkg string) bool {
			files, _ := filepath.Glob(filepath.Join("../../..", pkg, "*_test.go"))
			return slices.ContainsFunc(files, func(file string) bool {
				source, err := os.ReadFile(file)
				require.NoError(t, err)
				return slices.ContainsFunc(declared.FindAllSubmatch(source, -1), func(name [][]byte) bool { return wanted.Match(name[1]) })
			})
		})
		assert.True(t, found, "%s: no test matches %s in %v", m.name, m.tests[0], m.tests[1:])
	}
}

func TestParseNamesWhatIsMissing(t *testing.T) {
	_, err := parse("== hub: x\nfile a.go\n- a\n+ b\n")
	assert.ErrorContains(t, err, "hub: x: a mutation needs file, test, and two different texts")
	_, err = parse("== hub: x\nfiles a.go\n")
	assert.ErrorContains(t, err, `line 2: got "files"`)
}
