package store_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/field"
	"github.com/kubecoord/kubecoord/store/meta"
)

// widget is a kind as a user of the module would write it. Version v2 calls
// the color paint.
type widget struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata" protobuf:"1"`
	Spec            widgetSpec `json:"spec" protobuf:"2"`
}

type widgetSpec struct {
	Color string   `json:"color,omitempty" protobuf:"1"`
	Size  int64    `json:"size,omitempty" protobuf:"2"`
	Parts []string `json:"parts,omitempty" protobuf:"3"`
}

type widgetV2 struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata" protobuf:"1"`
	Spec            widgetSpecV2 `json:"spec" protobuf:"2"`
}

type widgetSpecV2 struct {
	Paint string `json:"paint,omitempty" protobuf:"1"`
}

// newWidgetKind returns a kind with a hook of every sort, that neither creates
// on update nor updates unconditionally.
func newWidgetKind() *store.Kind[widget] {
	return &store.Kind[widget]{
		Group: "example.com", Name: "Widget", Plural: "widgets", ShortNames: []string{"wd"},
		Versions: []store.Version[widget]{
			{Name: "v1"},
			{
				Name: "v2", Deprecated: "use v1",
				Form: store.FormOf(
					func(w *widget) *widgetV2 {
						return &widgetV2{ObjectMeta: w.ObjectMeta, Spec: widgetSpecV2{w.Spec.Color}}
					},
					func(w *widgetV2) *widget {
						return &widget{ObjectMeta: w.ObjectMeta, Spec: widgetSpec{Color: w.Spec.Paint}}
					},
				),
				Validate: func(_, _ *widget) field.Errors { return nil },
			},
		},
		Default: func(w *widget) {
			if w.Spec.Color == "" {
				w.Spec.Color = "grey"
			}
		},
		PrepareForUpdate: func(w, old *widget) { w.Spec.Size = old.Spec.Size },
		Validate: func(w, old *widget) (errs field.Errors) {
			if w.Spec.Color == "pink" {
				errs = append(errs, field.NotSupported("spec.color", w.Spec.Color, "red", "blue"))
			}
			if old != nil && old.Spec.Color == "black" && w.Spec.Color != "black" {
				errs = append(errs, field.Forbidden("spec.color", "black is for ever"))
			}
			return errs
		},
		Warnings: func(w, old *widget) []string {
			if w.Spec.Color == "black" && old == nil {
				return []string{"black is for ever"}
			}
			return nil
		},
		SelectableFields: []store.SelectableField[widget]{{Path: "spec.color", Value: func(w *widget) string { return w.Spec.Color }}},
	}
}

func newWidget(path, color string) *widget {
	return &widget{ObjectMeta: objectMeta(path), Spec: widgetSpec{Color: color, Size: 5}}
}

func TestKindTellsWhatItIs(t *testing.T) {
	info := newStore(t).Resource(newWidgetKind()).Info()
	assert.Equal(t, "example.com/widgets", info.StoragePrefix)
	assert.Equal(t, "widget", info.Singular, "the singular is the name in lower case")
	assert.Equal(t, []store.VersionInfo{{Name: "v1"}, {Name: "v2", Deprecated: "use v1"}}, info.Versions)
	assert.Equal(t, []string{"metadata.name", "metadata.namespace", "spec.color"}, info.SelectableFields)
	require.Len(t, info.Columns, 2)
	assert.Equal(t, "Name", info.Columns[0].Name)
	assert.Equal(t, "Age", info.Columns[1].Name)
	assert.False(t, info.CreateOnUpdate)
}

func TestKindHooksAreCalled(t *testing.T) {
	st := newStore(t)
	kind := newWidgetKind()
	widgets := store.In(st, kind)
	got, err := widgets.Create(newWidget("ns/a", ""), store.CreateOptions{})
	require.NoError(t, err)
	assert.Equal(t, "grey", got.Spec.Color, "defaults are filled in")

	got.Spec.Color, got.Spec.Size = "", 99
	same, err := widgets.Update(got, store.UpdateOptions{})
	require.NoError(t, err)
	assert.EqualValues(t, 5, same.Spec.Size, "PrepareForUpdate carries over")
	assert.Equal(t, "1001", same.ResourceVersion, "both are settled before the look for changes")

	got.Spec.Color = "pink"
	_, err = widgets.Update(got, store.UpdateOptions{})
	assertStatus(t, err, 422, store.ErrInvalid, `Widget.example.com "a" is invalid: spec.color: Unsupported value: "pink": supported values: "red", "blue"`)

	var warnings []string
	r := st.Resource(kind)
	_, err = r.Create(newWidget("ns/b", "black"), store.Request{Namespace: "ns", Warn: func(s string) { warnings = append(warnings, s) }})
	require.NoError(t, err)
	assert.Equal(t, []string{"black is for ever"}, warnings)
	_, err = widgets.Modify("ns", "b", func(w *widget) error {
		w.Spec.Color = "red"
		return nil
	})
	assertStatus(t, err, 422, store.ErrInvalid, `Widget.example.com "b" is invalid: spec.color: Forbidden: black is for ever`)
}

func TestKindThatDoesNotCreateOnUpdateAnswersNotFound(t *testing.T) {
	widgets := store.In(newStore(t), newWidgetKind())
	_, err := widgets.Update(newWidget("ns/a", "red"), store.UpdateOptions{})
	assertStatus(t, err, 404, store.ErrNotFound, `widgets.example.com "a" not found`)
}

func TestVersionHasRulesOfItsOwn(t *testing.T) {
	st := newStore(t)
	r := st.Resource(newWidgetKind())
	v2 := &widgetV2{TypeMeta: meta.TypeMeta{Kind: "Widget"}, ObjectMeta: objectMeta("ns/a"), Spec: widgetSpecV2{"pink"}}
	it, err := r.Create(r.FromWire(1, v2), store.Request{Namespace: "ns", Version: 1})
	require.NoError(t, err, "v2 has nothing against pink")
	assert.Equal(t, "pink", it.Wire(0).(*widget).Spec.Color)
	shown := it.Wire(1).(*widgetV2)
	assert.Equal(t, "pink", shown.Spec.Paint)
	assert.Equal(t, meta.TypeMeta{Kind: "Widget", APIVersion: "example.com/v2"}, shown.TypeMeta)
	assert.IsType(t, &widgetV2{}, r.New(1))
}

func TestKindsThatDoNotFitAreAPanic(t *testing.T) {
	st := newStore(t)
	assert.PanicsWithValue(t, "store: a Kind needs Name and Versions", func() { store.In(st, &store.Kind[widget]{}) })
	assert.PanicsWithValue(t, "store: struct {} does not embed meta.TypeMeta and meta.ObjectMeta", func() {
		store.In(st, &store.Kind[struct{}]{Name: "S", Plural: "ss", Versions: []store.Version[struct{}]{{Name: "v1"}}})
	})
	store.In(st, newWidgetKind())
	assert.PanicsWithValue(t, "store: two kinds for widgets.example.com", func() { store.In(st, newWidgetKind()) })
}

func TestMistakesInAKindAreNamed(t *testing.T) {
	type untagged struct {
		meta.TypeMeta
		meta.ObjectMeta
	}
	type formless struct {
		meta.TypeMeta   `json:",inline"`
		meta.ObjectMeta `json:"metadata" protobuf:"1"`
		Count           int `json:"count" protobuf:"2"`
	}
	of := func(edit func(k *store.Kind[widget])) store.Descriptor {
		k := newWidgetKind()
		edit(k)
		return k
	}
	for name, row := range map[string]struct {
		kind store.Descriptor
		want string
	}{
		"none":              {nil, "store: got nil, want a Kind"},
		"a nil Kind":        {(*store.Kind[widget])(nil), "store: got nil, want a Kind"},
		"a name":            {of(func(k *store.Kind[widget]) { k.Name, k.Plural = "Wid/get", "" }), `store: Kind Wid/get: Name in lower case: got "wid/get", want a lowercase RFC 1123 label`},
		"a plural":          {of(func(k *store.Kind[widget]) { k.Plural = "Widgets" }), `store: Kind Widget: Plural: got "Widgets", want a lowercase RFC 1123 label`},
		"a group":           {of(func(k *store.Kind[widget]) { k.Group = "a/b" }), `store: Kind Widget: Group: got "a/b", want a lowercase RFC 1123 subdomain`},
		"a version":         {of(func(k *store.Kind[widget]) { k.Versions[0].Name = "" }), `store: Kind Widget: Versions: got "", want a lowercase RFC 1123 label`},
		"a version twice":   {of(func(k *store.Kind[widget]) { k.Versions[1].Name = k.Versions[0].Name }), `store: Kind Widget: Versions: got "v1" twice, want it once`},
		"an empty column":   {of(func(k *store.Kind[widget]) { k.Columns = []store.Column[widget]{{Name: "X"}} }), `store: Kind Widget: Columns: got "X" without a Cell, want one`},
		"an unread field":   {of(func(k *store.Kind[widget]) { k.SelectableFields[0].Value = nil }), `store: Kind Widget: SelectableFields: got "spec.color" without a Value, want one`},
		"untagged metadata": {&store.Kind[untagged]{Name: "U", Versions: []store.Version[untagged]{{Name: "v1"}}}, "store: Kind U: untagged embeds meta.ObjectMeta without the tags `json:\"metadata\" protobuf:\"1\"`"},
		"a type":            {&store.Kind[formless]{Name: "F", Versions: []store.Version[formless]{{Name: "v1"}}}, "codec: store_test.formless.Count: int has no wire form"},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				got, _ := recover().(string)
				assert.True(t, strings.HasPrefix(got, row.want), "got %s", got)
			}()
			newStore(t).Resource(row.kind)
		})
	}
}

func TestItemRemembersItsBytes(t *testing.T) {
	st := newStore(t)
	r := st.Resource(newWidgetKind())
	it, err := r.Create(newWidget("ns/a", "red"), store.Request{Namespace: "ns"})
	require.NoError(t, err)
	first, err := it.Encoded(0, store.JSON)
	require.NoError(t, err)
	assert.JSONEq(t, `{"metadata":{"name":"a","namespace":"ns","uid":"`+string(it.UID())+`","resourceVersion":"1001",
		"generation":1,"creationTimestamp":"2026-01-02T02:04:05Z","managedFields":[{"manager":"unknown","operation":"Update","apiVersion":"example.com/v1",
		"time":"2026-01-02T02:04:05Z","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:color":{},"f:size":{}}}}]},"spec":{"color":"red","size":5}}`, string(first))

	listed, err := r.List(t.Context(), store.ListOptions{})
	require.NoError(t, err)
	second, err := listed.Items[0].Encoded(0, store.JSON)
	require.NoError(t, err)
	assert.Same(t, &first[0], &second[0], "bytes are made once for all readers")

	other, err := it.Encoded(1, store.JSON)
	require.NoError(t, err)
	assert.Contains(t, string(other), `"spec":{"paint":"red"}`)
	binary, err := it.Encoded(0, store.Protobuf)
	require.NoError(t, err)
	assert.NotEqual(t, first, binary)
	again, err := it.Encoded(0, store.JSON)
	require.NoError(t, err)
	assert.Same(t, &first[0], &again[0], "other forms do not push it out")

	metadata, err := it.EncodedMetadata(store.JSON)
	require.NoError(t, err)
	assert.NotContains(t, string(metadata), `"color"`)
	assert.Contains(t, string(first), `"metadata":`+string(metadata))
}

func TestItemHandsOutCopies(t *testing.T) {
	r := newStore(t).Resource(newWidgetKind())
	w := newWidget("ns/a", "red")
	w.Labels = map[string]string{"k": "v"}
	it, err := r.Create(w, store.Request{Namespace: "ns"})
	require.NoError(t, err)
	it.Metadata().Labels["k"] = "spoiled"
	it.Wire(0).GetObjectMeta().Labels["k"] = "spoiled"
	assert.Equal(t, "v", it.Metadata().Labels["k"])
}

func TestEmptyItemHoldsAVersionAlone(t *testing.T) {
	r := newStore(t).Resource(newWidgetKind())
	data, err := r.Empty("77", map[string]string{"k": "v"}).Encoded(0, store.JSON)
	require.NoError(t, err)
	assert.JSONEq(t, `{"metadata":{"resourceVersion":"77","annotations":{"k":"v"}},"spec":{}}`, string(data))
}

func TestCellsOfATable(t *testing.T) {
	r := newStore(t).Resource(newWidgetKind())
	it, err := r.Create(newWidget("ns/a", "red"), store.Request{Namespace: "ns"})
	require.NoError(t, err)
	created := it.Metadata().CreationTimestamp.Time
	for name, row := range map[string]struct {
		age  time.Duration
		want string
	}{
		"long before":             {-2 * time.Second, "<invalid>"},
		"a little before":         {-1999 * time.Millisecond, "0s"},
		"at once":                 {0, "0s"},
		"seconds":                 {119*time.Second + 999*time.Millisecond, "119s"},
		"two minutes":             {2 * time.Minute, "2m"},
		"minutes and seconds":     {9*time.Minute + 59*time.Second, "9m59s"},
		"ten minutes and seconds": {10*time.Minute + 59*time.Second, "10m"},
		"under three hours":       {3*time.Hour - time.Second, "179m"},
		"three hours":             {3 * time.Hour, "3h"},
		"hours and minutes":       {7*time.Hour + 59*time.Minute, "7h59m"},
		"eight hours and minutes": {8*time.Hour + 59*time.Minute, "8h"},
		"under two days":          {48*time.Hour - time.Second, "47h"},
		"two days":                {48 * time.Hour, "2d"},
		"days and hours":          {7*24*time.Hour + 23*time.Hour, "7d23h"},
		"eight days and hours":    {8*24*time.Hour + 23*time.Hour, "8d"},
		"under two years":         {2*365*24*time.Hour - time.Second, "729d"},
		"two years":               {2 * 365 * 24 * time.Hour, "2y"},
		"years and days":          {3*365*24*time.Hour + 10*24*time.Hour, "3y10d"},
		"eight years and days":    {8*365*24*time.Hour + 10*24*time.Hour, "8y"},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, []any{"a", row.want}, it.Cells(created.Add(row.age)))
		})
	}
	assert.Equal(t, []any{"", "<unknown>"}, r.Empty("1", nil).Cells(created))
}

func TestNameRules(t *testing.T) {
	long := strings.Repeat("a", 254)
	for name, row := range map[string]struct {
		rule   func(string, bool) []string
		value  string
		prefix bool
		ok     bool
	}{
		"a subdomain":                     {store.DNSSubdomainName, "a.b-c", false, true},
		"a subdomain that ends in a dash": {store.DNSSubdomainName, "a-", false, false},
		"a prefix that ends in a dash":    {store.DNSSubdomainName, "a-", true, true},
		"a subdomain that is too long":    {store.DNSSubdomainName, long, false, false},
		"a label":                         {store.DNSLabelName, "a-b", false, true},
		"a label with a dot":              {store.DNSLabelName, "a.b", false, false},
		"a key in upper case":             {store.ConfigKeyName, "A_b.", false, true},
		"a key with a blank":              {store.ConfigKeyName, "A b", false, false},
		"a key that climbs up":            {store.ConfigKeyName, "..", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			problems := row.rule(row.value, row.prefix)
			assert.Equal(t, row.ok, len(problems) == 0, "got %q", problems)
		})
	}
}
