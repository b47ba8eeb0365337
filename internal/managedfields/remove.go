package managedfields

// remove returns a document without some of its fields. It shares memory with
// v, which is not changed.
func (s schema) remove(v map[string]any, fields *set) map[string]any {
	out, _ := s.without(v, fields).(map[string]any)
	return out
}

// without returns nil for what has nothing left, and for atomic values, in
// which there are no fields to be told apart.
func (s schema) without(v any, fields *set) any {
	if !s.isList() && !s.isObject() {
		return v
	}
	if s.atomic() {
		return nil
	}
	switch v := v.(type) {
	case map[string]any:
		return s.withoutMembers(v, fields)
	case []any:
		if s.untyped() {
			return nil
		}
		return s.withoutItems(v, fields)
	}
	if s.untyped() {
		return v
	}
	return nil
}

func (s schema) withoutMembers(object map[string]any, fields *set) any {
	out := make(map[string]any, len(object))
	for name, v := range object {
		n := fields.get(member(name))
		if n.member {
			continue
		}
		if n.sub != nil {
			below, _ := s.member(name)
			v = below.without(v, n.sub)
		}
		out[name] = v
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

func (s schema) withoutItems(list []any, fields *set) any {
	var out []any
	for _, item := range list {
		st, err := s.step(item)
		if err != nil {
			continue // not valid
		}
		n := fields.get(st)
		if n.member {
			continue
		}
		if n.sub != nil {
			item = s.item().without(item, n.sub)
		}
		out = append(out, item)
	}
	if len(out) == 0 {
		return nil
	}
	return out
}
