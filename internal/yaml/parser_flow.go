package yaml

// nextFlowItem steps over the comma before an item, unless it is the first
// one, and returns the token after it. Both ends of the collection may follow.
func (p *parser) nextFlowItem(first bool, end tokenKind, problem string) (*token, error) {
	t, err := p.peek()
	if err != nil || first || t.kind == end {
		return t, err
	}
	if t.kind != tokenFlowEntry {
		return nil, failAt(t.line, problem)
	}
	p.take()
	return p.peek()
}

// parseFlowSequence parses the items of a sequence in brackets.
func (p *parser) parseFlowSequence(n *node) error {
	p.take()
	for first := true; ; first = false {
		t, err := p.nextFlowItem(first, tokenFlowSequenceEnd, "did not find expected ',' or ']'")
		if err != nil {
			return err
		}
		var item *node
		switch t.kind {
		case tokenFlowSequenceEnd:
			p.take()
			return nil
		case tokenKey:
			item, err = p.parseFlowPair(t.line)
		default:
			item, err = p.parseNode(false, false)
		}
		if err != nil {
			return err
		}
		n.children = append(n.children, item)
	}
}

// parseFlowPair parses an item of a sequence in brackets that is a mapping with
// a single key.
func (p *parser) parseFlowPair(line int) (*node, error) {
	n := p.nodes.new()
	n.kind, n.line = mappingNode, int32(line)
	p.take()
	t, err := p.peek()
	if err != nil {
		return nil, err
	}
	var key *node
	switch t.kind {
	case tokenValue, tokenFlowEntry, tokenFlowSequenceEnd:
		// Upstream loses this token, so what follows is a mistake.
		key = p.empty(t.line)
		p.take()
	default:
		if key, err = p.parseNode(false, false); err != nil {
			return nil, err
		}
	}
	value, err := p.parseFlowValue(tokenFlowSequenceEnd)
	if err != nil {
		return nil, err
	}
	n.children = []*node{key, value}
	_, err = p.peek()
	return n, err
}

// parseFlowMapping parses the keys and values of a mapping in braces.
func (p *parser) parseFlowMapping(n *node) error {
	p.take()
	for first := true; ; first = false {
		t, err := p.nextFlowItem(first, tokenFlowMappingEnd, "did not find expected ',' or '}'")
		if err != nil {
			return err
		}
		var key, value *node
		switch t.kind {
		case tokenFlowMappingEnd:
			p.take()
			return nil
		case tokenKey:
			key, value, err = p.parseFlowEntry()
		default:
			key, value, err = p.parseFlowKeyAlone()
		}
		if err != nil {
			return err
		}
		n.children = append(n.children, key, value)
	}
}

// parseFlowEntry parses a key and its value in braces. Either may be missing.
func (p *parser) parseFlowEntry() (key, value *node, err error) {
	p.take()
	t, err := p.peek()
	if err != nil {
		return nil, nil, err
	}
	switch t.kind {
	case tokenValue, tokenFlowEntry, tokenFlowMappingEnd:
		key = p.empty(t.line)
	default:
		if key, err = p.parseNode(false, false); err != nil {
			return nil, nil, err
		}
	}
	value, err = p.parseFlowValue(tokenFlowMappingEnd)
	return key, value, err
}

// parseFlowKeyAlone parses a key without a colon.
func (p *parser) parseFlowKeyAlone() (key, value *node, err error) {
	if key, err = p.parseNode(false, false); err != nil {
		return nil, nil, err
	}
	t, err := p.peek()
	if err != nil {
		return nil, nil, err
	}
	return key, p.empty(t.line), nil
}

// parseFlowValue parses the value after a key in a collection with this end.
func (p *parser) parseFlowValue(end tokenKind) (*node, error) {
	t, err := p.peek()
	if err != nil {
		return nil, err
	}
	if t.kind == tokenValue {
		p.take()
		if t, err = p.peek(); err != nil {
			return nil, err
		}
		if t.kind != tokenFlowEntry && t.kind != end {
			return p.parseNode(false, false)
		}
	}
	return p.empty(t.line), nil
}
