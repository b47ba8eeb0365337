package selector

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubecoord/kubecoord/internal/validate"
)

// ParseLabels parses a label selector, such as "app=web,tier in (front,back),!canary". The empty text selects every object.
//
// The grammar and the error texts come from apimachinery's pkg/labels Parse. Keys and values must be valid in labels.
func ParseLabels(s string) (Labels, error) {
	p := labelParser{labelScanner{rest: s}}
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
// that it does not use.
type labelParser struct {
	labelScanner
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
		return r, invalidLabel("<nil>", r.key, problems)
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
	var problems []error
	if r.operator == labelGreater || r.operator == labelLess {
		var ok bool
		if r.number, ok = parseInteger(r.value); !ok {
			problems = append(problems,
				invalidLabel("values[0]", r.value, []string{"for 'Gt', 'Lt' operators, the value must be an integer"}))
		}
	}
	for i, value := range r.values {
		if texts := validate.LabelValue(value); texts != nil {
			problems = append(problems, invalidLabel(fmt.Sprintf("values[%d][%s]", i, r.key), value, texts))
		}
	}
	if texts := validate.LabelValue(r.value); texts != nil {
		problems = append(problems, invalidLabel("values[0]["+r.key+"]", r.value, texts))
	}
	return aggregate(problems)
}

// invalidLabel returns the error for a key or a value that breaks rules, in the form of apimachinery's field.Error.
func invalidLabel(path, value string, problems []string) error {
	return fmt.Errorf("%s: Invalid value: %q: %s", path, value, strings.Join(problems, "; "))
}

// aggregate joins errors as apimachinery's util/errors Aggregate does: several stand in brackets. Aggregate drops repeated
// texts, but these differ by their index.
func aggregate(problems []error) error {
	switch len(problems) {
	case 0:
		return nil
	case 1:
		return problems[0]
	}
	texts := make([]string, len(problems))
	for i, problem := range problems {
		texts[i] = problem.Error()
	}
	return fmt.Errorf("[%s]", strings.Join(texts, ", "))
}
