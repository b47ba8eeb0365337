package selector

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// expression is an expression of the Common Expression Language (CEL).
type expression struct {
	kind     celKind
	name     string       // function, path, or value of a string
	goType   string       // of a literal: the Go type of its value in cel-go
	operands []expression // of || and of a call
}

// celKind is the kind of an expression. Error texts show its number in cel-go's common/ast.
type celKind int

const (
	celCall    celKind = 1
	celIdent   celKind = 3
	celList    celKind = 4
	celLiteral celKind = 5
	celSelect  celKind = 7
)

// alternatives returns the operands of ||, from left to right, or the expression itself.
func (e expression) alternatives() []expression {
	if e.name == "_||_" {
		return e.operands
	}
	return []expression{e}
}

// The limits of cel-go. The second one bounds the recursion of the parser.
const (
	maxCELSize  = 100_000 // characters in an expression
	maxCELDepth = 250     // nested expressions
)

// celParser parses the part of CEL that shard selectors need: calls with paths, literals and lists as arguments, joined by
// || and &&, negated, in parentheses. The rest of CEL is a syntax error here; upstream parses it and refuses it later.
// The first error ends the text, so that every loop ends too.
type celParser struct {
	text  string // valid UTF-8: as upstream, each wrong byte is one U+FFFD
	at    int
	token celToken // the current token
	depth int      // of nested expressions
	err   error
}

func parseCEL(s string) (expression, error) {
	if size := utf8.RuneCountInString(s); size > maxCELSize {
		return expression{}, fmt.Errorf("expression code point size exceeds limit: size: %d, limit %d", size, maxCELSize)
	}
	p := celParser{text: string([]rune(s))}
	p.next()
	e := p.disjunction()
	if p.token.text != "" {
		p.unexpected()
	}
	return e, p.err
}

// unexpected reports the current token as a syntax error.
func (p *celParser) unexpected() {
	found := "end"
	if p.token.text != "" {
		found = strconv.Quote(p.token.text)
	}
	p.fail(fmt.Errorf("unexpected %s at character %d", found, utf8.RuneCountInString(p.text[:p.token.start])+1))
}

// fail keeps the first error and ends the text.
func (p *celParser) fail(err error) {
	if p.err == nil {
		p.err = err
	}
	p.at = len(p.text)
	p.next()
}

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

func (p *celParser) disjunction() expression {
	if p.depth++; p.depth > maxCELDepth {
		p.fail(fmt.Errorf("expression recursion limit exceeded: %d", maxCELDepth))
	}
	defer func() { p.depth-- }()
	e := p.conjunction()
	for p.take("||") {
		e = expression{kind: celCall, name: "_||_", operands: append(e.alternatives(), p.conjunction().alternatives()...)}
	}
	return e
}

func (p *celParser) conjunction() expression {
	e := p.unary()
	for p.take("&&") {
		p.unary()
		e = expression{kind: celCall, name: "_&&_"}
	}
	return e
}

// unary parses an operand behind any number of ! or of -. An even number of them cancels out, and a single - before a
// signed number belongs to the number.
func (p *celParser) unary() expression {
	operator, count := p.token.text, 0
	for (operator == "!" || operator == "-") && p.take(operator) {
		count++
	}
	isNegative := operator == "-" && count == 1 && p.token.kind == celNumber && p.token.goType != "uint64"
	e := p.operand()
	if count%2 == 0 || isNegative {
		return e
	}
	return expression{kind: celCall, name: operator + "_"}
}

// operand parses a literal, a list, an expression in parentheses, a path, or a call. As upstream it drops the receiver of
// a call: a.f() is f().
func (p *celParser) operand() expression {
	token := p.token
	switch {
	case token.goType != "":
		p.next()
		return expression{kind: celLiteral, name: token.value, goType: token.goType}
	case p.take("("):
		e := p.disjunction()
		p.expect(")")
		return e
	case p.take("["):
		p.list("]")
		return expression{kind: celList}
	}

	root := ""
	if p.take(".") {
		root = "."
	}
	names := []string{root + p.word()}
	for p.take(".") {
		names = append(names, p.word())
	}
	switch {
	case p.take("("):
		return expression{kind: celCall, name: names[len(names)-1], operands: p.list(")")}
	case len(names) == 1:
		return expression{kind: celIdent, name: names[0]}
	}
	return expression{kind: celSelect, name: strings.Join(names, ".")}
}

func (p *celParser) word() string {
	token := p.token
	if token.kind == celWord {
		p.next()
	} else {
		p.unexpected()
	}
	return token.value
}

// list parses expressions with commas between them up to the closing bracket.
func (p *celParser) list(end string) (items []expression) {
	if p.take(end) {
		return nil
	}
	items = append(items, p.disjunction())
	for p.take(",") {
		items = append(items, p.disjunction())
	}
	p.expect(end)
	return items
}

type celToken struct {
	kind   int
	text   string // as written; empty at the end
	start  int
	value  string // of a word or a string
	goType string // of a literal: the Go type of its value in cel-go
}

// The kinds of tokens are the groups of celPattern.
const (
	celString = iota + 1
	celWord
	celNumber
	celMark
)

// celPattern matches one token behind blanks and comments. Any character that begins no other token is a mark.
var celPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:[ \t\r\n\f]|//[^\n]*)*(?:` + strings.Join([]string{
		`([rR]?(?:'''(?:[^\\]|\\.)*?'''|"""(?:[^\\]|\\.)*?"""|'(?:[^'\\\r\n]|\\.)*'|"(?:[^"\\\r\n]|\\.)*"))`,
		"([A-Za-z_][A-Za-z0-9_]*|`[A-Za-z0-9_.\\-/ ]+`)",
		`([0-9]*\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|(?:0x[0-9a-fA-F]+|[0-9]+)[uU]?)`,
		`(\|\||&&|(?s:.))`,
	}, "|") + ")?")
})

func (p *celParser) next() {
	match := celPattern().FindStringSubmatchIndex(p.text[p.at:])
	p.token = celToken{start: p.at + match[1]}
	for kind := celString; kind <= celMark; kind++ {
		if start, end := match[2*kind], match[2*kind+1]; start >= 0 {
			p.token = celToken{kind: kind, start: p.at + start, text: p.text[p.at+start : p.at+end]}
			p.token.evaluate()
		}
	}
	p.at += match[1]
}

func (t *celToken) evaluate() {
	switch t.kind {
	case celString:
		var ok bool
		if t.value, ok = celStringValue(t.text); ok {
			t.goType = "string"
		} else {
			t.kind = celMark
		}
	case celWord:
		t.value = strings.Trim(t.text, "`")
		switch t.text {
		case "true", "false":
			t.goType = "bool"
		case "null":
			t.goType = "structpb.NullValue"
		}
	case celNumber:
		switch {
		case strings.ContainsAny(t.text, "uU"):
			t.goType = "uint64"
		case strings.HasPrefix(t.text, "0x") || !strings.ContainsAny(t.text, ".eE"):
			t.goType = "int64"
		default:
			t.goType = "float64"
		}
	}
}

// celStringValue returns the value of a string in one or three quotes, and false if an escape sequence is wrong.
func celStringValue(text string) (string, bool) {
	body := strings.TrimLeft(text, "rR")
	quotes := 1
	if len(body) >= 6 && body[1] == body[0] && body[2] == body[0] {
		quotes = 3
	}
	raw := len(body) < len(text)
	body = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(body[quotes : len(body)-quotes])
	if raw {
		return body, true
	}
	var value strings.Builder
	for body != "" {
		r, _, rest, err := strconv.UnquoteChar(body, 0)
		if err != nil {
			return "", false
		}
		value.WriteRune(r)
		body = rest
	}
	return value.String(), true
}
