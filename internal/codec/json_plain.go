package codec

// maxPlainKey is the longest member name that PlainTree reads. YAML limits names too.
const maxPlainKey = 256

// PlainTree reads a JSON object into a tree with int64 as numbers, if it means the same in
// YAML: printable ASCII, integers, no tabs, no duplicate members, and no escape \/, which
// YAML 1.1 does not have. ok is false for everything else.
func PlainTree(data []byte) (tree map[string]any, ok bool) {
	escaped := false
	for _, c := range data {
		if c < ' ' && c != '\n' || c > '~' || escaped && c == '/' {
			return nil, false
		}
		escaped = c == '\\' && !escaped
	}
	r := &jsonReader{data: data}
	if r.peek() != '{' {
		return nil, false
	}
	tree, ok = r.plainObject()
	return tree, ok && r.atEnd()
}

func (r *jsonReader) plainObject() (map[string]any, bool) {
	empty, ok := r.open('}')
	tree := map[string]any{}
	for more := !empty; ok && more; {
		r.peek()
		name, isText := r.text(nil)
		if !isText || len(name) > maxPlainKey || name == "<<" || !r.skip(':') {
			return nil, false
		}
		if _, twice := tree[name]; twice {
			return nil, false
		}
		if tree[name], ok = r.plainValue(); !ok {
			return nil, false
		}
		more, ok = r.more('}')
	}
	return tree, ok
}

func (r *jsonReader) plainList() ([]any, bool) {
	empty, ok := r.open(']')
	list := []any{}
	for more := !empty; ok && more; {
		item, isPlain := r.plainValue()
		if !isPlain {
			return nil, false
		}
		list = append(list, item)
		more, ok = r.more(']')
	}
	return list, ok
}

func (r *jsonReader) plainValue() (any, bool) {
	switch r.peek() {
	case '{':
		return r.plainObject()
	case '[':
		return r.plainList()
	case '"':
		return r.text(nil)
	case 'n':
		return nil, r.word("null")
	case 't':
		return true, r.word("true")
	case 'f':
		return false, r.word("false")
	}
	return r.integer()
}
