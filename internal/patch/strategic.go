package patch

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	kjson "sigs.k8s.io/json"

	"github.com/kubecoord/kubecoord/internal/codec"
	"github.com/kubecoord/kubecoord/store/meta"
)

// The directives of strategic merge patches (community/contributors/devel/
// sig-api-machinery/strategic-merge-patch.md).
const (
	directive           = "$patch"
	directiveDelete     = "delete"
	directiveReplace    = "replace"
	directiveMerge      = "merge"
	directiveRetainKeys = "$retainKeys"
	prefixDeleteFrom    = "$deleteFromPrimitiveList"
	prefixElementOrder  = "$setElementOrder"
)

func malformed(shown string) error { return meta.NewBadRequest("invalid patch format of %s", shown) }

// Strategic applies a strategic merge patch: maps are merged, null deletes, and
// lists are merged if the schema says so, by its merge key. It supports the
// directives $patch, $retainKeys, $setElementOrder and $deleteFromPrimitiveList.
// kind and apiVersion do not change. Strategic returns warnings only for Warn.
func Strategic(o Object, body []byte, v Validation) (obj any, warnings []string, err error) {
	if !json.Valid(body) {
		return nil, nil, meta.NewBadRequest("invalid JSON patch")
	}
	patch := map[string]any{}
	var faults []error
	if v == Ignore {
		err = kjson.UnmarshalCaseSensitivePreserveInts(body, &patch)
	} else {
		faults, err = kjson.UnmarshalStrict(body, &patch)
	}
	if err != nil {
		return nil, nil, meta.NewBadRequest("%s", err)
	}
	merged, err := mergeMap(o.Type.ToUnstructured(o.Current), patch, schema{Type: o.Type})
	if err != nil {
		return nil, nil, err
	}
	obj, strictErrs, err := o.Read(merged, v != Ignore)
	if to, ok := obj.(meta.Object); ok { // upstream derives kind and apiVersion from the Go type
		*to.GetTypeMeta() = *o.Current.(meta.Object).GetTypeMeta()
	}
	// Errors show the patch without the directives that mergeMap removed.
	return v.finish(obj, append(faults, strictErrs...), err, func() string { return fmt.Sprintf("%+v", patch) })
}

// schema is the type of a value in the document.
type schema struct {
	*codec.Type
	pointer bool // whether the Go type is a pointer to Type
}

// member returns the field with a JSON name, or with another case as encoding/json does.
func (s schema) member(name string) (*codec.Field, error) {
	if k := s.GoKind(); k != reflect.Struct {
		return nil, fmt.Errorf("merging an object in json but data type is not struct, instead is: %s", k)
	}
	if f, _ := s.Member(name); f != nil {
		return f, nil
	}
	fields, goName := s.Fields, s.Name
	if rest := s.Undeclared(); rest != nil {
		fields, goName = slices.Concat(fields, rest.Fields), rest.Name
	}
	for _, f := range fields {
		if strings.EqualFold(f.Name, name) {
			return f, nil
		}
	}
	return nil, fmt.Errorf("unable to find api field in struct %s for the json field %q", goName, name)
}

func (s schema) listMember(name string) (listRule, error) {
	f, err := s.member(name)
	if err != nil {
		return listRule{}, err
	}
	rule := listRule{key: f.PatchMergeKey, merge: strategy(f) == directiveMerge}
	switch {
	case f.Type.Kind == codec.List && f.Type.Elem.Kind == codec.List:
		return listRule{}, errors.New("unexpected slice of slice")
	case f.Type.Kind == codec.List:
		rule.item = schema{Type: f.Type.Elem}
	case f.Pointer:
		rule.item = schema{Type: f.Type}
	default:
		return listRule{}, fmt.Errorf("expected slice or array type, but got: %s", s.goKind())
	}
	return rule, nil
}

func (s schema) goKind() reflect.Kind {
	if s.pointer {
		return reflect.Pointer
	}
	return s.GoKind()
}

// strategy returns the strategy of a field without retainKeys, which needs $retainKeys in the patch.
func strategy(f *codec.Field) string {
	for s := range strings.SplitSeq(f.PatchStrategy, ",") {
		if s != "retainKeys" {
			return s
		}
	}
	return ""
}

// mergeMap merges a patch into a live object and returns the result. It changes both,
// and the result shares memory with both. Members are merged in the order of their
// names, so deletions from lists come first.
func mergeMap(live, patch map[string]any, s schema) (map[string]any, error) {
	if d, ok := patch[directive]; ok {
		return applyDirective(d, patch)
	}
	if err := retainKeys(live, patch); err != nil {
		return nil, err
	}
	if err := mergeOrderedLists(live, patch, s); err != nil {
		return nil, err
	}
	for _, key := range slices.Sorted(maps.Keys(patch)) {
		name, deletes := key, strings.HasPrefix(key, prefixDeleteFrom)
		if deletes {
			var err error
			if name, err = listName(key, prefixDeleteFrom, "primitive list"); err != nil {
				return nil, err
			}
			if name == "" {
				name = key
			}
		}
		if err := mergeMember(live, name, patch[key], deletes, s); err != nil {
			return nil, err
		}
	}
	return live, nil
}

func applyDirective(d any, patch map[string]any) (map[string]any, error) {
	switch d {
	case directiveReplace:
		delete(patch, directive)
		return patch, nil
	case directiveDelete:
		return map[string]any{}, nil
	}
	return nil, errDirective(d, patch)
}

func errDirective(d any, patch map[string]any) error {
	return fmt.Errorf("unknown patch type: %s in map: %v", d, patch)
}

// listName returns the name of the list in a directive such as $setElementOrder/name. An error
// calls the directive shown.
func listName(key, prefix, shown string) (string, error) {
	before, name, found := strings.Cut(key, "/")
	if !found || before != prefix {
		return "", malformed(shown)
	}
	return name, nil
}

// retainKeys removes the members of the live object that $retainKeys does not name.
func retainKeys(live, patch map[string]any) error {
	d, ok := patch[directiveRetainKeys]
	if !ok {
		return nil
	}
	delete(patch, directiveRetainKeys)
	list, ok := d.([]any)
	if !ok {
		return malformed("retainKeys")
	}
	retained := make(map[string]bool, len(list))
	for _, item := range list {
		if !hashable(item) {
			return malformed("retainKeys")
		}
		if name, ok := item.(string); ok {
			retained[name] = true
		}
	}
	for key, value := range patch {
		if value != nil && !retained[key] &&
			!strings.HasPrefix(key, prefixDeleteFrom) && !strings.HasPrefix(key, prefixElementOrder) {
			return malformed("retainKeys")
		}
	}
	maps.DeleteFunc(live, func(key string, _ any) bool { return !retained[key] })
	return nil
}

// mergeMember merges one member of a patch. deletes means that it is a list of items to delete.
func mergeMember(live map[string]any, name string, patch any, deletes bool, s schema) (err error) {
	if patch == nil {
		delete(live, name)
		return nil
	}
	old, ok := live[name]
	if !ok || reflect.TypeOf(old) != reflect.TypeOf(patch) {
		if !deletes {
			dropNulls(patch)
			setClean(live, name, patch)
		}
		return nil
	}
	switch patch := patch.(type) {
	case map[string]any:
		f, err := s.member(name)
		if err != nil {
			return err
		}
		if strategy(f) == directiveReplace {
			live[name] = patch
			return nil
		}
		live[name], err = mergeMap(old.(map[string]any), patch, schema{f.Type, f.Pointer})
		return err
	case []any:
		rule, err := s.listMember(name)
		if err != nil {
			return err
		}
		live[name], err = rule.mergeInto(old.([]any), patch, deletes)
		return err
	}
	live[name] = patch
	return nil
}

// setClean sets a member to value without its directives.
func setClean(live map[string]any, name string, value any) {
	if clean, keep := dropDirectives(value); keep {
		live[name] = clean
	} else {
		delete(live, name)
	}
}

func dropNulls(value any) {
	switch value := value.(type) {
	case map[string]any:
		for key, member := range value {
			if member == nil {
				delete(value, key)
			} else {
				dropNulls(member)
			}
		}
	case []any:
		for _, item := range value {
			dropNulls(item)
		}
	}
}

// dropDirectives removes all objects with a $patch directive from value. keep is false
// if value itself is such an object. It changes objects and copies lists.
func dropDirectives(value any) (_ any, keep bool) {
	switch value := value.(type) {
	case map[string]any:
		if _, ok := value[directive]; ok {
			return nil, false
		}
		for key, member := range value {
			setClean(value, key, member)
		}
		return value, true
	case []any:
		clean := []any{}
		for _, item := range value {
			if item, keep := dropDirectives(item); keep {
				clean = append(clean, item)
			}
		}
		return clean, true
	}
	return value, true
}
