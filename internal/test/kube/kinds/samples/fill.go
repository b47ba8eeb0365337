package main

import (
	"reflect"
	"slices"
	"strings"

	"github.com/kubecoord/kubecoord/internal/test/kube/kinds"
)

// fullObject returns an object of a type with a value for each member, as a JSON tree.
func fullObject(r kinds.Resource, typ reflect.Type) map[string]any {
	tree, _ := fill(typ, typ.Name(), nil).(map[string]any)
	tree["apiVersion"], tree["kind"] = r.APIVersion(), r.Kind
	tree["metadata"] = map[string]any{
		"name":        r.Name("full"),
		"labels":      map[string]any{"kinds": kinds.RunID, "app": "a"},
		"annotations": map[string]any{"example.com/note": "a"},
		"finalizers":  nil,
	}
	delete(tree["metadata"].(map[string]any), "finalizers")
	for _, name := range []string{r.Kind, r.File()} {
		for path, value := range objects(name) {
			set(tree, path, value)
		}
	}
	return tree
}

// fill returns a value for a member of a type. The name is the member's, and above are the types that it is in.
func fill(typ reflect.Type, name string, above []reflect.Type) any {
	if typ.Kind() == reflect.Pointer {
		return fill(typ.Elem(), name, above)
	}
	typeName := typ.Name()
	if typ.Kind() == reflect.Slice {
		typeName = "[]" + typ.Elem().Name()
	}
	if v, ok := named(typeName + "." + name); ok {
		return v
	}
	if v, ok := named(typ.Kind().String() + "." + name); ok && typ.Name() != "" && typ.Kind() != reflect.String {
		return v
	}
	if v, ok := named(typ.String()); ok {
		return v
	}
	if slices.Contains(above, typ) {
		return nil
	}
	switch typ.Kind() {
	case reflect.String:
		if v, ok := named("string." + name); ok {
			return v
		}
		return "a"
	case reflect.Bool:
		return true
	case reflect.Int32, reflect.Int64, reflect.Int, reflect.Uint8, reflect.Float64:
		return 1
	case reflect.Slice:
		return fillList(typ, name, above)
	case reflect.Map:
		return map[string]any{"a": fill(typ.Elem(), name, above)}
	case reflect.Struct:
		return fillStruct(typ, append(slices.Clip(above), typ))
	}
	return nil
}

func fillList(typ reflect.Type, name string, above []reflect.Type) any {
	if typ.Elem().Kind() == reflect.Uint8 {
		return "YQ=="
	}
	item := typ.Elem()
	if variants := unions()[item.Name()]; len(variants) > 0 {
		return fillUnion(item, variants, above)
	}
	v := fill(item, name, above)
	if v == nil {
		return nil
	}
	return []any{v}
}

// fillUnion returns an item for each of the variants of a type, of which an item has one only.
func fillUnion(item reflect.Type, variants []string, above []reflect.Type) any {
	var list []any
	whole := fill(item, "", above).(map[string]any)
	var all []string
	for _, v := range variants {
		all = append(all, strings.Split(v, ",")...)
	}
	for _, variant := range variants {
		one := map[string]any{}
		for key, value := range whole {
			if slices.Contains(strings.Split(variant, ","), key) || !slices.Contains(all, key) {
				one[key] = value
			}
		}
		if _, ok := one["name"]; ok && item.Name() != "VolumeProjection" {
			one["name"] = strings.ToLower(strings.Split(variant, ",")[0])
		}
		if _, ok := one["type"]; ok && strings.HasPrefix(item.Name(), "Metric") {
			one["type"] = strings.ToUpper(variant[:1]) + variant[1:]
		}
		list = append(list, one)
	}
	return list
}

func fillStruct(typ reflect.Type, above []reflect.Type) any {
	out := map[string]any{}
	for i := range typ.NumField() {
		f := typ.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		v := fill(f.Type, name, above)
		if inner, ok := v.(map[string]any); ok && name == "" && (f.Anonymous || strings.Contains(options, "inline")) {
			for key, value := range inner {
				out[key] = value
			}
			continue
		}
		if v != nil && name != "" {
			out[name] = v
		}
	}
	return out
}
