package session

import (
	"fmt"
	"regexp"
	"strings"
)

// Normalizer replaces values that differ between two correct runs of a session by
// symbols in braces. Versions and UIDs are numbered in order of appearance, so
// that equal values stay equal, and different values stay different:
//
//	{rv1} {uid1}  a resourceVersion, a UID
//	{time}        a time of whole seconds, as the server writes them, and the times of diff and of describe
//	{gen}         the suffix that the server added to the generateName "gen-"
//	{key}         the etcd key of an object
//	{log}         the head of a line that kubectl logs
//	{n}           the random part of a temporary file's name
//
// Ages all become 0s. Blanks at the end of a line are dropped.
type Normalizer struct {
	names          *strings.Replacer
	versions, uids map[string]string
}

// NewNormalizer returns a Normalizer that also replaces given texts, passed as
// pairs of a symbol and a text. If two texts match, the earlier pair wins.
func NewNormalizer(symbolsAndTexts ...string) *Normalizer {
	pairs := make([]string, 0, len(symbolsAndTexts))
	for i := 0; i+1 < len(symbolsAndTexts); i += 2 {
		pairs = append(pairs, symbolsAndTexts[i+1], "{"+symbolsAndTexts[i]+"}")
	}
	return &Normalizer{names: strings.NewReplacer(pairs...), versions: map[string]string{}, uids: map[string]string{}}
}

var (
	uidForm     = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	versionForm = regexp.MustCompile(`((?:resourceVersion\\?"?: ?\\?"?|Resource Version: +))(\d+)`)
	timeForm    = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{9} [+-]\d{4}|[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d [+-]\d{4}`)
	nameForm    = regexp.MustCompile(`\bgen-[bcdfghjklmnpqrstvwxz2456789]{5}\b`)
	tempForm    = regexp.MustCompile(`((?:LIVE|MERGED|kubectl-edit)-)\w+`)
	logForm     = regexp.MustCompile(`[IWEF]\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ \w+\.go:\d+\]`)
	keyForm     = regexp.MustCompile(`Key: /registry/[^ ,]+`)
	ageForm     = regexp.MustCompile(`(?m)\b\d{1,2}s( *)(  |$)`)
)

// Normalize replaces values by symbols. The order of calls numbers the symbols.
func (n *Normalizer) Normalize(text string) string {
	text = n.names.Replace(text)
	text = uidForm.ReplaceAllStringFunc(text, func(uid string) string { return symbol(n.uids, "uid", uid) })
	text = versionForm.ReplaceAllStringFunc(text, func(s string) string {
		m := versionForm.FindStringSubmatch(s)
		return m[1] + symbol(n.versions, "rv", m[2])
	})
	text = timeForm.ReplaceAllString(text, "{time}")
	text = nameForm.ReplaceAllString(text, "gen-{gen}")
	text = tempForm.ReplaceAllString(text, "${1}{n}")
	text = keyForm.ReplaceAllString(text, "Key: {key}")
	text = logForm.ReplaceAllString(text, "{log}")
	return ageForm.ReplaceAllStringFunc(text, func(s string) string {
		digits := strings.IndexByte(s, 's')
		return "0s" + strings.Repeat(" ", digits-1) + s[digits+1:]
	})
}

func symbol(symbols map[string]string, kind, value string) string {
	if _, ok := symbols[value]; !ok {
		symbols[value] = fmt.Sprintf("{%s%d}", kind, len(symbols)+1)
	}
	return symbols[value]
}
