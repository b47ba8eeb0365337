package explore

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/codec"
)

const (
	uidOfA = "11111111-2222-3333-4444-555555555555"
	uidOfB = "11111111-2222-3333-4444-666666666666"
)

// What differs between runs by itself is the same text in all of them.
func TestTextsOfAllRuns(t *testing.T) {
	n := &names{
		uids: map[string]key{uidOfA: {"pods", "default/a"}, uidOfB: {"pods", "default/web-x7f2a"}}, live: map[string]bool{uidOfA: true},
		generated: map[string]string{"web-x7f2a": "web-*"}, clients: []string{"controller", "controller.2"}, versions: map[string]bool{"1007": true},
	}
	for in, want := range map[string]string{
		"2026-01-02T03:04:05Z":                 "<time>",
		"2026-01-02T03:04:05.123456Z":          "<time>",
		"2026-01-02 is a day, and no time":     "2026-01-02 is a day, and no time",
		uidOfA:                                 "<uid of pods default/a>",
		uidOfB:                                 "<uid of pods default/web-*, which is gone>",
		"x/" + uidOfA + "/y":                   "x/<uid of pods default/a>/y",
		"99999999-2222-3333-4444-555555555555": "<uid>",
		"1007":                                 "<version>",
		"1008":                                 "1008",
		"controller":                           "<client>",
		"controller.2":                         "<client>",
		"controller_" + uidOfA:                 "<client>",
		"controllers":                          "controllers",
		"see web-x7f2a":                        "see web-*",
		"":                                     "",
	} {
		assert.Equal(t, want, n.text(in))
	}
}

// Names of what the server has drawn, and names with a uid or a generated name in them, are the same in all runs, and so are times in numbers.
func TestNamesInNames(t *testing.T) {
	n := &names{
		uids: map[string]key{uidOfA: {"claims", "default/data"}}, generated: map[string]string{"web-x7f2a": "web-*"},
		owned: map[key]key{{addresses, "10.0.0.45"}: {"services", "default/a"}, {addresses, "fd00::7"}: {"services", "default/a"}},
	}
	assert.Equal(t, "<services/default/a>", n.object(key{addresses, "10.0.0.45"}))
	assert.Equal(t, "pvc-<claims/default/data>", n.object(key{"volumes", "pvc-" + uidOfA}))
	assert.Equal(t, "pvc-<uid>", n.object(key{"volumes", "pvc-" + uidOfB}))
	assert.Equal(t, "default/web-*-config", n.object(key{"configmaps", "default/web-x7f2a-config"}))
	for in, want := range map[string]string{
		"10.0.0.45": "<address of services/default/a>", "http://10.0.0.45:80/x": "http://<address of services/default/a>:80/x", "10.0.0.4": "10.0.0.4",
		"fd00::7": "<address of services/default/a>", "946684801": "<time>", "946684801123": "<time>", "30080": "30080",
	} {
		assert.Equal(t, want, n.text(in))
	}
	assert.Equal(t, map[string]any{"at": "<time>", "port": 30080.0}, n.walk(map[string]any{"at": 946684801.0, "port": 30080.0}, nil, nil))
}

// Lists are compared by their keys: those of the type, or a member that tells the items apart. Sets have no order, other lists have.
func TestListsWithKeys(t *testing.T) {
	item := func(port float64, name string) any { return map[string]any{"port": port, "title": name} }
	n := &names{}
	ports := &codec.Field{ListType: "map", ListMapKeys: []string{"port"}}
	assert.Equal(t, []any{item(80, "b"), item(443, "a")}, n.walk([]any{item(443, "a"), item(80, "b")}, nil, ports))
	assert.Equal(t, []any{"a", "b"}, n.walk([]any{"b", "a"}, nil, &codec.Field{ListType: "set"}))
	assert.Equal(t, []any{"b", "a"}, n.walk([]any{"b", "a"}, nil, &codec.Field{ListType: "atomic"}))
	named := func(name string) any { return map[string]any{"name": name} }
	assert.Equal(t, []any{named("a"), named("b")}, n.walk([]any{named("b"), named("a")}, nil, nil))
	assert.Equal(t, []any{named("b"), named("a")}, n.walk([]any{named("b"), named("a")}, nil, &codec.Field{ListType: "atomic"}))
	assert.Equal(t, []any{named("b"), named("a"), named("a")}, n.walk([]any{named("b"), named("a"), named("a")}, nil, nil))
}

// A name that clients make differs from run to run; what all undisturbed runs have does not.
func TestLooseNames(t *testing.T) {
	l := &loose{prefixes: map[key]bool{{"pods", "default/job"}: true}, fixed: map[key]bool{{"pods", "default/job-a"}: true}}
	n := &names{loose: l, generated: map[string]string{"set-12345": "set-*"}}
	assert.Equal(t, "default/job-*", n.object(key{"pods", "default/job-8xk"}))
	assert.Equal(t, "default/job-a", n.object(key{"pods", "default/job-a"}))
	assert.Equal(t, "default/jobs", n.object(key{"pods", "default/jobs"}))
	assert.Equal(t, "default/job-8xk", n.object(key{"secrets", "default/job-8xk"}))
	assert.Equal(t, "default/set-*", n.object(key{"pods", "default/set-12345"}))
	assert.Equal(t, "set-*", n.object(key{"nodes", "set-12345"}))
}

func TestWhatTwoStatesDifferIn(t *testing.T) {
	object := func(value any) map[string]any {
		return map[string]any{"spec": map[string]any{"list": []any{map[string]any{"x": value}}, "y": "z"}}
	}
	pod, node := key{"pods", "default/a"}, key{"nodes", "a"}
	open := func(key, string) bool { return false }
	texts := func(want, got state, masked func(key, string) bool) (out []string) {
		for _, d := range compare(want, got, masked) {
			out = append(out, d.path+": "+d.text)
		}
		return out
	}
	assert.Empty(t, texts(state{pod: {object(1.0)}}, state{pod: {object(1.0)}}, open))
	assert.Equal(t, []string{`.spec.list[].x: pods default/a: .spec.list[].x is 2, in the undisturbed run 1`},
		texts(state{pod: {object(1.0)}}, state{pod: {object(2.0)}}, open))
	assert.Equal(t, []string{
		"too much: nodes a exists, in the undisturbed run it does not",
		"missing: pods default/a is missing",
	}, texts(state{pod: {object(1.0)}}, state{node: {object(1.0)}}, open))
	assert.Equal(t, []string{"number: there are 2 pods default/a, in the undisturbed run 1"},
		texts(state{pod: {object(1.0)}}, state{pod: {object(1.0), object(2.0)}}, open))

	for _, row := range []struct {
		mask   string
		hidden bool
	}{
		{"pods", true}, {"pods default/*", true}, {"pods */a", true}, {"* default/a .spec.list", true}, {"pods .spec.list[].x", true}, {"pods .spec", true},
		{"nodes", false}, {"pods default/b", false}, {"pods .spec.li", false}, {"pods .spec.y", false},
	} {
		m, err := parseMask(row.mask)
		require.NoError(t, err)
		assert.Equal(t, row.hidden, len(texts(state{pod: {object(1.0)}}, state{pod: {object(2.0)}}, m.covers)) == 0, row.mask)
	}
	for _, bad := range []string{"", "a b c", ".spec", "a b c .x"} {
		_, err := parseMask(bad)
		assert.Error(t, err, bad)
	}
}

// Timelines are aligned by what happened, whoever did it and whenever.
func TestTimelinesSideBySide(t *testing.T) {
	entries := func(texts ...string) (out []*entry) {
		for _, text := range texts {
			out = append(out, &entry{Text: text, watch: text == "watch"})
		}
		return out
	}
	got, want := entries("a", "b", "watch", "x", "d"), entries("a", "c", "watch", "d", "watch")
	got[3].mark = true
	var lines []string
	for _, l := range beside(got, want) {
		lines = append(lines, l.String()[:1]+l.String()[len(l.String())-1:])
	}
	assert.Equal(t, []string{" a", "+b", "-c", " h", "!x", " d"}, lines)
}
