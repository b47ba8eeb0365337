package wiretest

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
)

// sent is a scenario with a few values that must not be replaced.
func sent() Scenario {
	return Scenario{Steps: []Step{{Body: json.RawMessage(`{"metadata":{"generateName":"x-","resourceVersion":"77","uid":"11111111-1111-4111-8111-111111111111"},
		"time":"2020-02-02T02:02:02Z"}`)}}}
}

func newTestNormalizer() *normalizer {
	return newNormalizer(sent(), map[string]string{"ns": "c-1", "ns2": "c-1-second"})
}

func TestNormalizeTrees(t *testing.T) {
	for _, row := range []struct{ name, in, want string }{
		{"versions are numbered, equal stays equal", `[{"resourceVersion":"9"},{"resourceVersion":"5"},{"resourceVersion":"9"}]`, `[{"resourceVersion":"{rv1}"},{"resourceVersion":"{rv2}"},{"resourceVersion":"{rv1}"}]`},
		{"no version and version 0", `[{"resourceVersion":""},{"resourceVersion":"0"}]`, `[{"resourceVersion":""},{"resourceVersion":"0"}]`},
		{"a version the scenario wrote", `{"resourceVersion":"77"}`, `{"resourceVersion":"77"}`},
		{"metadata comes before annotations", `{"annotations":{"resourceVersion":"6"},"metadata":{"resourceVersion":"5"}}`, `{"annotations":{"resourceVersion":"{rv2}"},"metadata":{"resourceVersion":"{rv1}"}}`},
		{"server times", `{"creationTimestamp":"2026-01-02T03:04:05Z","deletionTimestamp":"2026-01-02T03:04:05Z","time":"2026-01-02T03:04:05Z"}`, `{"creationTimestamp":"{time}","deletionTimestamp":"{time}","time":"{time}"}`},
		{"times of another form", `{"creationTimestamp":"2026-01-02T03:04:05.1Z","time":"now"}`, `{"creationTimestamp":"2026-01-02T03:04:05.1Z","time":"now"}`},
		{"a time the scenario wrote", `{"time":"2020-02-02T02:02:02Z"}`, `{"time":"2020-02-02T02:02:02Z"}`},
		{"other times", `{"renewTime":"2026-01-02T03:04:05Z"}`, `{"renewTime":"2026-01-02T03:04:05Z"}`},
		{"continue tokens and addresses", `{"continue":"abc","serverAddress":"1.2.3.4:5"}`, `{"continue":"{continue}","serverAddress":"{address}"}`},
		{"the last page", `{"continue":""}`, `{"continue":""}`},
		{"numbers, booleans and null", `[1.0,true,null]`, `[1.0,true,null]`},
		{"keys", `{"c-1":{"c-1-second":1}}`, `{"{ns}":{"{ns2}":1}}`},
		{"tables", `{"kind":"Table","columnDefinitions":[{"description":"prose"},{"description":""}],"rows":[{"cells":["5m","3d4h"]},{"cells":["5m","<unknown>"]},{"cells":[]}]}`,
			`{"kind":"Table","columnDefinitions":[{"description":"{description}"},{"description":""}],"rows":[{"cells":["5m","{age}"]},{"cells":["5m","<unknown>"]},{"cells":[]}]}`},
		{"apply conflicts are sorted", `{"causes":[{"reason":"FieldManagerConflict","message":"b"},{"reason":"FieldManagerConflict","message":"a"}]}`, `{"causes":[{"reason":"FieldManagerConflict","message":"a"},{"reason":"FieldManagerConflict","message":"b"}]}`},
		{"other causes keep their order", `{"causes":[{"reason":"FieldManagerConflict","message":"b"},{"reason":"Other","message":"a"}]}`, `{"causes":[{"reason":"FieldManagerConflict","message":"b"},{"reason":"Other","message":"a"}]}`},
	} {
		t.Run(row.name, func(t *testing.T) {
			in := parse(t, row.in)
			assert.Equal(t, parse(t, row.want), newTestNormalizer().value(in))
			assert.Equal(t, parse(t, row.in), in, "the input must not change")
		})
	}
}

func TestNormalizeText(t *testing.T) {
	for _, row := range []struct{ name, in, want string }{
		{"uids", "aaaaaaaa-bbbb-4ccc-8ddd-000000000001 aaaaaaaa-bbbb-4ccc-8ddd-000000000002 aaaaaaaa-bbbb-4ccc-8ddd-000000000001", "{uid1} {uid2} {uid1}"},
		{"a uid the scenario wrote", "11111111-1111-4111-8111-111111111111", "11111111-1111-4111-8111-111111111111"},
		{"namespaces", `"c-1-second" c-1`, `"{ns2}" {ns}`},
		{"generated names", `leases "x-7wqzb" and x-7wqzc, x-7wqzb`, `leases "x-{gen1}" and x-{gen2}, x-{gen1}`},
		{"a suffix with a vowel", "x-7wqza", "x-7wqza"},
		{"a suffix of six", "x-7wqzbb", "x-7wqzbb"},
		{"inside another word", "ax-7wqzb", "ax-7wqzb"},
		{"a quoted object", `Invalid value: "{\"a\":\"}\"}": no`, `Invalid value: "{object}": no`},
		{"a quoted text", `Invalid value: "a": no`, `Invalid value: "a": no`},
		{"too large a version", "Too large resource version: 9999, current: 1012", "Too large resource version: 9999, current: {current}"},
		{"too old a version", "too old resource version: 1 (1012)", "too old resource version: 1 ({oldest})"},
		{"a precondition of the scenario", "ResourceVersion in the precondition (77) does not match the ResourceVersion in record (1012)", "ResourceVersion in the precondition (77) does not match the ResourceVersion in record ({rv1})"},
		{"a precondition of the run", "ResourceVersion in the precondition (1011) does not match the ResourceVersion in record (1012)", "ResourceVersion in the precondition ({rv1}) does not match the ResourceVersion in record ({rv2})"},
		{"a storage key", "Key: /registry/leases/a/b, UID", "Key: {key}, UID"},
		{"a Go type", "into Go value of type v1.Lease here", "into Go value of type {type} here"},
		{"a Go struct", `into Go value of type struct { A string "json:\"a\"" } here`, "into Go value of type {type} here"},
		{"a scheme", `in scheme "pkg/x.go:1"`, `in scheme "{scheme}"`},
		{"numbers elsewhere", "the object at 1012 was 5m old", "the object at 1012 was 5m old"},
	} {
		t.Run(row.name, func(t *testing.T) {
			assert.Equal(t, row.want, newTestNormalizer().text(row.in))
		})
	}
}

func TestNormalizeLongPrefixIsCut(t *testing.T) {
	prefix := "p23456789-123456789-123456789-123456789-123456789-123456789-"
	n := newNormalizer(Scenario{Steps: []Step{{BodyRepeat: &Repeat{}, Body: json.RawMessage(`{"generateName":"` + prefix + `"}`)}}}, map[string]string{"ns": "c-1", "ns2": "c-1-second"})
	assert.Equal(t, prefix[:58]+"{gen1}", n.text(prefix[:58]+"7wqzb"))
}

func TestVersionOrderIsNumeric(t *testing.T) {
	n := newTestNormalizer()
	for _, v := range []string{"1000", "999", "", "0", "0x10", "007", "99999999999999999999999", "-1"} {
		n.version(v)
	}
	assert.Equal(t, []string{
		"{rv2}", "{rv1}", "{rv5}",
		"{rv3} is not a positive decimal number", "{rv4} is not a positive decimal number", "{rv6} is not a positive decimal number",
	}, n.versionOrder())
}
