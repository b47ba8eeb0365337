package selector

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// celSet is a set of kinds of words.
type celSet uint64

func setOf(kinds ...celToken) celSet {
	var s celSet
	for _, kind := range kinds {
		s |= 1 << kind
	}
	return s
}

func (s celSet) has(kind celToken) bool {
	return s&(1<<kind) != 0
}

// String returns the set as error texts show it: a single kind alone, several in braces.
func (s celSet) String() string {
	var names []string
	for kind := range celTokenCount {
		if s.has(kind) {
			names = append(names, kind.String())
		}
	}
	if len(names) == 1 {
		return names[0]
	}
	return "{" + strings.Join(names, ", ") + "}"
}

// The words an expression may start with, and those which may go on behind one.
const (
	celStart celSet = 1<<celOpenBracket | 1<<celOpenBrace | 1<<celOpenParen | 1<<celDot | 1<<celMinus | 1<<celNot |
		1<<celTrue | 1<<celFalse | 1<<celNull | 1<<celFloat | 1<<celInt | 1<<celUint | 1<<celString | 1<<celBytes | 1<<celWord
	celGoesOn celSet = 1<<celEqual | 1<<celNotEqual | 1<<celIn | 1<<celLess | 1<<celLessEqual | 1<<celGreaterEqual |
		1<<celGreater | 1<<celAndAnd | 1<<celOrOr | 1<<celOpenBracket | 1<<celDot | 1<<celMinus | 1<<celQuestion |
		1<<celPlus | 1<<celTimes | 1<<celDivide | 1<<celModulo
)

// maxCELDepth limits how deep expressions may be nested, which bounds the recursion of the parser. cel-go has the same limit,
// and one more which is not kept here: on chains like a.b.c, which are read in a loop.
const maxCELDepth = 250

// celParser reads an expression by recursive descent. It stops at the first syntax error. Each function starts at the
// current word and leaves behind the last word it used; follow is what may stand there.
type celParser struct {
	scan   celScanner
	word   celWordAt // the current word
	ahead  celWordAt // the word behind it, if peeked is set
	peeked bool
	depth  int   // of the current expression
	late   error // the first error of meaning, told if the syntax is good
}

func (p *celParser) next() {
	if p.peeked {
		p.word, p.peeked = p.ahead, false
		return
	}
	p.word = p.scan.next()
}

func (p *celParser) peek() celWordAt {
	if !p.peeked {
		p.ahead, p.peeked = p.scan.next(), true
	}
	return p.ahead
}

// take moves on if the current word is of the given kind.
func (p *celParser) take(kind celToken) bool {
	if p.word.kind != kind {
		return false
	}
	p.next()
	return true
}

// expect moves past a word of the given kind. If another is there, the text depends on whether leaving that word out, or
// taking the missing one as given, would help; follow is what may come behind the missing one.
func (p *celParser) expect(kind celToken, follow celSet) error {
	if p.take(kind) {
		return nil
	}
	if p.peek().kind != kind && follow.has(p.word.kind) {
		return fmt.Errorf("Syntax error: missing %s at '%s'", kind, p.word)
	}
	return p.unexpected(setOf(kind))
}

// unexpected says that the current word is not among those wanted.
func (p *celParser) unexpected(wanted celSet) error {
	problem := "mismatched"
	if wanted.has(p.peek().kind) {
		problem = "extraneous"
	}
	return fmt.Errorf("Syntax error: %s input '%s' expecting %s", problem, p.word, wanted)
}

// noAlternative says that the words from the given one to the current one begin nothing. A word like true directly behind
// one character, mostly a dot, has a text of its own (cel-go, parser SyntaxError).
func (p *celParser) noAlternative(from celWordAt) error {
	kind := p.word.kind
	if (kind == celTrue || kind == celFalse || kind == celNull) && p.word.start == from.start+1 {
		return fmt.Errorf("Syntax error: mismatched input '%s' expecting IDENTIFIER", p.word)
	}
	return fmt.Errorf("Syntax error: no viable alternative at input '%s'",
		visible(p.scan.text[from.start:p.word.start+len(p.word.text)]))
}

// tellLate keeps the first error of meaning.
func (p *celParser) tellLate(err error) {
	if p.late == nil {
		p.late = err
	}
}

// expr reads an expression: a disjunction, or condition ? disjunction : expression.
func (p *celParser) expr(follow celSet) (celNode, error) {
	if p.depth++; p.depth > maxCELDepth {
		return celNode{}, fmt.Errorf("expression recursion limit exceeded: %d", maxCELDepth)
	}
	defer func() { p.depth-- }()
	condition, err := p.or(follow)
	if err != nil || !p.take(celQuestion) {
		return condition, err
	}
	if _, err = p.or(setOf(celColon)); err == nil {
		err = p.expect(celColon, celStart)
	}
	if err == nil {
		_, err = p.expr(follow)
	}
	return celNode{kind: celCall, name: "_?_:_"}, err
}

// or reads operands of ||, the only operator whose operands are kept.
func (p *celParser) or(follow celSet) (celNode, error) {
	first, err := p.and(follow)
	if err != nil || p.word.kind != celOrOr {
		return first, err
	}
	node := celNode{kind: celCall, name: celOr, args: []celNode{first}}
	for p.take(celOrOr) {
		operand, err := p.and(follow)
		if err != nil {
			return celNode{}, err
		}
		node.args = append(node.args, operand)
	}
	return node, nil
}

func (p *celParser) and(follow celSet) (celNode, error) {
	node, err := p.relation(follow)
	for err == nil && p.take(celAndAnd) {
		node = celNode{kind: celCall, name: "_&&_"}
		_, err = p.relation(follow)
	}
	return node, err
}

func (p *celParser) relation(follow celSet) (celNode, error) {
	operators := setOf(celEqual, celNotEqual, celIn, celLess, celLessEqual, celGreaterEqual, celGreater)
	return p.chain(operators, p.sum, follow)
}

func (p *celParser) sum(follow celSet) (celNode, error) {
	return p.chain(setOf(celPlus, celMinus), p.product, follow)
}

func (p *celParser) product(follow celSet) (celNode, error) {
	return p.chain(setOf(celTimes, celDivide, celModulo), p.unary, follow)
}

// chain reads operands with any of the given operators between them.
func (p *celParser) chain(operators celSet, operand func(celSet) (celNode, error), follow celSet) (celNode, error) {
	node, err := operand(follow)
	for err == nil && operators.has(p.word.kind) {
		node = celNode{kind: celCall, name: "_" + p.word.text + "_"}
		if p.word.kind == celIn {
			node.name = "@in"
		}
		p.next()
		_, err = operand(follow)
	}
	return node, err
}

// unary reads an operand with any number of ! or of - in front, an even number of which cancel out. A single - in front of
// a number belongs to the number.
func (p *celParser) unary(follow celSet) (celNode, error) {
	operator := p.word
	count := 0
	switch operator.kind {
	case celNot:
		for p.take(celNot) {
			count++
		}
		if !celStart.has(p.word.kind) {
			return celNode{}, fmt.Errorf("Syntax error: extraneous input '%s' expecting %s", p.word, celStart)
		}
	case celMinus:
		if kind := p.peek().kind; kind == celInt || kind == celFloat {
			break
		}
		last := operator
		for ; p.word.kind == celMinus; count++ {
			last = p.word
			p.next()
		}
		if p.word.kind == celNot || !celStart.has(p.word.kind) {
			return celNode{}, p.noAlternative(last)
		}
	}
	node, err := p.member(follow)
	if count%2 == 1 {
		node = celNode{kind: celCall, name: operator.text + "_"}
	}
	return node, err
}

// member reads an operand and the selections, calls and indexes behind it.
func (p *celParser) member(follow celSet) (celNode, error) {
	late := p.late
	typeName := p.word.kind == celWord || p.word.kind == celDot // what was read so far may be the name of a message type
	node, err := p.primary(follow)
	typeName = typeName && node.kind == celIdent
	for err == nil {
		switch {
		case p.word.kind == celOpenBrace && typeName:
			p.late = late // the name of a type may be a reserved word
			node, err = p.message(follow)
			typeName = false
		case p.word.kind == celDot:
			typeName = typeName && p.peek().kind == celWord
			node, err = p.selection(node, follow)
			typeName = typeName && node.kind == celSelect
		case p.word.kind == celOpenBracket:
			node, err = p.index(follow)
			typeName = false
		default:
			return node, nil
		}
	}
	return celNode{}, err
}

// selection reads a field or a method behind a dot.
func (p *celParser) selection(operand celNode, follow celSet) (celNode, error) {
	dot := p.word
	p.next()
	optional := p.take(celQuestion)
	name := p.word
	switch {
	case name.kind == celQuotedWord:
		p.next()
		return p.field(operand, strings.Trim(name.text, "`"), optional), nil
	case name.kind == celWord:
		p.next()
		if p.word.kind != celOpenParen || optional {
			return p.field(operand, name.text, optional), nil
		}
		args, err := p.arguments(follow)
		return celNode{kind: celCall, name: name.text, args: args}, err
	case optional:
		return celNode{}, p.unexpected(setOf(celWord, celQuotedWord))
	}
	return celNode{}, p.noAlternative(dot)
}

func (p *celParser) field(operand celNode, name string, optional bool) celNode {
	if optional {
		p.tellLate(errors.New("unsupported syntax '.?'"))
	}
	return celNode{kind: celSelect, name: name, args: []celNode{operand}}
}

func (p *celParser) index(follow celSet) (celNode, error) {
	p.next()
	optional := p.word.kind == celQuestion
	if !optional && !celStart.has(p.word.kind) {
		return celNode{}, p.unexpected(celStart | setOf(celQuestion))
	}
	p.take(celQuestion)
	if _, err := p.expr(setOf(celCloseBracket)); err != nil {
		return celNode{}, err
	}
	if optional {
		p.tellLate(errors.New("unsupported syntax '[?'"))
	}
	return celNode{kind: celCall, name: "_[_]"}, p.expect(celCloseBracket, celGoesOn|follow)
}

// primary reads what operands are made of.
func (p *celParser) primary(follow celSet) (celNode, error) {
	first := p.word
	switch first.kind {
	case celDot:
		p.next()
		if p.word.kind != celWord {
			return celNode{}, p.noAlternative(first)
		}
		return p.name(".", follow)
	case celWord:
		return p.name("", follow)
	case celOpenParen:
		p.next()
		node, err := p.expr(setOf(celCloseParen))
		if err == nil {
			err = p.expect(celCloseParen, celGoesOn|follow)
		}
		return node, err
	case celOpenBracket:
		return celNode{kind: celList}, p.list(follow)
	case celOpenBrace:
		return celNode{kind: celMap}, p.entries(celStart, p.key, follow)
	case celMinus:
		p.next()
		if p.word.kind != celInt && p.word.kind != celFloat {
			return celNode{}, p.noAlternative(first)
		}
		return p.literal("-"), nil
	}
	if !celStart.has(first.kind) || first.kind == celNot {
		return celNode{}, p.unexpected(celStart)
	}
	return p.literal(""), nil
}

func (p *celParser) literal(sign string) celNode {
	node, err := literal(p.word, sign)
	if err != nil {
		p.tellLate(err)
	}
	p.next()
	return node
}

// name reads an identifier or the call of a function.
func (p *celParser) name(dot string, follow celSet) (celNode, error) {
	word := p.word.text
	p.next()
	if isReserved(word) {
		p.tellLate(errors.New("reserved identifier: " + word))
	}
	if p.word.kind != celOpenParen {
		return celNode{kind: celIdent, name: dot + word}, nil
	}
	args, err := p.arguments(follow)
	return celNode{kind: celCall, name: dot + word, args: args}, err
}

// arguments reads the arguments of a call, from its opening parenthesis to behind the closing one.
func (p *celParser) arguments(follow celSet) ([]celNode, error) {
	p.next()
	if p.take(celCloseParen) {
		return nil, nil
	}
	if !celStart.has(p.word.kind) {
		return nil, p.unexpected(celStart | setOf(celCloseParen))
	}
	var args []celNode
	for {
		arg, err := p.expr(setOf(celComma, celCloseParen))
		if err != nil {
			return nil, err
		}
		args = append(args, arg)
		if !p.take(celComma) {
			return args, p.expect(celCloseParen, celGoesOn|follow)
		}
	}
}

func (p *celParser) list(follow celSet) error {
	element := func() error {
		optional := p.take(celQuestion)
		_, err := p.expr(setOf(celComma, celCloseBracket))
		if optional {
			p.tellLate(errors.New("unsupported syntax '?'"))
		}
		return err
	}
	return p.items(celStart|setOf(celQuestion), celCloseBracket, element, follow)
}

// message reads the fields of a message behind the name of its type.
func (p *celParser) message(follow celSet) (celNode, error) {
	return celNode{kind: celStruct}, p.entries(setOf(celWord, celQuotedWord), p.fieldName, follow)
}

func (p *celParser) key() error {
	_, err := p.expr(setOf(celColon))
	return err
}

func (p *celParser) fieldName() error {
	if p.word.kind != celWord && p.word.kind != celQuotedWord {
		return p.unexpected(setOf(celWord, celQuotedWord))
	}
	p.next()
	return nil
}

// entries reads pairs in braces. Start is what the name of one may start with.
func (p *celParser) entries(start celSet, name func() error, follow celSet) error {
	entry := func() error {
		if p.take(celQuestion) {
			p.tellLate(errors.New("unsupported syntax '?'"))
		}
		err := name()
		if err == nil {
			err = p.expect(celColon, celStart)
		}
		if err == nil {
			_, err = p.expr(setOf(celComma, celCloseBrace))
		}
		return err
	}
	return p.items(start|setOf(celQuestion), celCloseBrace, entry, follow)
}

// items reads items with commas between them, from the opening bracket to behind the closing one. A comma may stand before
// the closing bracket, even alone.
func (p *celParser) items(start celSet, end celToken, item func() error, follow celSet) error {
	p.next()
	if !start.has(p.word.kind) && p.word.kind != end && p.word.kind != celComma {
		return p.unexpected(start | setOf(end, celComma))
	}
	for start.has(p.word.kind) {
		if err := item(); err != nil {
			return err
		}
		if p.word.kind != celComma {
			if p.word.kind != end {
				return p.unexpected(setOf(end, celComma))
			}
			break
		}
		if !start.has(p.peek().kind) {
			break
		}
		p.next()
	}
	p.take(celComma)
	return p.expect(end, celGoesOn|follow)
}

// isReserved reports whether a word must not be the name of a variable or function (cel-go, parser reservedIds).
func isReserved(word string) bool {
	reserved := [...]string{"as", "break", "const", "continue", "else", "for", "function", "if", "import", "let", "loop",
		"package", "namespace", "return", "var", "void", "while"}
	return slices.Contains(reserved[:], word)
}
