package wiretest

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
)

const (
	suffixLength  = 5  // of a generated name
	longestPrefix = 58 // the rest of a name's 63 characters
)

// forms are the patterns of replaced values.
type forms struct {
	prefix       *regexp.Regexp // a prefix for generated names, in a scenario
	uid          *regexp.Regexp
	time         *regexp.Regexp
	age          *regexp.Regexp
	object       *regexp.Regexp // a whole object quoted in a message
	tooLarge     *regexp.Regexp
	tooOld       *regexp.Regexp
	precondition *regexp.Regexp
	storageKey   *regexp.Regexp
	goType       *regexp.Regexp
	scheme       *regexp.Regexp
}

// textForms returns the forms, compiled at the first call.
var textForms = sync.OnceValue(func() *forms {
	return &forms{
		prefix:       regexp.MustCompile(`"generateName":"([^"]*)"`),
		uid:          regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`),
		time:         regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$`),
		age:          regexp.MustCompile(`^(\d+[smhdy])+$`),
		object:       regexp.MustCompile(`Invalid value: "\{(?:[^"\\]|\\.)*"`),
		tooLarge:     regexp.MustCompile(`(Too large resource version: \d+, current: )\d+`),
		tooOld:       regexp.MustCompile(`(too old resource version: \d+ )\(\d+\)`),
		precondition: regexp.MustCompile(`(ResourceVersion in the precondition \()([^)]*)(\) does not match the ResourceVersion in record \()(\d+)`),
		storageKey:   regexp.MustCompile(`Key: /[^,]*,`),
		goType:       regexp.MustCompile(`Go value of type (struct \{.*?" \}|\S+( \{\})?)`),
		scheme:       regexp.MustCompile(`in scheme "[^"]*"`),
	}
})

// generated matches the names that a server generates from one prefix.
type generated struct {
	prefix string
	form   *regexp.Regexp
}

// generatedNames returns a pattern for each generateName in the text of a scenario.
func (f *forms) generatedNames(scenario string) []generated {
	var made []generated
	for _, match := range f.prefix.FindAllStringSubmatch(scenario, -1) {
		prefix := match[1][:min(len(match[1]), longestPrefix)]
		form := fmt.Sprintf(`(^|["\s/(])%s[bcdfghjklmnpqrstvwxz2456789]{%d}($|["\s/):,])`, regexp.QuoteMeta(prefix), suffixLength)
		made = append(made, generated{prefix, regexp.MustCompile(form)})
	}
	return made
}

// text normalises values anywhere in a text: in a name, a key or a message.
func (n *normalizer) text(s string) string {
	s = n.forms.uid.ReplaceAllStringFunc(s, func(uid string) string {
		if strings.Contains(n.fixed, uid) {
			return uid
		}
		return symbol(n.uids, "uid", uid)
	})
	// ns2 first, because it begins with ns.
	s = strings.ReplaceAll(s, n.vars["ns2"], "{ns2}")
	s = strings.ReplaceAll(s, n.vars["ns"], "{ns}")
	for _, g := range n.made {
		s = g.form.ReplaceAllStringFunc(s, func(match string) string { return n.generatedName(g, match) })
	}
	return n.message(s)
}

// generatedName replaces the name inside a match, which may have a delimiter on either side.
func (n *normalizer) generatedName(g generated, match string) string {
	start := strings.Index(match, g.prefix)
	end := start + len(g.prefix) + suffixLength
	name := match[start:end]
	sym, ok := n.names[name]
	if !ok {
		sym = fmt.Sprintf("%s{gen%d}", g.prefix, len(n.names)+1)
		n.names[name] = sym
	}
	return match[:start] + sym + match[end:]
}

// message normalises the values that occur only in error messages.
func (n *normalizer) message(s string) string {
	s = n.forms.object.ReplaceAllString(s, `Invalid value: "{object}"`)
	s = n.forms.tooLarge.ReplaceAllString(s, "$1{current}")
	s = n.forms.tooOld.ReplaceAllString(s, "$1({oldest})")
	s = n.forms.precondition.ReplaceAllStringFunc(s, func(match string) string {
		part := n.forms.precondition.FindStringSubmatch(match)
		asked := part[2]
		if _, known := n.versions[asked]; known || !strings.Contains(n.fixed, asked) {
			asked = n.version(asked)
		}
		return part[1] + asked + part[3] + n.version(part[4])
	})
	s = n.forms.storageKey.ReplaceAllString(s, "Key: {key},")
	s = n.forms.goType.ReplaceAllString(s, "Go value of type {type}")
	return n.forms.scheme.ReplaceAllString(s, `in scheme "{scheme}"`)
}
