package session

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestNormalizeReplacesValuesThatDifferBetweenRuns(t *testing.T) {
	const uid = "0a1b2c3d-0000-4000-8000-00000000000"
	for name, tt := range map[string]struct{ text, want string }{
		"a UID, twice and another":    {uid + "1 " + uid + "1 " + uid + "2", "{uid1} {uid1} {uid2}"},
		"a version in YAML":           {`resourceVersion: "1001"`, `resourceVersion: "{rv1}"`},
		"a version in JSON":           {`"resourceVersion": "1001", "resourceVersion":"1002"`, `"resourceVersion": "{rv1}", "resourceVersion":"{rv2}"`},
		"a version in quoted JSON":    {`\"resourceVersion\":\"1001\"`, `\"resourceVersion\":\"{rv1}\"`},
		"a version in describe":       {"Resource Version:  1001", "Resource Version:  {rv1}"},
		"a number that is no version": {"leaseTransitions: 1001", "leaseTransitions: 1001"},
		"a time":                      {`"2026-01-02T03:04:05Z"`, `"{time}"`},
		"a time of microseconds":      {"2026-01-02T03:04:05.000001Z", "2026-01-02T03:04:05.000001Z"},
		"a time of diff":              {"--- a\t2026-01-02 03:04:05.123456789 +0000", "--- a\t{time}"},
		"a time of describe":          {"Created:  Mon, 23 Nov 2026 21:38:52 +0000", "Created:  {time}"},
		"the namespaces":              {"test-a test-a-2 other", "{ns} {ns2} other"},
		"a generated name":            {"gen-x5bcd gen-hand", "gen-{gen} gen-hand"},
		"temporary files":             {"/LIVE-123/x /MERGED-4/x kubectl-edit-56.yaml", "/LIVE-{n}/x /MERGED-{n}/x kubectl-edit-{n}.yaml"},
		"a log line":                  {"W0102 03:04:05.123456    7 diff.go:12] text", "{log} text"},
		"a storage key":               {"Key: /registry/leases/ns/a, ResourceVersion: 0", "Key: {key}, ResourceVersion: 0"},
		"an age":                      {"a   me   7s\nb   me   0s\n", "a   me   0s\nb   me   0s\n"},
		"an age of two digits":        {"a   12s   x=y", "a   0s    x=y"},
		"a duration in a sentence":    {"waited 12s for it", "waited 12s for it"},
	} {
		t.Run(name, func(t *testing.T) {
			n := NewNormalizer("ns2", "test-a-2", "ns", "test-a")
			assert.Equal(t, tt.want, n.Normalize(tt.text))
		})
	}
}

func TestSymbolsAreKeptBetweenSteps(t *testing.T) {
	n := NewNormalizer()
	assert.Equal(t, `resourceVersion: "{rv1}"`, n.Normalize(`resourceVersion: "7"`))
	assert.Equal(t, `resourceVersion: "{rv2}"`, n.Normalize(`resourceVersion: "8"`))
	assert.Equal(t, `resourceVersion: "{rv1}"`, n.Normalize(`resourceVersion: "7"`))
}
