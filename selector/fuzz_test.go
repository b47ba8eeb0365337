package selector_test

import (
	"testing"

	"github.com/kubecoord/kubecoord/selector"
)

// roundTrip parses the text of a selector and requires that it prints the same text.
func roundTrip(t *testing.T, in, printed string, parse func(string) (string, error)) {
	t.Helper()
	again, err := parse(printed)
	if err != nil {
		t.Fatalf("%q prints as %q, which does not parse: %v", in, printed, err)
	}
	if again != printed {
		t.Fatalf("%q prints as %q, and that as %q", in, printed, again)
	}
}

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
		roundTrip(t, in, labels.String(), func(s string) (string, error) {
			again, err := selector.ParseLabels(s)
			return again.String(), err
		})
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
		roundTrip(t, in, fields.String(), func(s string) (string, error) {
			again, err := selector.ParseFields(s)
			return again.String(), err
		})
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
		roundTrip(t, in, shards.String(), func(s string) (string, error) {
			again, warnings, err := selector.ParseShards(s)
			if len(warnings) > 0 {
				t.Fatalf("%q warns: %q", s, warnings)
			}
			return again.String(), err
		})
	})
}
