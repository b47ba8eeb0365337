package selector

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubecoord/kubecoord/internal/validate"
)

// ParseLabels parses a label selector, such as "app=web,tier in (front,back),!canary". The empty text selects every object.
//
// The grammar and the error texts come from apimachinery's pkg/labels Parse. Keys and values must be valid in labels.
func ParseLabels(s string) (Labels, error) {
	p := labelParser{rest: s}
	p.next()
	requirements, err := p.requirements()
	if err != nil {
		return Labels{}, err
	}
	slices.SortStableFunc(requirements, func(a, b requirement) int { return cmp.Compare(a.key, b.key) })
	rules, present := newLabelRules(requirements)
	return Labels{requirements, rules, present}, nil
}

// labelParser parses requirements without lookahead: each method starts at the current token and ends at the first token
// that it does not use. Tokens are those of apimachinery's pkg/labels Lexer, which treats a zero byte in its own way: at the
// start of a token it ends the text, behind a token it is dropped.
type labelParser struct {
	rest string
	text string // the current token as written; empty at the end
	word bool   // the token is a key, a value, or an operator such as in
}

// The characters between tokens, and those that begin a token which is no word.
const (
	labelBlanks = " \t\r\n"
	labelMarks  = ",()<>=!"
)

// next moves to the next token.
func (p *labelParser) next() {
	p.rest = strings.TrimLeft(p.rest, labelBlanks)
	if p.rest == "" || p.rest[0] == 0 {
		p.text, p.word = "", false
		return
	}
	length := 1
	if p.word = strings.IndexByte(labelMarks, p.rest[0]) < 0; p.word {
		length = len(p.rest)
		if end := strings.IndexAny(p.rest, labelMarks+labelBlanks+"\x00"); end >= 0 {
			length = end
		}
	} else if strings.HasPrefix(p.rest, labelDoubleEquals) || strings.HasPrefix(p.rest, labelNotEquals) {
		length = 2
	}
	p.text, p.rest = p.rest[:length], strings.TrimPrefix(p.rest[length:], "\x00")
}

func (p *labelParser) requirements() ([]requirement, error) {
	var all []requirement
	for {
		switch {
		case p.text == "": // never behind a comma, see below
			return all, nil
		case !p.word && p.text != labelAbsent:
			return nil, fmt.Errorf("found '%s', expected: !, identifier, or 'end of string'", p.text)
		}

		r, err := p.requirement()
		if err != nil {
			return nil, fmt.Errorf("unable to parse requirement: %w", err)
		}
		all = append(all, r)

		switch p.text {
		case "":
			return all, nil
		case ",":
			p.next()
			if !p.word && p.text != labelAbsent {
				return nil, fmt.Errorf("found '%s', expected: identifier after ','", p.text)
			}
		default:
			return nil, fmt.Errorf("found '%s', expected: ',' or 'end of string'", p.text)
		}
	}
}

func (p *labelParser) requirement() (requirement, error) {
	var r requirement
	if p.text == labelAbsent {
		r.operator = labelAbsent
		p.next()
	}
	if !p.word {
		return r, fmt.Errorf("found '%s', expected: identifier", p.text)
	}
	r.key = p.text
	if problems := validate.QualifiedName(r.key); problems != nil {
		// Upstream passes no field path here, which it prints as <nil>.
		return r, errors.New(invalidLabel("<nil>", r.key, problems...))
	}
	p.next()
	if r.operator == labelAbsent || p.text == "" || p.text == "," {
		return r, nil
	}

	values := p.value
	switch p.text {
	case labelEquals, labelDoubleEquals, labelNotEquals, labelGreater, labelLess:
	case labelIn, labelNotIn:
		values = p.set
	default:
		return r, fmt.Errorf("found '%s', expected: in, notin, =, ==, !=, gt, lt", p.text)
	}
	r.operator = p.text
	p.next()
	if err := values(&r); err != nil {
		return r, err
	}
	return r, r.check()
}

// value parses the value of an operator such as =. A missing value is the empty string.
func (p *labelParser) value(r *requirement) error {
	switch {
	case p.text == "", p.text == ",":
		return nil
	case p.word:
		r.value = p.text
		p.next()
		return nil
	}
	return fmt.Errorf("found '%s', expected: identifier", p.text)
}

// set parses the values of in and notin. A missing value, also that in "()", is the empty string.
func (p *labelParser) set(r *requirement) error {
	if p.text != "(" {
		return fmt.Errorf("found '%s' expected: '('", p.text)
	}
	p.next()
	if !p.word && p.text != "," && p.text != ")" {
		return fmt.Errorf("found '%s', expected: ',', ')' or identifier", p.text)
	}

	for value := ""; ; value = "" {
		named := p.word
		if named {
			value = p.text
			p.next()
		}
		r.values = append(r.values, value)
		switch p.text {
		case ",":
			p.next()
		case ")":
			p.next()
			slices.Sort(r.values)
			r.values = slices.Compact(r.values)
			return nil
		default:
			if named {
				return fmt.Errorf("found '%s', expected: ',' or ')'", p.text)
			}
			return fmt.Errorf("found '%s', expected: ',', or identifier", p.text)
		}
	}
}

// check validates the values of a requirement and sets the number of > and <. The key must be valid.
func (r *requirement) check() error {
	var problems []string
	if r.operator == labelGreater || r.operator == labelLess {
		var ok bool
		if r.number, ok = parseInteger(r.value); !ok {
			problems = append(problems, invalidLabel("values[0]", r.value, "for 'Gt', 'Lt' operators, the value must be an integer"))
		}
	}
	for i, value := range r.values {
		if texts := validate.LabelValue(value); texts != nil {
			problems = append(problems, invalidLabel(fmt.Sprintf("values[%d][%s]", i, r.key), value, texts...))
		}
	}
	if texts := validate.LabelValue(r.value); texts != nil {
		problems = append(problems, invalidLabel("values[0]["+r.key+"]", r.value, texts...))
	}
	// Several stand in brackets, as in apimachinery's util/errors Aggregate. It drops repeated texts, but these differ by their
	// index.
	switch len(problems) {
	case 0:
		return nil
	case 1:
		return errors.New(problems[0])
	}
	return fmt.Errorf("[%s]", strings.Join(problems, ", "))
}

// invalidLabel returns the text for a key or a value that breaks rules, in the form of apimachinery's field.Error.
func invalidLabel(path, value string, problems ...string) string {
	return fmt.Sprintf("%s: Invalid value: %q: %s", path, value, strings.Join(problems, "; "))
}
