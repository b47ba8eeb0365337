package selector

import (
	"fmt"
	"strings"
)

// celKind is a kind of expression. The numbers are those of cel-go's common/ast, because error texts show them.
type celKind int

const (
	celCall    celKind = 1
	celIdent   celKind = 3
	celList    celKind = 4
	celLiteral celKind = 5
	celMap     celKind = 6
	celSelect  celKind = 7
	celStruct  celKind = 8
)

// celOr is the name of the function behind the operator ||.
const celOr = "_||_"

// celNode is an expression of the Common Expression Language, with no more kept of it than shard selectors need: what it
// is, and of calls, paths and literals what is in them.
type celNode struct {
	kind   celKind
	name   string    // function called, identifier, field selected, or value of a string
	goType string    // of a literal: the Go type upstream holds its value in
	args   []celNode // arguments of a call in call syntax, operands of ||, operand of a selection
}

// alternatives returns what the operator || joins, from left to right, with parentheses and nesting taken away. Recursion
// is no deeper than the parser was.
func (n celNode) alternatives() []celNode {
	if n.kind != celCall || n.name != celOr {
		return []celNode{n}
	}
	var all []celNode
	for _, arg := range n.args {
		all = append(all, arg.alternatives()...)
	}
	return all
}

// path returns a selection like object.metadata.uid as text.
func (n celNode) path() (string, error) {
	var names []string
	for n.kind == celSelect {
		names = append(names, n.name)
		n = n.args[0]
	}
	if n.kind != celIdent {
		return "", fmt.Errorf("expected field path (e.g. object.metadata.uid), got expression kind %d", n.kind)
	}
	path := []string{n.name}
	for i := range names {
		path = append(path, names[len(names)-1-i])
	}
	return strings.Join(path, "."), nil
}

// maxCELSize is the length of the longest expression read, in code points; cel-go has the same limit.
const maxCELSize = 100_000

// parseCEL reads an expression. Its texts follow cel-go, whose syntax errors come from a generated parser: the common ones
// are the same to the letter, rare ones may differ in which of several things wrong they name.
func parseCEL(s string) (celNode, error) {
	// Each byte which is not UTF-8 counts as U+FFFD.
	runes := []rune(s)
	if len(runes) > maxCELSize {
		return celNode{}, fmt.Errorf("expression code point size exceeds limit: size: %d, limit %d", len(runes), maxCELSize)
	}
	p := celParser{scan: celScanner{text: string(runes)}}
	p.next()
	expr, err := p.expr(setOf(celEnd))
	if err == nil {
		err = p.expect(celEnd, 0)
	}
	switch {
	case p.scan.err != nil: // parsing stops at its first error, so the scanner's came before it
		return celNode{}, p.scan.err
	case err != nil:
		return celNode{}, err
	case p.late != nil:
		return celNode{}, p.late
	}
	return expr, nil
}
