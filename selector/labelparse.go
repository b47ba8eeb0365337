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
	terms, err := p.requirements()
	if err != nil {
		return Labels{}, err
	}
	slices.SortStableFunc(terms, func(a, b term) int { return cmp.Compare(a.key, b.key) })
	l := Labels{terms: terms, rules: join(terms)}
	for i := range l.rules {
		if l.rules[i].present {
			l.present++
		}
	}
	return l, nil
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
	} else if strings.HasPrefix(p.rest, opDoubleEquals) || strings.HasPrefix(p.rest, opNotEquals) {
		length = 2
	}
	p.text, p.rest = p.rest[:length], strings.TrimPrefix(p.rest[length:], "\x00")
}

// expected returns the error for the current token.
func (p *labelParser) expected(tokens string) error {
	return fmt.Errorf("found '%s', expected: %s", p.text, tokens)
}

func (p *labelParser) requirements() ([]term, error) {
	var all []term
	for {
		switch {
		case p.text == "": // never behind a comma, see below
			return all, nil
		case !p.word && p.text != opAbsent:
			return nil, p.expected("!, identifier, or 'end of string'")
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
			if !p.word && p.text != opAbsent {
				return nil, p.expected("identifier after ','")
			}
		default:
			return nil, p.expected("',' or 'end of string'")
		}
	}
}

func (p *labelParser) requirement() (term, error) {
	var r term
	if p.text == opAbsent {
		r.operator = opAbsent
		p.next()
	}
	if !p.word {
		return r, p.expected("identifier")
	}
	r.key = p.text
	if problems := validate.QualifiedName(r.key); problems != nil {
		// Upstream passes no field path here, which it prints as <nil>.
		return r, errors.New(invalidLabel("<nil>", r.key, problems...))
	}
	p.next()
	if r.operator == opAbsent || p.text == "" || p.text == "," {
		return r, nil
	}

	values := p.value
	switch p.text {
	case opEquals, opDoubleEquals, opNotEquals, opGreater, opLess:
	case opIn, opNotIn:
		values = p.set
	default:
		return r, p.expected("in, notin, =, ==, !=, gt, lt")
	}
	r.operator = p.text
	p.next()
	if err := values(&r); err != nil {
		return r, err
	}
	return r, r.check()
}

// value parses the value of an operator such as =. A missing value is the empty string.
func (p *labelParser) value(r *term) error {
	switch {
	case p.text == "", p.text == ",":
		return nil
	case p.word:
		r.value = p.text
		p.next()
		return nil
	}
	return p.expected("identifier")
}

// set parses the values of in and notin. A missing value, also that in "()", is the empty string.
func (p *labelParser) set(r *term) error {
	if p.text != "(" {
		return fmt.Errorf("found '%s' expected: '('", p.text)
	}
	p.next()
	if !p.word && p.text != "," && p.text != ")" {
		return p.expected("',', ')' or identifier")
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
				return p.expected("',' or ')'")
			}
			return p.expected("',', or identifier")
		}
	}
}

// check validates the values of a requirement and sets the number of > and <. The key must be valid.
func (r *term) check() error {
	var problems []string
	if r.operator == opGreater || r.operator == opLess {
		var ok bool
		if r.number, ok = parseInteger(r.value); !ok {
			problems = append(problems, invalidLabel("values[0]", r.value, "for 'Gt', 'Lt' operators, the value must be an integer"))
		}
	}
	values := r.values
	if values == nil {
		values = []string{r.value}
	}
	for i, value := range values {
		if texts := validate.LabelValue(value); texts != nil {
			problems = append(problems, invalidLabel(fmt.Sprintf("values[%d][%s]", i, r.key), value, texts...))
		}
	}
	switch len(problems) {
	case 0:
		return nil
	case 1:
		return errors.New(problems[0])
	}
	// As in apimachinery's util/errors Aggregate, which drops repeated texts; these differ by their index.
	return fmt.Errorf("[%s]", strings.Join(problems, ", "))
}

// invalidLabel returns the text for a key or a value that breaks rules, in the form of apimachinery's field.Error.
func invalidLabel(path, value string, problems ...string) string {
	return fmt.Sprintf("%s: Invalid value: %q: %s", path, value, strings.Join(problems, "; "))
}
