package candidate

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseVersion(t *testing.T) {
	for _, row := range []struct {
		text string
		want version
	}{
		{"0.0.0", version{}},
		{"1.2.3", version{1, 2, 3, ""}},
		{"1.30.0-alpha.1", version{1, 30, 0, "alpha.1"}},
		{"1.30.0-alpha.1+build.007", version{1, 30, 0, "alpha.1"}},
		{"1.30.0+build-1.2", version{1, 30, 0, ""}},
		{"1.0.0--", version{1, 0, 0, "-"}},
		{"1.0.0-0a.01a", version{1, 0, 0, "0a.01a"}},
		{"1.0.0-a-b-c", version{1, 0, 0, "a-b-c"}},
		{"1.0.0-0", version{1, 0, 0, "0"}},
		{"18446744073709551615.0.0", version{1<<64 - 1, 0, 0, ""}},
	} {
		got, ok := parseVersion(row.text)
		assert.True(t, ok, row.text)
		assert.Equal(t, row.want, got, row.text)
	}
}

func TestParseVersionIsStrict(t *testing.T) {
	for _, text := range []string{
		"", "1", "1.2", "1.2.", "1..3", ".2.3", "1.2.3.4", "v1.2.3", " 1.2.3", "1.2.3 ", "nope",
		"01.2.3", "1.02.3", "1.2.03", "-1.2.3", "+1.2.3", "1.2.x", "1.2.3-", "1.2.3+", "1.2.3-+b", "1.2.3-a..b",
		"1.2.3-a.", "1.2.3-.a", "1.2.3-01", "1.2.3-a.01", "1.2.3-ä", "1.2.3+ä", "1.2.3+a+b", "1.2.3+a..b", "1.2.3_a",
		"18446744073709551616.0.0", "1.2.3-18446744073709551616", "1.2.3-a b", "１.2.3", "1-a.2.3", "1.2-a.3",
	} {
		got, ok := parseVersion(text)
		assert.False(t, ok, text)
		assert.True(t, got.isZero(), "%s: what is no version compares as 0.0.0", text)
	}
}

func TestVersionsAreOrderedByPrecedence(t *testing.T) {
	// Each line comes after the one before; versions on one line are equal.
	ordered := [][]string{
		{"0.0.0-0"},
		{"0.0.0", "0.0.0+a"},
		{"0.0.1"},
		{"1.0.0-0"},
		{"1.0.0-2"},
		{"1.0.0-10"},
		{"1.0.0-a"},
		{"1.0.0-alpha", "1.0.0-alpha+1"},
		{"1.0.0-alpha.1"},
		{"1.0.0-alpha.1.0"},
		{"1.0.0-alpha.beta"},
		{"1.0.0-beta"},
		{"1.0.0-beta.2"},
		{"1.0.0-beta.11"},
		{"1.0.0-rc.1"},
		{"1.0.0"},
		{"1.9.0"},
		{"1.10.0-alpha.1"},
		{"1.10.0"},
		{"2.0.0"},
		{"10.0.0"},
	}
	for i, line := range ordered {
		for _, a := range line {
			for j, other := range ordered {
				for _, b := range other {
					assert.Equal(t, sign(i-j), sign(mustParse(t, a).compare(mustParse(t, b))), "%s and %s", a, b)
				}
			}
		}
	}
}

func mustParse(t *testing.T, s string) version {
	t.Helper()
	v, ok := parseVersion(s)
	require.True(t, ok, s)
	return v
}

func sign(n int) int {
	return max(-1, min(1, n))
}

func TestParseVersionCostsNoAllocation(t *testing.T) {
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		a, _ := parseVersion("1.30.0-alpha.1+build.7")
		b, _ := parseVersion("1.30.0-alpha.10")
		a.compare(b)
	}))
}

func FuzzParseVersion(f *testing.F) {
	for _, s := range []string{"1.2.3", "1.2.3-a.1+b", "v1.2.3", "1.2.3-01", "1.0.0--", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, ok := parseVersion(s)
		if !ok {
			return
		}
		require.Zero(t, v.compare(v))
		release, _, _ := strings.Cut(s, "+")
		bare, ok := parseVersion(release)
		require.True(t, ok, "build metadata can be left out")
		require.Equal(t, v, bare)
		if number, _, pre := strings.Cut(release, "-"); pre {
			require.Negative(t, v.compare(mustParse(t, number)), "a pre-release comes first")
		}
	})
}
