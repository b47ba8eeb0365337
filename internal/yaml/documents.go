package yaml

import "iter"

// Document is one document of a stream.
type Document struct {
	// JSON is what [ToJSON] makes of it.
	JSON []byte
	// Duplicates are its duplicate keys, as those of [ToJSON].
	Duplicates []error
	// Line is where its content begins, from one.
	Line int

	root *node
}

// Documents walks all documents of a stream. Texts and lines of errors are as if
// the whole stream were read upstream. An error ends the walk. Unlike [ToJSON],
// which never looks at what follows the first document, it demands that
// something else than more content ends each.
func Documents(data []byte) iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		p := parser{scanner: newScanner(data)}
		for first := true; ; first = false {
			d, more, err := p.document(first)
			if err != nil {
				yield(Document{}, err)
				return
			}
			if !more || !yield(d, nil) {
				return
			}
		}
	}
}

// document parses the next document. more is false at the end of the stream.
func (p *parser) document(first bool) (d Document, more bool, err error) {
	if err := p.need(1); err != nil {
		return d, false, err
	}
	t, err := p.peek()
	for ; err == nil && t.kind == tokenDocumentEnd; t, err = p.peek() {
		p.take()
	}
	if err != nil || t.kind == tokenStreamEnd {
		return d, false, err
	}
	if !first && t.kind != tokenDocumentStart && t.kind != tokenVersion && t.kind != tokenTagDirective {
		return d, false, failAt(t.line, "did not find expected <document start>")
	}
	p.anchors = make(map[string]*node)
	if d.root, err = p.parseDocument(t.kind); err != nil {
		return d, false, err
	}
	if _, err := p.peek(); err != nil { // it must end well
		return d, false, err
	}
	d.Line = int(d.root.line) + 1
	value, duplicates, err := construct(d.root)
	if err != nil {
		return d, false, err
	}
	if err := nameKeys(value); err != nil {
		return d, false, err
	}
	d.Duplicates = duplicates
	d.JSON, err = appendJSON(nil, value)
	return d, true, err
}

// ItemLines returns the lines at which the items begin of a sequence that is a
// member of the document.
func (d Document) ItemLines(member string) (lines []int) {
	if d.root == nil || d.root.kind != mappingNode {
		return nil
	}
	for i := 0; i < len(d.root.children); i += 2 {
		if key, items := d.root.children[i], d.root.children[i+1]; key.value == member && items.kind == sequenceNode {
			lines = lines[:0] // the last one counts
			for _, item := range items.children {
				lines = append(lines, int(item.line)+1)
			}
		}
	}
	return lines
}
