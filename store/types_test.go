package store_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// gadget has a field of each type that the kinds of this module do not have.
type gadget struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata" protobuf:"1"`
	Spec            gadgetSpec `json:"spec" protobuf:"2"`
	local           color      // on no wire
}

type gadgetSpec struct {
	gadgetSize `json:",inline"`
	Timeout    time.Duration      `json:"timeout,omitempty" protobuf:"2"`
	Ratio      float64            `json:"ratio,omitempty" protobuf:"3"`
	Target     intOrString        `json:"target"`
	Optional   *intOrString       `json:"optional,omitempty"`
	Any        json.RawMessage    `json:"any,omitempty"`
	Anys       []json.RawMessage  `json:"anys,omitempty"`
	Color      color              `json:"color,omitempty"`
	Colors     []color            `json:"colors,omitempty" listType:"set"`
	ByName     map[string]address `json:"byName,omitempty"`
	Next       *gadgetSpec        `json:"next,omitempty" protobuf:"4"`
}

type gadgetSize struct {
	Count  int   `json:"count" protobuf:"1"`
	Counts []int `json:"counts,omitempty" protobuf:"5"`
}

// intOrString is JSON of two forms.
type intOrString struct {
	number int64
	text   string
}

func (v intOrString) MarshalJSON() ([]byte, error) {
	if v.text != "" {
		return json.Marshal(v.text)
	}
	return json.Marshal(v.number)
}

func (v *intOrString) UnmarshalJSON(data []byte) error {
	*v = intOrString{}
	if bytes.HasPrefix(data, []byte(`"`)) {
		return json.Unmarshal(data, &v.text)
	}
	return json.Unmarshal(data, &v.number)
}

// color is a number whose JSON is a name.
type color int

func (c color) MarshalText() ([]byte, error) {
	if c < 0 || c > 2 {
		return nil, errors.New("no such color")
	}
	return []byte([]string{"none", "red", "blue"}[c]), nil
}

func (c *color) UnmarshalText(text []byte) error {
	for i, name := range []string{"none", "red", "blue"} {
		if name == string(text) {
			*c = color(i)
			return nil
		}
	}
	return errors.New("no such color")
}

// address is an array.
type address [2]byte

func (a address) MarshalText() ([]byte, error)  { return []byte(hex.EncodeToString(a[:])), nil }
func (a *address) UnmarshalText(t []byte) error { _, err := hex.Decode(a[:], t); return err }

func newGadgetKind() *store.Kind[gadget] {
	return store.MustKind(store.Descriptor[gadget]{
		Group: "example.com", Name: "Gadget", Versions: []store.Version[gadget]{{Name: "v1"}}, UnconditionalUpdate: true,
	})
}

func newGadget(name string) *gadget {
	return &gadget{ObjectMeta: objectMeta("ns/" + name), Spec: gadgetSpec{
		gadgetSize: gadgetSize{-7, []int{1 << 40}}, Timeout: time.Second, Ratio: 1.5, Target: intOrString{number: 8}, Optional: &intOrString{text: "http"},
		Any: json.RawMessage(`{"z": [1, {"b": null}], "a": "<"}`), Anys: []json.RawMessage{json.RawMessage(`1`)},
		Color: 1, Colors: []color{2, 1}, ByName: map[string]address{"x": {1, 255}}, Next: &gadgetSpec{Color: 2},
	}, local: 2}
}

const gadgetSpecJSON = `{"count":-7,"counts":[1099511627776],"timeout":1000000000,"ratio":1.5,"target":8,"optional":"http",
	"any":{"z":[1,{"b":null}],"a":"<"},"anys":[1],"color":"red","colors":["blue","red"],"byName":{"x":"01ff"},"next":{"count":0,"target":0,"color":"blue"}}`

// newSender returns a function that sends a request to an API of a store.
func newSender(t *testing.T, st *store.Store, k kind.Kind) func(method, path, contentType, accept, body string) (int, string) {
	api := httpapi.New(st, httpapi.Options{Kinds: []kind.Kind{k}})
	t.Cleanup(api.Close)
	return func(method, path, contentType, accept, body string) (int, string) {
		t.Helper()
		req, err := http.NewRequest(method, "http://api"+path, strings.NewReader(body))
		require.NoError(t, err)
		req.Header.Set("Content-Type", contentType)
		req.Header.Set("Accept", accept)
		resp, err := api.Transport().RoundTrip(req)
		require.NoError(t, err)
		defer resp.Body.Close()
		data, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return resp.StatusCode, string(data)
	}
}

func TestTypesOfAKindThroughTheGoAPI(t *testing.T) {
	gadgets := newGadgetKind().In(newStore(t))
	sent := newGadget("a")
	got, err := gadgets.Create(t.Context(), sent, store.CreateOptions{FieldManager: "me"})
	require.NoError(t, err)
	assert.Equal(t, newGadget("a").Spec, got.Spec)
	assert.Equal(t, color(2), got.local)
	assert.JSONEq(t, `{"f:spec":{".":{},"f:any":{".":{},"f:a":{},"f:z":{}},"f:anys":{},"f:byName":{".":{},"f:x":{}},"f:color":{},
		"f:colors":{".":{},"v:\"blue\"":{},"v:\"red\"":{}},"f:count":{},"f:counts":{},"f:next":{".":{},"f:color":{},"f:count":{},"f:target":{}},
		"f:optional":{},"f:ratio":{},"f:target":{},"f:timeout":{}}}`,
		strings.Replace(string(got.ManagedFields[0].FieldsV1.Raw), `"f:spec":{`, `"f:spec":{".":{},`, 1))

	sent.Spec.Any[0], sent.Spec.Colors[0], sent.Spec.ByName["x"] = 'X', 0, address{}
	*got.Spec.Optional, got.Spec.Any[1] = intOrString{}, 'X'
	got, err = gadgets.Get(t.Context(), "ns", "a")
	require.NoError(t, err)
	assert.Equal(t, newGadget("a").Spec, got.Spec, "the stored object shares no memory with others")

	got.Spec.Any = json.RawMessage(`{"a":"\u003c","z":[1.0,{"b":null}]}`)
	same, err := gadgets.Update(t.Context(), got, store.UpdateOptions{})
	require.NoError(t, err)
	assert.Equal(t, got.ResourceVersion, same.ResourceVersion, "the same JSON is no change")

	applied, err := gadgets.Apply(t.Context(), newGadget("b"), store.ApplyOptions{FieldManager: "me"})
	require.NoError(t, err)
	assert.JSONEq(t, gadgetSpecJSON, toJSON(t, applied.Spec))
	patched, err := gadgets.Patch(t.Context(), "ns", "b", store.StrategicMergePatch, []byte(`{"spec":{"count":3,"color":"blue","target":"x"}}`), store.PatchOptions{})
	require.NoError(t, err)
	assert.Equal(t, 3, patched.Spec.Count)
	assert.Equal(t, color(2), patched.Spec.Color)
	assert.Equal(t, "x", patched.Spec.Target.text)
}

func toJSON(t *testing.T, v any) string {
	data, err := json.Marshal(v)
	require.NoError(t, err)
	return string(data)
}

func TestTypesOfAKindOverHTTP(t *testing.T) {
	st, kind := newStore(t), newGadgetKind()
	gadgets := kind.In(st)
	send := newSender(t, st, kind)
	const path, js = "/apis/example.com/v1/namespaces/ns/gadgets", "application/json"
	for format, body := range map[string]string{
		js:                 `{"apiVersion":"example.com/v1","kind":"Gadget","metadata":{"name":"a"},"spec":` + gadgetSpecJSON + `}`,
		"application/yaml": "apiVersion: example.com/v1\nkind: Gadget\nmetadata: {name: b}\nspec: " + strings.ReplaceAll(gadgetSpecJSON, "\n\t", " "),
	} {
		code, answer := send("POST", path+"?fieldValidation=Strict", format, format, body)
		require.Equal(t, http.StatusCreated, code, answer)
	}
	for _, name := range []string{"a", "b"} {
		g, err := gadgets.Get(t.Context(), "ns", name)
		require.NoError(t, err)
		assert.JSONEq(t, gadgetSpecJSON, toJSON(t, g.Spec))
	}
	for _, row := range []struct {
		contentType, body, want string
		code                    int
	}{
		{"application/merge-patch+json", `{"spec":{"any":{"z":null,"n":1}}}`, `"any":{"a":"\u003c","n":1}`, 200},
		{"application/json-patch+json", `[{"op":"add","path":"/spec/any/n","value":[]}]`, `"any":{"a":"\u003c","n":[]}`, 200},
		{"application/strategic-merge-patch+json", `{"spec":{"any":7}}`, `"any":7`, 200},
		{"application/apply-patch+yaml", "apiVersion: example.com/v1\nkind: Gadget\nmetadata: {name: a}\nspec: {any: {deep: {x: 1}}}", `"any":{"deep":{"x":1}}`, 200},
		{"application/merge-patch+json", `{"spec":{"color":"pink"}}`, `no such color`, 422},
		{"application/merge-patch+json", `{"spec":{"count":"1"}}`, `of type int`, 422},
		{"application/merge-patch+json", `{"spec":{"count":1.5}}`, `of type int`, 422},
		{"application/strategic-merge-patch+json", `{"spec":{"color":"pink"}}`, `no such color`, 422},
		{"application/apply-patch+yaml", "apiVersion: example.com/v1\nkind: Gadget\nmetadata: {name: a}\nspec: {color: 3}", `.spec.color: expected string`, 500},
	} {
		code, answer := send("PATCH", path+"/a?fieldManager=me&force=true", row.contentType, js, row.body)
		if !strings.Contains(row.contentType, "apply") {
			code, answer = send("PATCH", path+"/a?fieldManager=me", row.contentType, js, row.body)
		}
		assert.Equal(t, row.code, code, answer)
		assert.Contains(t, answer, row.want)
	}
	const protobuf = "application/vnd.kubernetes.protobuf"
	code, answer := send("GET", path+"/b", "", protobuf, "")
	assert.Equal(t, http.StatusNotAcceptable, code, answer)
	code, answer = send("PUT", path+"/b", protobuf, js, "k8s\x00")
	assert.Equal(t, http.StatusUnsupportedMediaType, code, "a field has no number: %s", answer)
}

func TestTypesOfAKindInProtobuf(t *testing.T) {
	type numbered struct {
		meta.TypeMeta   `json:",inline"`
		meta.ObjectMeta `json:"metadata" protobuf:"1"`
		Size            gadgetSize    `json:"size" protobuf:"2"`
		Timeout         time.Duration `json:"timeout" protobuf:"varint,6,opt,name=timeout"`
	}
	st := newStore(t)
	kind := store.MustKind(store.Descriptor[numbered]{Name: "Gadget", Versions: []store.Version[numbered]{{Name: "v1"}}})
	g := &numbered{ObjectMeta: objectMeta("ns/a"), Size: gadgetSize{-7, []int{1 << 40, 0}}, Timeout: time.Second}
	_, err := kind.In(st).Create(t.Context(), g, store.CreateOptions{})
	require.NoError(t, err)
	send := newSender(t, st, kind)
	const protobuf, path = "application/vnd.kubernetes.protobuf", "/api/v1/namespaces/ns/gadgets"
	code, answer := send("GET", path+"/a", "", protobuf, "")
	require.Equal(t, http.StatusOK, code, answer)
	code, answer = send("PUT", path+"/a", protobuf, "application/json", answer)
	require.Equal(t, http.StatusOK, code, answer)
	assert.Contains(t, answer, `"resourceVersion":"1001"`, "the bytes are the object itself")
	assert.Contains(t, answer, `"size":{"count":-7,"counts":[1099511627776,0]},"timeout":1000000000}`)
}

func TestTypesOfAKindInTheSchema(t *testing.T) {
	send := newSender(t, newStore(t), newGadgetKind())
	_, v3 := send("GET", "/openapi/v3/apis/example.com/v1", "", "application/json", "")
	_, v2 := send("GET", "/openapi/v2", "", "application/json", "")
	for _, want := range []string{
		`"count":{"default":0,"format":"int64","type":"integer"}`, `"color":{"type":"string"}`, `"any":{"x-kubernetes-preserve-unknown-fields":true}`,
		`"byName":{"additionalProperties":{"type":"string"},"type":"object"}`,
	} {
		assert.Contains(t, v3, want)
	}
	assert.Contains(t, v2, `"any":{"x-kubernetes-preserve-unknown-fields":true}`)
	for _, path := range []string{"/openapi/v2", "/openapi/v3/apis/example.com/v1"} {
		version := path[9:11]
		code, _ := send("GET", path, "", "application/com.github.proto-openapi.spec."+version+"@v1.0+protobuf", "")
		assert.Equal(t, http.StatusOK, code)
	}
}

func TestValuesWithoutJSONAreInvalid(t *testing.T) {
	gadgets := newGadgetKind().In(newStore(t))
	good, err := gadgets.Create(t.Context(), newGadget("a"), store.CreateOptions{})
	require.NoError(t, err)
	raw := reflect.TypeFor[*json.RawMessage]().String() // Go 1.27 has another name for the type
	for want, change := range map[string]func(*gadgetSpec){
		`spec.ratio: Invalid value: "": json: unsupported value: NaN`:                                                          func(s *gadgetSpec) { s.Ratio = math.NaN() },
		`spec.color: Invalid value: "": json: error calling MarshalText for type *store_test.color: no such color`:             func(s *gadgetSpec) { s.Color = 9 },
		`spec.any: Invalid value: "": json: error calling MarshalJSON for type ` + raw + `: invalid character 'x' looking for`: func(s *gadgetSpec) { s.Any = json.RawMessage("x") },
		`spec.next.colors: Invalid value: "": json: error calling MarshalText for type *store_test.color: no such color`:       func(s *gadgetSpec) { s.Next.Colors = []color{-1} },
	} {
		g := newGadget("b")
		change(&g.Spec)
		_, err := gadgets.Create(t.Context(), g, store.CreateOptions{})
		require.ErrorIs(t, err, store.ErrInvalid)
		assert.Contains(t, err.Error(), want)
		g.Name = "a"
		_, err = gadgets.Update(t.Context(), g, store.UpdateOptions{})
		require.ErrorIs(t, err, store.ErrInvalid)
	}
	list, err := gadgets.List(t.Context(), store.ListOptions{})
	require.NoError(t, err)
	require.Len(t, list.Items, 1)
	assert.Equal(t, good, list.Items[0])
}

func TestObjectsWithoutAProtobufFormAreMeasuredInJSON(t *testing.T) {
	g := newGadget("a")
	g.Spec.Any = json.RawMessage(`"` + strings.Repeat("x", 1536<<10) + `"`)
	_, err := newGadgetKind().In(newStore(t)).Create(t.Context(), g, store.CreateOptions{})
	require.EqualError(t, err, "etcdserver: request is too large")
}

func TestTypeOfAnotherPackageHasItsOwnNameInErrors(t *testing.T) {
	send := newSender(t, newStore(t), newGadgetKind())
	const path = "/apis/example.com/v1/namespaces/ns/gadgets"
	body := `{"apiVersion":"example.com/v1","kind":"Gadget","metadata":{"name":"a"},"spec":{"timeout":"5s"}}`
	const want = `json: cannot unmarshal string into Go struct field gadgetSpec.spec.timeout of type time.Duration`
	code, text := send("POST", path, "application/json", "application/json", body)
	assert.Equal(t, 400, code)
	assert.Contains(t, text, want)
	code, text = send("POST", path, "application/json", "application/json", strings.Replace(body, `"5s"`, "5000000000", 1))
	require.Equal(t, 201, code, text)
	for contentType, want := range map[string]string{
		"application/merge-patch+json":           want,
		"application/strategic-merge-patch+json": "unrecognized type: int64",
		"application/apply-patch+yaml":           ".spec.timeout: expected numeric (int or float), got string",
	} {
		code, text = send("PATCH", path+"/a?fieldManager=m", contentType, "application/json", body)
		assert.GreaterOrEqual(t, code, 400)
		assert.Contains(t, text, want, contentType)
	}
}
