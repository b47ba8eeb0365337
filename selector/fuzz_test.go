package selector_test

import (
	"testing"

	"github.com/kubecoord/kubecoord/selector"
)

func FuzzParseLabels(f *testing.F) {
	for _, seed := range []string{"", "a", "!a", "a=b", "a==b,c!=d", "a in (x,,y)", "a notin ()", "n>5,n<-7", "in in (in,notin)",
		"example.com/a=b", "k in (,", "a=\x00b", " a\t= b\n", "-x", "k>=3"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		labels, err := selector.ParseLabels(in)
		if err != nil {
			return
		}
		labels.Matches(map[string]string{"a": in, "n": "6"})
	})
}

func FuzzParseFields(f *testing.F) {
	for _, seed := range []string{"", "=", "metadata.name=a", "metadata.name==a,metadata.namespace!=b", `a=b\,c\=d\\e`, "a==b,a=a",
		`a\=b`, "a!!=b", "a=\xff", "a=\\\\\xff", ",,a=,", "foo", `a=\x`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		fields, err := selector.ParseFields(in)
		if err != nil {
			return
		}
		fields.Matches(func(field string) string { return field })
	})
}

func FuzzParseShards(f *testing.F) {
	for _, seed := range []string{"", lower, upper, lower + " || " + upper, "(" + lower + ")||(" + upper + ")", "shardRange(object.metadata.namespace,'0x0','0x8')",
		`shardRange(object.metadata.uid, """0x1""", r'0x2')`, "a.b{c: d, ?e: f}[g](h)", "!-1 + 2u * 3.5e6 ? [a,] : {b: 'c'}", "'\\x30\\u0030\\U00000030\\060'",
		"b'\\xff' // comment", "((((((", "a || b && c == d in e", "as.`b`.?c", "'\r\n'", "\xff", "'''\n'''"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		shards, warnings, err := selector.ParseShards(in)
		if err != nil {
			return
		}
		if len(warnings) > 8 {
			t.Fatalf("%d warnings", len(warnings))
		}
		shards.Matches(in, in)
		again, warnings, err := selector.ParseShards(shards.String())
		if err != nil || len(warnings) > 0 || again.String() != shards.String() {
			t.Fatalf("%q prints as %q, and that as %q, with warnings %q and error %v", in, shards, again, warnings, err)
		}
	})
}
