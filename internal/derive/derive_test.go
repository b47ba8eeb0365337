package derive_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubecoord/kubecoord/internal/derive"
)

func TestSumsDifferWhereAnythingDoes(t *testing.T) {
	sums := map[derive.Sum]string{}
	for _, row := range []struct {
		what  string
		seed  uint64
		words []string
	}{
		{"nothing", 1, nil},
		{"another seed", 2, nil},
		{"an empty word", 1, []string{""}},
		{"two empty words", 1, []string{"", ""}},
		{"one word", 1, []string{"ab"}},
		{"the same letters in two", 1, []string{"a", "b"}},
		{"in the other order", 1, []string{"b", "a"}},
		{"with an empty one", 1, []string{"ab", ""}},
	} {
		sum := derive.From(row.seed, row.words...)
		assert.Equal(t, sum, derive.From(row.seed, row.words...), row.what)
		assert.NotContains(t, sums, sum, "%s is as %s", row.what, sums[sum])
		sums[sum] = row.what
	}
}

func TestUUIDsAreOfVersionFour(t *testing.T) {
	assert.Equal(t, "00000000-0000-4000-8000-000000000000", derive.UUID([16]byte{}))
	var all [16]byte
	for i := range all {
		all[i] = 0xff
	}
	assert.Equal(t, "ffffffff-ffff-4fff-bfff-ffffffffffff", derive.UUID(all))
	assert.Regexp(t, `^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`, derive.From(1, "a").UUID())
}

// Tests of programs may have written these down.
func TestValuesStayTheSameInLaterReleases(t *testing.T) {
	sum := derive.From(7, "a", "bc")
	assert.EqualValues(t, uint64(0x1b5735a3b56ae2c6), sum.Uint64())
	assert.Equal(t, "1b5735a3-b56a-42c6-80a5-837558da8fc4", sum.UUID())
}
