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
	tree, ok = r.object(true)
	return tree, ok && r.atEnd()
}

// raw skips a value of any form and returns its text, which is valid JSON.
func (r *jsonReader) raw() ([]byte, bool) {
	r.peek()
	start := r.at
	_, ok := r.any(false)
	return r.data[start:r.at], ok
}

// any reads a value of any form. If plain is set, it returns the tree of a value that means
// the same in YAML; otherwise it only skips the value.
func (r *jsonReader) any(plain bool) (tree any, ok bool) {
	switch r.peek() {
	case '{':
		return r.object(plain)
	case '[':
		return r.array(plain)
	case '"':
		if plain {
			return r.text(nil)
		}
		_, _, ok = r.quoted()
		return nil, ok
	case 'n':
		return nil, r.word("null")
	case 't':
		return true, r.word("true")
	case 'f':
		return false, r.word("false")
	}
	if plain {
		return r.integer()
	}
	_, ok = r.number()
	return nil, ok
}

func (r *jsonReader) object(plain bool) (tree map[string]any, ok bool) {
	if plain {
		tree = map[string]any{}
	}
	empty, ok := r.open('}')
	for more := !empty; ok && more; more, ok = r.more('}') {
		r.peek()
		var name string
		if plain {
			name, ok = r.text(nil)
			_, twice := tree[name]
			ok = ok && !twice && len(name) <= maxPlainKey && name != "<<"
		} else {
			_, _, ok = r.quoted()
			r.peek()
		}
		if !ok || !r.skip(':') {
			return nil, false
		}
		value, ok := r.any(plain)
		if !ok {
			return nil, false
		}
		if plain {
			tree[name] = value
		}
	}
	return tree, ok
}

func (r *jsonReader) array(plain bool) (tree []any, ok bool) {
	if plain {
		tree = []any{}
	}
	empty, ok := r.open(']')
	for more := !empty; ok && more; more, ok = r.more(']') {
		item, ok := r.any(plain)
		if !ok {
			return nil, false
		}
		if plain {
			tree = append(tree, item)
		}
	}
	return tree, ok
}
