package selector

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// celKind is the kind of an expression. The numbers are those of cel-go's common/ast, because error texts show them.
type celKind int

const (
	celCall    celKind = 1
	celIdent   celKind = 3
	celList    celKind = 4
	celLiteral celKind = 5
	celMap     celKind = 6
	celSelect  celKind = 7
	celMessage celKind = 8
)

const (
	maxCELSize  = 100_000 // characters in an expression; cel-go's own limit
	maxCELDepth = 250     // nested expressions, which bounds the recursion of the parser; cel-go's own limit
)

// celNode is an expression of the Common Expression Language (CEL). It keeps only what shard selectors need.
type celNode struct {
	kind     celKind
	name     string    // function, identifier or selected field; value of a string literal
	goType   string    // of a literal: the Go type of its value in cel-go
	args     []celNode // arguments of a call, operands of ||, operand of a selection
	typeName bool      // a path without parentheses, which may name the type of a message
}

// alternatives returns the operands of ||, from left to right, or the expression itself.
func (n celNode) alternatives() []celNode {
	if n.kind == celCall && n.name == "_||_" {
		return n.args
	}
	return []celNode{n}
}

// path returns a selection such as object.metadata.uid as text.
func (n celNode) path() (string, error) {
	var names []string
	for ; n.kind == celSelect; n = n.args[0] {
		names = append(names, n.name)
	}
	if n.kind != celIdent {
		return "", fmt.Errorf("expected field path (e.g. object.metadata.uid), got expression kind %d", n.kind)
	}
	names = append(names, n.name)
	slices.Reverse(names)
	return strings.Join(names, "."), nil
}

// celParser parses the grammar in cel-go's parser/gen/CEL.g4 by recursive descent. The first error ends the text, so that
// every loop ends too.
type celParser struct {
	celScanner
	depth int // of nested expressions
	err   error
}

// parseCEL parses an expression. All syntax errors share one text, which names the place.
//
// It accepts what cel-go accepts, with small exceptions that matter only in the receiver of a call, which nobody looks at:
// numbers may be out of range, bytes may hold code points, a chain such as a.b.c may have any length, and the type of a
// message must not be a reserved word.
func parseCEL(s string) (celNode, error) {
	if size := utf8.RuneCountInString(s); size > maxCELSize {
		return celNode{}, fmt.Errorf("expression code point size exceeds limit: size: %d, limit %d", size, maxCELSize)
	}
	p := celParser{celScanner: celScanner{text: strings.ToValidUTF8(s, "\uFFFD")}}
	p.next()
	node := p.expr()
	if p.err == nil && p.token.kind != celEnd {
		p.unexpected()
	}
	return node, p.err
}

// unexpected reports the current token as a syntax error.
func (p *celParser) unexpected() {
	what := "end"
	if p.token.kind != celEnd {
		what = fmt.Sprintf("%q", p.token.text)
	}
	p.fail(fmt.Errorf("unexpected %s at character %d", what, utf8.RuneCountInString(p.text[:p.token.start])+1))
}

// fail keeps the first error and ends the text.
func (p *celParser) fail(err error) {
	if p.err == nil {
		p.err = err
	}
	p.at = len(p.text)
	p.next()
}

// take reports whether the current token is the given one, and if so moves past it.
func (p *celParser) take(text string) bool {
	found := p.token.text == text
	if found {
		p.next()
	}
	return found
}

func (p *celParser) expect(text string) {
	if !p.take(text) {
		p.unexpected()
	}
}

// expectName returns a token of one of the given kinds and moves past it.
func (p *celParser) expectName(kinds ...celTokenKind) celToken {
	token := p.token
	if slices.Contains(kinds, token.kind) {
		p.next()
	} else {
		p.unexpected()
	}
	return token
}

// expr parses any expression.
func (p *celParser) expr() celNode {
	if p.depth++; p.depth > maxCELDepth {
		p.fail(fmt.Errorf("expression recursion limit exceeded: %d", maxCELDepth))
	}
	defer func() { p.depth-- }()
	node := p.binary(1)
	if p.take("?") {
		p.binary(1)
		p.expect(":")
		p.expr()
		return celNode{kind: celCall, name: "_?_:_"}
	}
	return node
}

// celPrecedence returns how tightly an operator binds its two operands, or 0 for any other token.
func celPrecedence(operator string) int {
	switch operator {
	case "||":
		return 1
	case "&&":
		return 2
	case "<", "<=", ">=", ">", "==", "!=", "in":
		return 3
	case "+", "-":
		return 4
	case "*", "/", "%":
		return 5
	}
	return 0
}

// binary parses operands with operators of the given precedence or more between them.
func (p *celParser) binary(lowest int) celNode {
	node := p.unary()
	for {
		operator := p.token.text
		precedence := celPrecedence(operator)
		if precedence < lowest {
			return node
		}
		p.next()
		right := p.binary(precedence + 1)
		switch operator {
		case "||":
			node = celNode{kind: celCall, name: "_||_", args: append(node.alternatives(), right.alternatives()...)}
		case "in":
			node = celNode{kind: celCall, name: "@in"}
		default:
			node = celNode{kind: celCall, name: "_" + operator + "_"}
		}
	}
}

// unary parses an operand behind any number of ! or of -. An even number of them cancels out, and a single - before a
// number belongs to the number.
func (p *celParser) unary() celNode {
	nots, minuses := 0, 0
	for p.take("!") {
		nots++
	}
	for p.take("-") {
		minuses++
	}
	if isNumber := p.token.goType == "int64" || p.token.goType == "float64"; isNumber && minuses == 1 {
		minuses = 0
	}
	if nots > 0 && minuses > 0 {
		p.unexpected()
	}
	node := p.member()
	switch {
	case nots%2 == 1:
		return celNode{kind: celCall, name: "!_"}
	case minuses%2 == 1:
		return celNode{kind: celCall, name: "-_"}
	}
	return node
}

// member parses an operand with the selections, calls and indexes behind it.
func (p *celParser) member() celNode {
	node := p.primary()
	for {
		switch {
		case p.take("."):
			name := p.expectName(celWord, celQuotedWord)
			if name.kind == celWord && p.take("(") {
				node = celNode{kind: celCall, name: name.text, args: p.arguments()}
				break
			}
			node = celNode{kind: celSelect, name: strings.Trim(name.text, "`"), args: []celNode{node},
				typeName: node.typeName && name.kind == celWord}
		case p.take("["):
			p.expr()
			p.expect("]")
			node = celNode{kind: celCall, name: "_[_]"}
		case node.typeName && p.take("{"):
			p.items("}", func() { p.expectName(celWord, celQuotedWord); p.expect(":"); p.expr() })
			node = celNode{kind: celMessage}
		default:
			return node
		}
	}
}

// primary parses an operand without what follows it.
func (p *celParser) primary() celNode {
	switch {
	case p.token.kind == celValue:
		token := p.token
		p.next()
		return celNode{kind: celLiteral, name: token.value, goType: token.goType}
	case p.take("("):
		node := p.expr()
		p.expect(")")
		node.typeName = false
		return node
	case p.take("["):
		p.items("]", func() { p.expr() })
		return celNode{kind: celList}
	case p.take("{"):
		p.items("}", func() { p.expr(); p.expect(":"); p.expr() })
		return celNode{kind: celMap}
	}

	name := ""
	if p.take(".") {
		name = "."
	}
	if isReserved(p.token.text) {
		p.unexpected()
	}
	name += p.expectName(celWord).text
	if p.take("(") {
		return celNode{kind: celCall, name: name, args: p.arguments()}
	}
	return celNode{kind: celIdent, name: name, typeName: true}
}

// arguments parses the arguments of a call, behind its opening parenthesis.
func (p *celParser) arguments() (args []celNode) {
	if p.take(")") {
		return nil
	}
	args = append(args, p.expr())
	for p.take(",") {
		args = append(args, p.expr())
	}
	p.expect(")")
	return args
}

// items parses items with commas between them, behind an opening bracket. A comma may stand before the closing bracket,
// even without an item.
func (p *celParser) items(end string, item func()) {
	if !p.take(",") {
		for p.err == nil && p.token.text != end {
			item()
			if !p.take(",") {
				break
			}
		}
	}
	p.expect(end)
}

// isReserved reports whether a word must not name a variable or a function (cel-go, parser reservedIds).
func isReserved(word string) bool {
	return slices.Contains(strings.Fields(
		"as break const continue else for function if import let loop package namespace return var void while"), word)
}
