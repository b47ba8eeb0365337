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
	l := Labels{rules: join(terms)}
	for i := range l.rules {
		if l.rules[i].present {
			l.present++
		}
	}
	return l, nil
}

// labelParser parses requirements without lookahead: each method starts at the current token and ends at the first token
// that it does not use. As in apimachinery's pkg/labels Lexer, a zero byte ends the text at the start of a token, and is
// dropped behind one.
type labelParser struct {
	rest string
	text string // the current token as written; empty at the end
	word bool   // the token is a key, a value, or an operator such as in
}

// The characters between tokens, and the first characters of tokens that are no words.
const (
	labelBlanks = " \t\r\n"
	labelMarks  = ",()<>=!"
)

func (p *labelParser) next() {
	p.rest = strings.TrimLeft(p.rest, labelBlanks)
	if p.rest == "" || p.rest[0] == 0 {
		p.text, p.word = "", false
		return
	}
	length := 1
	p.word = strings.IndexByte(labelMarks, p.rest[0]) < 0
	if p.word {
		length = len(p.rest)
		if end := strings.IndexAny(p.rest, labelMarks+labelBlanks+"\x00"); end >= 0 {
			length = end
		}
	} else if strings.HasPrefix(p.rest, opDoubleEquals) || strings.HasPrefix(p.rest, opNotEquals) {
		length = 2
	}
	p.text, p.rest = p.rest[:length], strings.TrimPrefix(p.rest[length:], "\x00")
}

func (p *labelParser) expected(tokens string) error {
	return fmt.Errorf("found '%s', expected: %s", p.text, tokens)
}

func (p *labelParser) requirements() (all []term, err error) {
	switch {
	case p.text == "":
		return nil, nil
	case !p.word && p.text != opAbsent:
		return nil, p.expected("!, identifier, or 'end of string'")
	}
	for {
		t, err := p.requirement()
		if err != nil {
			return nil, fmt.Errorf("unable to parse requirement: %w", err)
		}
		all = append(all, t)
		switch p.text {
		case "":
			return all, nil
		case ",":
			p.next()
		default:
			return nil, p.expected("',' or 'end of string'")
		}
		if !p.word && p.text != opAbsent {
			return nil, p.expected("identifier after ','")
		}
	}
}

func (p *labelParser) requirement() (t term, err error) {
	if p.text == opAbsent {
		t.operator = opAbsent
		p.next()
	}
	if !p.word {
		return t, p.expected("identifier")
	}
	t.key = p.text
	if problems := validate.QualifiedName(t.key); problems != nil {
		// Upstream passes no field path here, which it prints as <nil>.
		return t, errors.New(invalidLabel("<nil>", t.key, problems...))
	}
	p.next()
	if t.operator == opAbsent || p.text == "" || p.text == "," {
		return t, nil
	}
	switch t.operator = p.text; t.operator {
	case opEquals, opDoubleEquals, opNotEquals, opGreater, opLess:
		p.next()
		if p.word {
			t.value = p.text
			p.next()
		} else if p.text != "" && p.text != "," { // a missing value is the empty string
			return t, p.expected("identifier")
		}
	case opIn, opNotIn:
		p.next()
		if t.values, err = p.set(); err != nil {
			return t, err
		}
	default:
		return t, p.expected("in, notin, =, ==, !=, gt, lt")
	}
	return t, t.check()
}

// set parses the values of in and notin. A missing value, as in "()", is the empty string.
func (p *labelParser) set() (values []string, err error) {
	if p.text != "(" {
		return nil, fmt.Errorf("found '%s' expected: '('", p.text)
	}
	p.next()
	if !p.word && p.text != "," && p.text != ")" {
		return nil, p.expected("',', ')' or identifier")
	}
	for {
		value, named := "", p.word
		if named {
			value = p.text
			p.next()
		}
		values = append(values, value)
		switch {
		case p.text == ",":
			p.next()
		case p.text == ")":
			p.next()
			slices.Sort(values)
			return slices.Compact(values), nil
		case named:
			return nil, p.expected("',' or ')'")
		default:
			return nil, p.expected("',', or identifier")
		}
	}
}

// check validates the values of a requirement and sets the number of > and <. The key must be valid.
func (t *term) check() error {
	var problems []string
	if t.operator == opGreater || t.operator == opLess {
		var ok bool
		if t.number, ok = parseInteger(t.value); !ok {
			problems = append(problems, invalidLabel("values[0]", t.value, "for 'Gt', 'Lt' operators, the value must be an integer"))
		}
	}
	values := t.values
	if values == nil {
		values = []string{t.value}
	}
	for i, value := range values {
		if texts := validate.LabelValue(value); texts != nil {
			problems = append(problems, invalidLabel(fmt.Sprintf("values[%d][%s]", i, t.key), value, texts...))
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
