package differential

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/sharding"

	"github.com/kubecoord/kubecoord/selector"
)

// TestShardSelectorsAreParsedAsUpstream compares which selectors are refused, what the others select, and the error
// texts of upstream's own code. Syntax errors have other texts than in cel-go. Package selector parses only a part of
// CEL, so some selectors that upstream refuses later are syntax errors there.
func TestShardSelectorsAreParsedAsUpstream(t *testing.T) {
	eachCase(t, 5000, func(g generator) string {
		text := g.shardSelector()
		if g.percent(40) {
			text = g.mutate(text, "()[]{},.|&!-+?:'\"`\\/#=<0x9aéru \n")
		}
		if text == "" {
			return ""
		}
		got, warnings, err := selector.ParseShards(text)
		want, wantErr := sharding.Parse(text)
		if wantErr != nil && strings.Contains(wantErr.Error(), "did you mean") {
			// kubecoord accepts short bounds on purpose. Another mistake may follow them.
			if err == nil && len(warnings) == 0 {
				return fmt.Sprintf("%q: no warning, but upstream's error %v", text, wantErr)
			}
			return ""
		}
		if len(warnings) > 0 && wantErr == nil {
			return fmt.Sprintf("%q: warnings %q, but upstream accepts it", text, warnings)
		}
		if err != nil && isCELError(err) && receiver.MatchString(text) {
			return "" // upstream drops any expression before .shardRange; package selector drops only a path
		}
		if wrong := differs(fmt.Sprintf("%q is refused (%v, %v)", text, err, wantErr), err != nil, wantErr != nil); wrong != "" {
			return wrong
		}
		if err != nil {
			if isCELError(err) || isCELError(wantErr) {
				return ""
			}
			return differs(fmt.Sprintf("error of %q", text), strings.TrimPrefix(err.Error(), "invalid shard selector: "), wantErr)
		}
		if wrong := differs(fmt.Sprintf("canonical form of %q", text), got, want); wrong != "" {
			return wrong
		}
		for range 5 {
			uid, namespace := pick(g, "", "abc", "8f6b9a0e-0c3f-4c7a-9b53-0d4f6a9b1f11", "x"), pick(g, "", "default", "kube-system")
			selected, err := want.Matches(&coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{UID: types.UID(uid), Namespace: namespace}})
			if err != nil {
				return err.Error()
			}
			if wrong := differs(fmt.Sprintf("%q matches %q, %q", text, uid, namespace), got.Matches(uid, namespace), selected); wrong != "" {
				return wrong
			}
		}
		return ""
	})
}

func isCELError(err error) bool { return strings.Contains(err.Error(), "CEL parse error: ") }

var receiver = regexp.MustCompile(`\.\s*shardRange`)

// shardSelector returns a selector that is mostly valid.
func (g generator) shardSelector() string {
	terms := []string{g.shardTerm(3)}
	for g.percent(40) {
		terms = append(terms, g.shardTerm(3))
	}
	return strings.Join(terms, pick(g, "||", " || ", " //x\n|| "))
}

func (g generator) shardTerm(depth int) string {
	if g.percent(4) {
		return g.celExpression(depth)
	}
	start, end := "0x0000000000000000", pick(g, "0x8000000000000000", "0x10000000000000000", "0xabcdef0123456789")
	if g.percent(5) {
		start = pick(g, "0x", "", "0x0", "0x00000000000000000", "0x000000000000000000", "0xA000000000000000", "0xffffffffffffffff", `\x30x0000000000000000`, `0x\u0030000000000000000`, `\q`, "0x8000000000000000")
	}
	field := "object.metadata.uid"
	if g.percent(8) {
		field = pick(g, "object.metadata.namespace", "object.metadata.name", "object.`metadata`.uid", ".object.metadata.uid", "object.in", g.celExpression(depth))
	}
	quote := pick(g, "'", "'", "'", `"`, "'''", `"""`)
	first, second := quote+start+quote, quote+end+quote
	if g.percent(5) {
		first = pick(g, "r", "R", "b", "br", "rb", "") + first
	}
	if g.percent(3) {
		second = g.celExpression(depth)
	}
	arguments := []string{field, first, second}
	if g.percent(3) {
		arguments = append(arguments, "1")[g.IntN(2):]
	}
	term := pick(g, "", "", "", "", "a.", "a.b.", ".a.") + "shardRange" + g.blank() + "(" + strings.Join(arguments, pick(g, ",", ", ")) + ")"
	if depth > 0 && g.percent(15) {
		term = pick(g, "(", "((", "!(", "!!(", "-(", "--(", "(!!") + g.shardTerm(depth-1) + pick(g, ")", "))", "||"+term+")")
	}
	return term
}

// celExpression returns an expression, most of which are refused as selectors.
func (g generator) celExpression(depth int) string {
	if depth == 0 {
		return pick(g, "a", ".a", "true", "null", "'x'", "b'x'", "1", "0x1F", "1u", "1.5", "1e5", ".5e-3", "in", "namespace", "a.b", "[]", "{}", "f()")
	}
	e := func() string { return g.celExpression(depth - 1) }
	switch g.IntN(12) {
	case 0, 1:
		return e() + pick(g, "+", "-", "*", "/", "%", "&&", "||", "==", "!=", "<", "<=", ">", ">=", " in ") + e()
	case 2:
		return e() + "?" + e() + ":" + e()
	case 3:
		return pick(g, "!", "-", "--", "!!", "- ", "!-", "-!") + e()
	case 4:
		return "(" + e() + ")"
	case 5:
		return e() + pick(g, ".b", ".b.c", ".b()", ".`b-c/d`", ".in", ".?b", "[?0]", ".as")
	case 6:
		return e() + "[" + e() + "]"
	case 7:
		return "[" + e() + pick(g, "", ",", ","+e(), ",,") + "]"
	case 8:
		return "{" + e() + ":" + e() + pick(g, "", ",", ","+e()+":"+e()) + "}"
	case 9:
		return "f(" + e() + pick(g, "", ",", ","+e()) + ")"
	}
	return g.celExpression(0)
}
