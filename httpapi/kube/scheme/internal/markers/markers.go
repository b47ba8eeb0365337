// Package markers has the parts of the API's types that their Go types do not have: kinds of lists, atomic parts, defaults,
// values of enums, and which members are required. They are comments in the source of k8s.io/api.
package markers

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"
)

//go:generate go run ./gen

//go:embed markers.txt
var text string

// Type has the markers of a type.
type Type struct {
	Atomic  bool
	Doc     string // if the type has no method SwaggerDoc
	Members map[string]Member
	// Values are the values of an enum, in order.
	Values []Value
}

// Member has the markers of a member.
type Member struct {
	Required, Optional bool // what the json tag does not say
	ListType           string
	ListMapKeys        []string
	Atomic, Granular   bool   // Granular: not as its type, which is Atomic
	Default            string // as JSON, or ""
}

// Value is a value of an enum.
type Value struct{ Value, Doc string }

// sections has the lines about each type, by the name of its definition. They are parsed when they are needed.
var sections = sync.OnceValue(func() map[string]string {
	of := make(map[string]string, 800)
	rest := text
	for rest != "" {
		end := 0
		for { // to the next line that begins with a name
			next := strings.IndexByte(rest[end:], '\n')
			if next < 0 {
				end = len(rest)
				break
			}
			if end += next + 1; end == len(rest) || rest[end] != '\t' {
				break
			}
		}
		section := rest[:end]
		rest = rest[end:]
		name := section[:strings.IndexAny(section, " \n")]
		of[name] = section
	}
	return of
})

// Of returns the markers of the type with the given name of a definition, such as "io.k8s.api.core.v1.PodSpec".
func Of(definition string) (t Type) {
	section := sections()[definition]
	if section == "" {
		return t
	}
	head, body, _ := strings.Cut(section, "\n")
	head = strings.TrimPrefix(head[len(definition):], " ")
	if doc, ok := strings.CutPrefix(head, "doc="); ok {
		t.Doc, _ = strconv.Unquote(doc)
		head = ""
	}
	t.Atomic = head == "atomic"
	for line := range strings.Lines(body) {
		line = strings.TrimSuffix(line[1:], "\n")
		if head == "enum" {
			t.Values = append(t.Values, value(line))
			continue
		}
		if t.Members == nil {
			t.Members = map[string]Member{}
		}
		name, flags, _ := strings.Cut(line, " ")
		t.Members[name] = member(flags)
	}
	return t
}

func value(line string) Value {
	quoted, _ := strconv.QuotedPrefix(line)
	v, _ := strconv.Unquote(quoted)
	return Value{v, strings.TrimSpace(line[len(quoted):])}
}

func member(flags string) (m Member) {
	flags, m.Default, _ = strings.Cut(" "+flags, " default=")
	for _, flag := range strings.Fields(flags) {
		switch kind, isList := strings.CutPrefix(flag, "list="); {
		case isList:
			var keys string
			if m.ListType, keys, _ = strings.Cut(kind, ":"); keys != "" {
				m.ListMapKeys = strings.Split(keys, ",")
			}
		case flag == "required":
			m.Required = true
		case flag == "optional":
			m.Optional = true
		case flag == "atomic":
			m.Atomic = true
		case flag == "granular":
			m.Granular = true
		}
	}
	return m
}
