package differential

import (
	"fmt"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	ours "github.com/kubecoord/kubecoord/internal/yaml"
)

func TestYAMLIsDecodedAsUpstream(t *testing.T) {
	eachCase(t, 20000, func(g generator) string {
		text := g.yamlDocument()
		if strings.Count(text, "\ufeff") > 1 {
			return "" // upstream looks for a second byte order mark at a wrong place of its buffer, and drops other characters
		}
		got, duplicates, err := ours.ToJSON([]byte(text))
		want, wantErr := yaml.YAMLToJSON([]byte(text))
		// Upstream follows the random order of a map: it reports any of several errors, and keeps any of the keys that are equal in JSON, such as 1 and 1.0.
		for range 1000 {
			if errorText(err) == errorText(wantErr) && string(got) == string(want) {
				break
			}
			want, wantErr = yaml.YAMLToJSON([]byte(text))
		}
		if wrong := differs(fmt.Sprintf("error of %q", text), err, wantErr); wrong != "" || err != nil {
			return wrong
		}
		if wrong := differs(fmt.Sprintf("JSON of %q", text), string(got), string(want)); wrong != "" {
			return wrong
		}
		_, wantErr = yaml.YAMLToJSONStrict([]byte(text))
		return differs(fmt.Sprintf("strict error of %q", text), ours.StrictError(duplicates), wantErr)
	})
}

func TestYAMLIsEncodedAsUpstream(t *testing.T) {
	eachCase(t, 5000, func(g generator) string {
		text, err := yaml.YAMLToJSON([]byte(g.yamlDocument()))
		if err != nil {
			return ""
		}
		got, err := ours.FromJSON(text)
		want, wantErr := yaml.JSONToYAML(text)
		return differs(fmt.Sprintf("YAML of %s", text), fmt.Sprint(string(got), err), fmt.Sprint(string(want), wantErr))
	})
}

// yamlDocument returns a typical document, or one with a few wrong characters.
func (g generator) yamlDocument() string {
	var b strings.Builder
	if g.percent(10) {
		b.WriteString(pick(g, "---\n", "# comment\n", "%YAML 1.1\n---\n", "\ufeff"))
	}
	g.yamlBlock(&b, "", 0)
	if g.percent(10) {
		b.WriteString(pick(g, "...\n", "---\n", "# end", "\n\n", "\t"))
	}
	if g.percent(40) {
		return g.mutate(b.String(), "\n\n  :-?,[]{}#&*!|>'\"%@`\tab01.~é\\")
	}
	return b.String()
}

func (g generator) yamlBlock(b *strings.Builder, indent string, depth int) {
	isList := g.percent(25)
	for range 1 + g.IntN(4) {
		b.WriteString(indent)
		if isList {
			b.WriteString("- ")
		} else {
			b.WriteString(pick(g, "a", "b", "metadata", "'q'", `"d"`, "1", "true", "~", "? c\n"+indent, "y", "<<", "1.5") + ":" + pick(g, " ", " ", " ", "  ", "\t"))
		}
		if depth < 3 && g.percent(30) {
			b.WriteString(pick(g, "", "", "", "&x ", "!!map ") + "\n")
			g.yamlBlock(b, indent+pick(g, "  ", "  ", " ", "    "), depth+1)
			continue
		}
		b.WriteString(g.yamlScalar(indent) + pick(g, "", "", "", " # c") + "\n")
	}
}

func (g generator) yamlScalar(indent string) string {
	if g.percent(15) {
		return pick(g, "|", "|-", "|+", ">", ">-", "|2", ">1") + "\n" + indent + "   text\n" + indent + pick(g, "   more", "     more", "", "  less") + "\n"
	}
	return pick(g, "x", "text with blanks", "'it''s'", `"a\tb\u00e9\x41"`, "1", "-1", "0x1F", "0o17", "017", "0b11", "1_000", "1.5", "1e3", ".inf", "-.inf", ".nan", "1:30", "2026-01-02",
		"2026-01-02T03:04:05Z", "true", "False", "yes", "No", "on", "OFF", "y", "n", "~", "null", "Null", "", "[]", "{}", "[a, 1, {b: c}]", "{a: 1, b: [x, y]}", "&x 1", "*x", "!!str 1", "!!int '3'",
		"!!binary aGk=", "!!float 1", "! x", "@x", "%x", "a: b", "- a", "? a", "#c", "a#b", "a #b", "'open", `"open`, "[a", "{a: ", "9223372036854775807", "9223372036854775808", "18446744073709551616", "1e400", "é", "😀", "a\\b", "=")
}
