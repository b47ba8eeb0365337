package yaml

import (
	"errors"
	"fmt"
)

// parser builds the nodes of the first document of a stream.
type parser struct {
	*scanner
	nodes   nodeStore
	handles map[string]string // prefixes of the tag handles
	anchors map[string]*node
}

// parse returns the root of the first document, nil if there is none.
func parse(data []byte) (*node, error) {
	p := parser{scanner: newScanner(data), anchors: make(map[string]*node)}
	if err := p.need(1); err != nil {
		return nil, err
	}
	t, err := p.peek()
	if err != nil || t.kind == tokenStreamEnd {
		return nil, err
	}
	root, err := p.parseDocument(t.kind)
	if err != nil {
		return nil, err
	}
	// The document must end well. What follows is never looked at.
	if _, err := p.peek(); err != nil {
		return nil, err
	}
	return root, nil
}

// failAt returns an error about a token. Its line is that of the token from
// zero, as upstream forgets to add one.
func failAt(line int, problem string) error {
	if line == 0 {
		return errors.New("yaml: " + problem)
	}
	return fmt.Errorf("yaml: line %d: %s", line, problem)
}

// parseDocument parses a document that starts with a token of this kind.
func (p *parser) parseDocument(first tokenKind) (*node, error) {
	t, err := p.parseDirectives()
	if err != nil {
		return nil, err
	}
	switch first {
	case tokenVersion, tokenTagDirective, tokenDocumentStart:
		if t.kind != tokenDocumentStart {
			return nil, failAt(t.line, "did not find expected <document start>")
		}
		p.take()
		if t, err = p.peek(); err != nil {
			return nil, err
		}
		switch t.kind {
		case tokenVersion, tokenTagDirective, tokenDocumentStart, tokenDocumentEnd, tokenStreamEnd:
			return p.empty(t.line), nil
		}
	}
	return p.parseNode(true, false)
}

// parseDirectives parses the lines before the start of the document and
// returns the token after them.
func (p *parser) parseDirectives() (*token, error) {
	p.handles = make(map[string]string, 2)
	versioned := false
	for {
		t, err := p.peek()
		switch {
		case err != nil:
			return nil, err
		case t.kind == tokenVersion && versioned:
			return nil, failAt(t.line, "found duplicate %YAML directive")
		case t.kind == tokenVersion && t.value != "1.1":
			return nil, failAt(t.line, "found incompatible YAML document")
		case t.kind == tokenVersion:
			versioned = true
		case t.kind == tokenTagDirective:
			if _, twice := p.handles[t.value]; twice {
				return nil, failAt(t.line, "found duplicate %TAG directive")
			}
			p.handles[t.value] = t.suffix
		default:
			p.addDefaultHandles()
			return t, nil
		}
		p.take()
	}
}

// addDefaultHandles adds the handles that need no directive.
func (p *parser) addDefaultHandles() {
	for handle, prefix := range map[string]string{"!": "!", "!!": tagPrefix} {
		if _, ok := p.handles[handle]; !ok {
			p.handles[handle] = prefix
		}
	}
}

// empty returns a scalar that is not there.
func (p *parser) empty(line int) *node {
	n := p.nodes.new()
	n.plain, n.line = true, int32(line)
	return n
}

// properties are what may precede a node.
type properties struct {
	anchor, tag string
	line        int // of the first one, or of what follows
}

// parseProperties parses an anchor and a tag in any order and returns them
// with the token that follows.
func (p *parser) parseProperties() (props properties, t *token, err error) {
	if t, err = p.peek(); err != nil {
		return props, nil, err
	}
	props.line = t.line
	tagged := false
	var handle, suffix string
	tagLine := 0
	for range 2 {
		switch {
		case t.kind == tokenAnchor && props.anchor == "":
			props.anchor = t.value
		case t.kind == tokenTag && !tagged:
			tagged, handle, suffix, tagLine = true, t.value, t.suffix, t.line
		default:
			continue
		}
		p.take()
		if t, err = p.peek(); err != nil {
			return props, nil, err
		}
	}
	if tagged {
		if props.tag, err = p.resolveTag(handle, suffix, tagLine); err != nil {
			return props, nil, err
		}
	}
	return props, t, nil
}

// resolveTag returns a tag in full.
func (p *parser) resolveTag(handle, suffix string, line int) (string, error) {
	if handle == "" {
		return suffix, nil
	}
	prefix, ok := p.handles[handle]
	if !ok || prefix+suffix == "" {
		return "", failAt(line, "found undefined tag handle")
	}
	return prefix + suffix, nil
}

// parseNode parses a node with its properties. Block collections need block,
// and sequences at the level of their key need indentless.
func (p *parser) parseNode(block, indentless bool) (*node, error) {
	props, t, err := p.parseProperties()
	if err != nil {
		return nil, err
	}
	bare := props.anchor == "" && props.tag == ""
	if t.kind == tokenAlias && bare {
		return p.parseAlias(t)
	}
	n := p.nodes.new()
	n.line = int32(props.line)
	if props.anchor != "" {
		p.anchors[props.anchor] = n
	}
	switch {
	case indentless && t.kind == tokenBlockEntry:
		n.kind = sequenceNode
		return n, p.parseIndentless(n)
	case t.kind == tokenScalar:
		n.tag, n.value = props.tag, t.value
		n.plain = props.tag == "" && t.plain || props.tag == "!"
		p.take()
		return n, nil
	case t.kind == tokenFlowSequence:
		n.kind = sequenceNode
		return n, p.parseFlowSequence(n)
	case t.kind == tokenFlowMapping:
		n.kind = mappingNode
		return n, p.parseFlowMapping(n)
	case block && t.kind == tokenBlockSequence:
		n.kind = sequenceNode
		return n, p.parseBlockSequence(n)
	case block && t.kind == tokenBlockMapping:
		n.kind = mappingNode
		return n, p.parseBlockMapping(n)
	case !bare:
		n.tag = props.tag
		n.plain = props.tag == ""
		return n, nil
	}
	return nil, failAt(t.line, "did not find expected node content")
}

// parseAlias parses an alias. What it stands for must have been seen, but it
// may be a collection that goes on.
func (p *parser) parseAlias(t *token) (*node, error) {
	target, ok := p.anchors[t.value]
	if !ok {
		return nil, fmt.Errorf("yaml: unknown anchor '%s' referenced", t.value)
	}
	n := p.nodes.new()
	*n = node{kind: aliasNode, line: int32(t.line), value: t.value, children: []*node{target}}
	p.take()
	return n, nil
}
