// Package stanza reads lists of stanzas, in which tests keep the differences between servers that are known.
package stanza

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Stanza is a block of lines. Each is a member: its name, a space and its value.
type Stanza struct {
	Line    int // of its begin in the file, from 1
	Members map[string]string
}

// Parse reads a text of stanzas, separated by empty lines. A line that begins with # is a comment. A stanza must have all members
// that are required, may have the optional ones, and has no member twice. Errors name the file.
func Parse(file, text string, required, optional []string) ([]Stanza, error) {
	var all []Stanza
	line := 1
	for block := range strings.SplitSeq(text, "\n\n") {
		members, err := parseMembers(block)
		if err == nil && len(members) > 0 {
			err = check(members, required, optional)
			all = append(all, Stanza{line, members})
		}
		if err != nil {
			return nil, fmt.Errorf("%s: stanza at line %d: %w", file, line, err)
		}
		line += strings.Count(block, "\n") + 2
	}
	return all, nil
}

func parseMembers(block string) (map[string]string, error) {
	members := map[string]string{}
	for line := range strings.Lines(block) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, value, _ := strings.Cut(line, " ")
		if _, twice := members[name]; twice {
			return nil, fmt.Errorf("%s stands twice", name)
		}
		members[name] = strings.TrimSpace(value)
	}
	return members, nil
}

func check(members map[string]string, required, optional []string) error {
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if !slices.Contains(required, name) && !slices.Contains(optional, name) {
			return fmt.Errorf("%s is unknown", name)
		}
	}
	for _, name := range required {
		if members[name] == "" {
			return fmt.Errorf("has no %s", name)
		}
	}
	return nil
}

// Wildcards returns an expression that matches each text that one of the patterns matches whole. In a pattern, * stands for any
// text.
func Wildcards(patterns ...string) *regexp.Regexp {
	var forms []string
	for _, p := range patterns {
		forms = append(forms, strings.ReplaceAll(regexp.QuoteMeta(p), `\*`, `.*`))
	}
	return regexp.MustCompile(`(?s)^(` + strings.Join(forms, "|") + `)$`)
}
