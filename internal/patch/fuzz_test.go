package patch

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"testing"
)

// FuzzJSON checks that no patch panics, that the result is a document, and that a
// patch with only a test operation does not change it.
func FuzzJSON(f *testing.F) {
	doc := `{"b":{"d":1,"c":[1,2.0,"<"]},"a":{"z":null,"y":true}}`
	for _, patch := range []string{
		`[]`, `null`, `[null]`, `[{"op":"add","path":"/b/c/0","value":{"b":1,"a":1}}]`,
		`[{"op":"remove","path":"/b/c/-3"},{"op":"remove","path":"/b/c/+1"}]`,
		`[{"op":"replace","path":"","value":{"m~n":1,"a/b":2}},{"op":"remove","path":"/m~0n"}]`,
		`[{"op":"copy","from":"/zz","path":"/b"},{"op":"move","from":"/a","path":"/b/c"}]`,
		`[{"op":"copy","from":"/a","path":"/a/b"},{"op":"copy","from":"/a","path":"/a/b/b"},{"op":"copy","from":"/a/z","path":"/a/b/b/b/b"}]`,
		`[{"op":"test","path":"","value":null}]`, `[{"op":"replace","path":""}]`, `[{"op":"test","path":"/b/c","value":[null]}]`,
	} {
		f.Add([]byte(doc), []byte(patch))
	}
	f.Fuzz(func(t *testing.T, doc, patch []byte) {
		if text, err := compact(doc); err != nil || text[0] != '{' && text[0] != '[' {
			t.Skip()
		}
		_, _, _ = read(patch, new([]jsonPatchOp), Warn)
		out, err := applyText(string(doc), string(patch))
		if err != nil {
			return
		}
		if !json.Valid([]byte(out)) {
			t.Fatalf("no document: %s", out)
		}
		again, err := applyText(out, `[]`)
		if err != nil || !sameJSON(t, []byte(again), []byte(out)) {
			t.Fatalf("%s became %s (%v)", out, again, err)
		}
	})
}

// FuzzMerge compares with RFC 7386 over decoded documents.
func FuzzMerge(f *testing.F) {
	for _, s := range [][2]string{
		{`{"b":1,"a":{"y":1,"x":2}}`, `{"a":{"x":3}}`}, {`{"a":[1]}`, `{"a":[null,{"x":null,"y":1}]}`},
		{`{"a":{}}`, `{"a":[{"x":null,"x":1}]}`}, {`{"b":null}`, `{"a":{"x":null},"b":{"x":null}}`},
		{`{"\u0061":1}`, "{\"a\":{},\"\xff\":\"<\"}"}, {`{}`, `[{"a":null}]`}, {`{}`, `null`},
	} {
		f.Add([]byte(s[0]), []byte(s[1]))
	}
	f.Fuzz(func(t *testing.T, doc, patch []byte) {
		text, err := compact(patch)
		current, err2 := compact(doc)
		if err != nil || err2 != nil || current[0] != '{' {
			t.Skip()
		}
		out, err := applyMerge(current, text)
		if err != nil {
			return
		}
		var d, p any
		if json.Unmarshal(doc, &d) != nil || json.Unmarshal(patch, &p) != nil {
			t.Skip() // numbers out of range
		}
		var got any
		if err := json.Unmarshal(out, &got); err != nil {
			t.Fatalf("%s: %v", out, err)
		}
		if _, ok := p.([]any); ok {
			d = nil // the patch is the result
		}
		if want := mergeReference(d, p); !reflect.DeepEqual(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}

// mergeReference merges by RFC 7386, except for nulls in arrays: if an array does
// not replace an object, the nulls in its objects are removed.
func mergeReference(doc, patch any) any {
	p, ok := patch.(map[string]any)
	d, isMap := doc.(map[string]any)
	switch {
	case !ok && isMap:
		return patch
	case !ok || !isMap:
		return pruneReference(patch)
	}
	for key, value := range p {
		if value == nil {
			delete(d, key)
		} else if live, ok := d[key].(map[string]any); ok {
			d[key] = mergeReference(live, value)
		} else {
			d[key] = pruneReference(value)
		}
	}
	return d
}

func pruneReference(v any) any {
	switch v := v.(type) {
	case map[string]any:
		maps.DeleteFunc(v, func(_ string, m any) bool { return m == nil })
		for _, m := range v {
			pruneReference(m)
		}
	case []any:
		for _, item := range v {
			pruneReference(item)
		}
	}
	return v
}

// FuzzStrategic checks that no patch panics, that the live object does not
// change, and that the result does not depend on the order of maps.
func FuzzStrategic(f *testing.F) {
	for _, metadata := range []string{
		`{"finalizers":["f/9","f/2"],"$setElementOrder/finalizers":["f/9","f/2","f/1"]}`,
		`{"$deleteFromPrimitiveList/finalizers":["f/2"],"finalizers":["f/2",null]}`,
		`{"ownerReferences":[{"$patch":"delete","uid":"u1"},{"uid":"u1","name":"n"},{"uid":null}],"$setElementOrder/ownerReferences":[{"uid":"u1"}]}`,
		`{"ownerReferences":[{"$patch":"replace"},{"uid":{}},{"uid":[]},{"$retainKeys":["uid"],"uid":"u2"}]}`,
		`{"labels":{"$patch":"replace","a":{"$patch":"delete"}},"$retainKeys":["labels",[]],"managedFields":[{}]}`,
		`{"$setElementOrder/ownerReferences":["u1"],"$setElementOrder/zz":[],"$deleteFromPrimitiveList/":[]}`,
	} {
		f.Add([]byte(`{"metadata":` + metadata + `}`))
	}
	f.Add([]byte(`{"$patch":"delete"}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, body []byte) {
		fix := newFixture(t, owned)
		before := fix.encode(t, fix.live)
		run := func() (string, []string, string) {
			obj, warnings, err := Strategic(fix.object(), body, Warn)
			if err != nil {
				return "", nil, err.Error()
			}
			return fix.encode(t, obj), warnings, ""
		}
		obj, warnings, text := run()
		for range 5 {
			if o, w, e := run(); o != obj || !reflect.DeepEqual(w, warnings) || e != text {
				t.Fatalf("%s %q %s, then %s %q %s", obj, warnings, text, o, w, e)
			}
		}
		if after := fix.encode(t, fix.live); after != before {
			t.Fatalf("live object became %s", after)
		}
	})
}

func sameJSON(t *testing.T, a, b []byte) bool {
	t.Helper()
	decode := func(text []byte) any {
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		var v any
		if err := d.Decode(&v); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		return v
	}
	return reflect.DeepEqual(decode(a), decode(b))
}
