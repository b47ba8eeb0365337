package yaml

import "slices"

// parseBlockSequence parses the items of a block sequence of its own level.
func (p *parser) parseBlockSequence(n *node) error {
	for p.take(); ; {
		t, err := p.peek()
		if err != nil {
			return err
		}
		switch t.kind {
		case tokenBlockEntry:
			item, err := p.parseAfter(false, tokenBlockEntry, tokenBlockEnd)
			if err != nil {
				return err
			}
			n.children = append(n.children, item)
		case tokenBlockEnd:
			p.take()
			return nil
		default:
			return failAt(t.line, "did not find expected '-' indicator")
		}
	}
}

// parseIndentless parses the items of a sequence at the level of its key.
func (p *parser) parseIndentless(n *node) error {
	for {
		t, err := p.peek()
		if err != nil || t.kind != tokenBlockEntry {
			return err
		}
		item, err := p.parseAfter(false, tokenBlockEntry, tokenKey, tokenValue, tokenBlockEnd)
		if err != nil {
			return err
		}
		n.children = append(n.children, item)
	}
}

// parseAfter takes an indicator and parses the block node that follows. There
// is none if one of the kinds follows at once.
func (p *parser) parseAfter(indentless bool, none ...tokenKind) (*node, error) {
	t, err := p.peek()
	if err != nil {
		return nil, err
	}
	line := t.line
	p.take()
	if t, err = p.peek(); err != nil {
		return nil, err
	}
	if slices.Contains(none, t.kind) {
		return p.empty(line), nil
	}
	return p.parseNode(true, indentless)
}

// parseBlockMapping parses the keys and values of a block mapping.
func (p *parser) parseBlockMapping(n *node) error {
	for p.take(); ; {
		t, err := p.peek()
		if err != nil {
			return err
		}
		switch t.kind {
		case tokenKey:
			key, err := p.parseAfter(true, tokenKey, tokenValue, tokenBlockEnd)
			if err != nil {
				return err
			}
			value, err := p.parseBlockValue()
			if err != nil {
				return err
			}
			n.children = append(n.children, key, value)
		case tokenBlockEnd:
			p.take()
			return nil
		default:
			return failAt(t.line, "did not find expected key")
		}
	}
}

// parseBlockValue parses the value after a key, which may be missing together
// with its colon.
func (p *parser) parseBlockValue() (*node, error) {
	t, err := p.peek()
	switch {
	case err != nil:
		return nil, err
	case t.kind == tokenValue:
		return p.parseAfter(true, tokenKey, tokenValue, tokenBlockEnd)
	}
	return p.empty(t.line), nil
}
