package managedfields

import (
	"cmp"

	"github.com/kubecoord/kubecoord/internal/codec"
)

// replacesWhole reports whether r replaces l, so that their members are not merged.
func (s schema) replacesWhole(l, r codec.Value) bool {
	if !s.untyped() {
		return s.isLeaf(l, r)
	}
	return len(members(l.Tree())) == 0 && len(members(r.Tree())) == 0 || !isObjectOrNull(r.Tree())
}

// merge returns l with r applied: values in r replace values in l, and lists that are not atomic are
// merged item by item. Each may be none, and the result is none if it has no members or items. merge
// changes neither l nor r, but the result shares memory with both.
func (s schema) merge(l, r codec.Value) (codec.Value, error) {
	if s.replacesWhole(l, r) {
		if !r.Exists() {
			return l, nil
		}
		return r, nil
	}
	if s.isList() {
		x, _ := l.Tree().([]any)
		y, _ := r.Tree().([]any)
		return s.mergeLists(x, y)
	}
	out := map[string]any{}
	var m codec.Members
	for m.Walk(l, r); m.Next(); {
		v, err := s.below(m.Name, m.Field).merge(m.X, m.Y)
		if err != nil {
			return codec.Value{}, err
		}
		if v.Exists() {
			out[m.Name] = v.InTree()
		}
	}
	if len(out) == 0 {
		return codec.Value{}, nil
	}
	return codec.TreeValue(out), nil
}

// listMerge is the merge of two lists whose items have steps. Common items get the
// order that they have in r. Items that only l has keep their place between the
// common items where possible (upstream: typed, merge.go, visitListItems).
type listMerge struct {
	schema
	l, r           []any
	inL, inR       map[string][]int
	stepsL, stepsR []string
	shared         []string // remaining common items, in the order of r
	merged         map[string]bool
	out            []any
	err            error // the first one
}

func (s schema) mergeLists(l, r []any) (codec.Value, error) {
	m := listMerge{schema: s, l: l, r: r, merged: map[string]bool{}}
	var err error
	if m.stepsL, m.inL, err = s.index(l); err != nil {
		return codec.Value{}, err
	}
	if m.stepsR, m.inR, err = s.index(r); err != nil {
		return codec.Value{}, err
	}
	for _, st := range m.stepsR {
		if m.inL[st] != nil {
			m.shared = append(m.shared, st)
		}
	}
	m.run()
	return codec.TreeValue(m.out), m.err
}

func (s schema) index(list []any) (texts []string, at map[string][]int, err error) {
	items, err := s.items(codec.TreeValue(list))
	at = make(map[string][]int, len(items))
	for i, it := range items {
		text := it.step.text()
		texts, at[text] = append(texts, text), append(at[text], i)
	}
	return texts, at, err
}

func (m *listMerge) run() {
	for i, j := 0, 0; i < len(m.l) || j < len(m.r); {
		if i < len(m.l) && j < len(m.r) {
			st := m.stepsL[i]
			if st == m.stepsR[j] {
				m.addRight(st, j)
				i, j = i+1, j+1
				m.shared = m.shared[1:]
				continue
			}
			if m.inR[st] != nil && len(m.shared) > 0 && m.shared[0] != st {
				i++ // addRight adds it later, in the order of r
				continue
			}
		}
		if i < len(m.l) {
			st := m.stepsL[i]
			if m.inR[st] == nil {
				m.add(codec.TreeValue(m.l[i]), codec.Value{})
				i++
				continue
			}
			if m.merged[st] {
				i++
			}
		}
		if j < len(m.r) {
			st := m.stepsR[j]
			m.addRight(st, j)
			j++
			if len(m.shared) > 0 && m.shared[0] == st {
				m.shared = m.shared[1:]
			}
		}
	}
}

// addRight adds item j of r, merged with the item of l that has the same step.
func (m *listMerge) addRight(st string, j int) {
	m.merged[st] = true
	var l codec.Value
	switch at := m.inL[st]; len(at) {
	case 0:
	case 1:
		l = codec.TreeValue(m.l[at[0]])
	default: // duplicates in l are not merged
		l = codec.TreeValue(nil)
	}
	m.add(l, codec.TreeValue(m.r[j]))
}

func (m *listMerge) add(l, r codec.Value) {
	v, err := m.item().merge(l, r)
	m.out, m.err = append(m.out, v.Tree()), cmp.Or(m.err, err)
}
