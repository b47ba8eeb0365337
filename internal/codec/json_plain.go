package codec

// maxPlainKey is the longest member name that PlainTree reads. YAML limits names too.
const maxPlainKey = 256

// PlainTree reads a JSON object into a tree with int64 as numbers, if it means the same in
// YAML: printable ASCII, integers, no tabs, no duplicate members. ok is false for
// everything else.
func PlainTree(data []byte) (tree map[string]any, ok bool) {
	r := &jsonReader{data: data}
	if r.peekPlain() != '{' {
		return nil, false
	}
	tree, ok = r.plainObject()
	return tree, ok && r.peekPlain() == 0 && r.at == len(data)
}

// peekPlain is peek, but stops at a tab or carriage return.
func (r *jsonReader) peekPlain() byte {
	for ; r.at < len(r.data); r.at++ {
		if c := r.data[r.at]; c != ' ' && c != '\n' {
			return c
		}
	}
	return 0
}

// plainMore skips a comma or the closing bracket, and reports whether another member or
// item follows.
func (r *jsonReader) plainMore(closing byte) (more, ok bool) {
	c := r.peekPlain()
	if c != ',' && c != closing {
		return false, false
	}
	return r.more(closing)
}

// plainOpen is open for plain documents.
func (r *jsonReader) plainOpen(closing byte) (empty, ok bool) {
	if r.at++; r.peekPlain() == '\t' || r.peekPlain() == '\r' {
		return false, false
	}
	r.at--
	return r.open(closing)
}

func (r *jsonReader) plainObject() (map[string]any, bool) {
	empty, ok := r.plainOpen('}')
	tree := map[string]any{}
	for more := !empty; ok && more; {
		r.peekPlain()
		name, isText := r.plainText()
		if !isText || len(name) > maxPlainKey || name == "<<" || !r.skip(':') {
			return nil, false
		}
		if _, twice := tree[name]; twice {
			return nil, false
		}
		if tree[name], ok = r.plainValue(); !ok {
			return nil, false
		}
		more, ok = r.plainMore('}')
	}
	return tree, ok
}

func (r *jsonReader) plainList() ([]any, bool) {
	empty, ok := r.plainOpen(']')
	list := []any{}
	for more := !empty; ok && more; {
		item, isPlain := r.plainValue()
		if !isPlain {
			return nil, false
		}
		list = append(list, item)
		more, ok = r.plainMore(']')
	}
	return list, ok
}

func (r *jsonReader) plainValue() (any, bool) {
	switch r.peekPlain() {
	case '{':
		return r.plainObject()
	case '[':
		return r.plainList()
	case '"':
		return r.plainText()
	case 'n':
		return nil, r.word("null")
	case 't':
		return true, r.word("true")
	case 'f':
		return false, r.word("false")
	}
	return r.integer()
}

// plainText reads a string of printable ASCII without the escape \/, which YAML 1.1 does not have.
func (r *jsonReader) plainText() (string, bool) {
	start := r.at
	s, ok := r.text()
	escaped := false
	for _, c := range r.data[start:r.at] {
		ok = ok && c < 0x7f && !(escaped && c == '/')
		escaped = c == '\\' && !escaped
	}
	return s, ok
}
