package store_test

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/field"
	"github.com/kubecoord/kubecoord/store/fixture"
	"github.com/kubecoord/kubecoord/store/kind"
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

func newWidgetKind() *store.Kind[widget] { return store.MustKind(widgetDescriptor()) }

// widgetDescriptor describes a kind with a function of every sort, that neither creates
// on update nor updates unconditionally.
func widgetDescriptor() kind.Descriptor[*widget] {
	return kind.Descriptor[*widget]{
		Resource: kind.Resource{Group: "example.com", Kind: "Widget", Plural: "widgets", ShortNames: []string{"wd"}},
		Versions: []kind.Version[*widget]{
			{Name: "v1"},
			{
				Name:       "v2",
				Deprecated: "use v1",
				Form: kind.FormOf(
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
		Strategy: kind.Strategy[*widget]{
			Default: func(w *widget) {
				if w.Spec.Color == "" {
					w.Spec.Color = "grey"
				}
			},
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
			Update: kind.UpdateStrategy[*widget]{Prepare: func(w, old *widget) { w.Spec.Size = old.Spec.Size }},
		},
		SelectableFields: []kind.SelectableField[*widget]{{Path: "spec.color", Value: func(w *widget) string { return w.Spec.Color }}},
	}
}

func newWidget(path, color string) *widget {
	return &widget{ObjectMeta: objectMeta(path), Spec: widgetSpec{Color: color, Size: 5}}
}

func TestKindHasTheNamesOfItsDescriptor(t *testing.T) {
	r := resourceOf(newStore(t), newWidgetKind())
	info, columns := r.Info(), r.Columns(0)
	assert.Equal(t, "example.com/widgets", info.StoragePrefix)
	assert.Equal(t, "widget", info.Singular, "the singular is the name in lower case")
	assert.Equal(t, []kind.VersionInfo{{Name: "v1"}, {Name: "v2", Deprecated: "use v1"}}, info.Versions)
	assert.Equal(t, []string{"metadata.name", "metadata.namespace", "spec.color"}, info.SelectableFields)
	require.Len(t, columns, 2)
	assert.Equal(t, "Name", columns[0].Name)
	assert.Equal(t, "Age", columns[1].Name)
}

func TestKindHasEveryMemberOfItsDescriptor(t *testing.T) {
	d := widgetDescriptor()
	d.Resource.Singular, d.Strategy.Update.CreateMissing = "gadget", true
	d.Native = &kind.Native[*widget]{StoragePrefix: "things", Repeats: true}
	d.Strategy.ValidateName = func(name string, prefix bool) []string {
		if name == "bad" {
			return []string{"bad name"}
		}
		return nil
	}
	d.Table.Columns = append([]kind.Column[*widget]{kind.NameColumn[*widget](), kind.AgeColumn[*widget]()},
		kind.Column[*widget]{Name: "Color", Type: "string", Format: "rgb", Description: "of the paint", Priority: 1, Cell: func(w *widget, _ time.Time) any { return w.Spec.Color }})
	st, k := newStore(t), store.MustKind(d)
	info := resourceOf(st, k).Info()
	assert.Equal(t, "gadget", info.Singular)
	assert.Equal(t, "things", info.StoragePrefix)
	assert.True(t, info.Native)
	var columns []kind.Column[meta.Object]
	for _, c := range resourceOf(st, k).Columns(0) {
		c.Cell = nil
		columns = append(columns, c)
	}
	assert.Equal(t, []kind.Column[meta.Object]{
		{Name: "Name", Type: "string", Format: "name", Description: "Name of the object, unique in its namespace for one kind."},
		{Name: "Age", Type: "string", Description: "Time since the server created the object."},
		{Name: "Color", Type: "string", Format: "rgb", Description: "of the paint", Priority: 1},
	}, columns)

	widgets := k.In(st)
	_, err := widgets.Create(t.Context(), newWidget("ns/bad", "red"), store.CreateOptions{})
	assertStatus(t, err, 422, store.ErrInvalid, `Widget.example.com "bad" is invalid: metadata.name: Invalid value: "bad": bad name`)
	_, err = widgets.Create(t.Context(), newWidget("ns/a", "red"), store.CreateOptions{})
	require.NoError(t, err)
	_, err = widgets.Modify(t.Context(), "ns", "a", func(w *widget) error { w.UID = "other"; return nil }, store.UpdateOptions{})
	var status *meta.StatusError
	require.ErrorAs(t, err, &status)
	assert.Len(t, status.Status.Details.Causes, 2, "by the rules of all kinds, and by those of the kind")
}

func TestAsTakesOnlyTheTypeOfTheObjects(t *testing.T) {
	var anyKind kind.Kind = newBlobKind()
	k, err := store.As[store.Unstructured](anyKind)
	require.NoError(t, err)
	assert.Same(t, kinds.Of(anyKind), kinds.Of(k))
	_, err = store.As[widget](anyKind)
	assert.EqualError(t, err, "store: kind Blob: got objects of type *store.Unstructured, want *store_test.widget")
}

func TestKindHooksAreCalled(t *testing.T) {
	st := newStore(t)
	kind := newWidgetKind()
	widgets := kind.In(st)
	got, err := widgets.Create(t.Context(), newWidget("ns/a", ""), store.CreateOptions{})
	require.NoError(t, err)
	assert.Equal(t, "grey", got.Spec.Color, "defaults are filled in")

	got.Spec.Color, got.Spec.Size = "", 99
	same, err := widgets.Update(t.Context(), got, store.UpdateOptions{})
	require.NoError(t, err)
	assert.EqualValues(t, 5, same.Spec.Size, "PrepareForUpdate carries over")
	assert.Equal(t, "1001", same.ResourceVersion, "both are settled before the look for changes")

	got.Spec.Color = "pink"
	_, err = widgets.Update(t.Context(), got, store.UpdateOptions{})
	assertStatus(t, err, 422, store.ErrInvalid, `Widget.example.com "a" is invalid: spec.color: Unsupported value: "pink": supported values: "red", "blue"`)

	var warnings []string
	r := resourceOf(st, kind)
	_, err = r.Create(t.Context(), newWidget("ns/b", "black"), &registry.Request{Namespace: "ns", Warn: func(s string) { warnings = append(warnings, s) }})
	require.NoError(t, err)
	assert.Equal(t, []string{"black is for ever"}, warnings)
	_, err = widgets.Modify(t.Context(), "ns", "b", func(w *widget) error {
		w.Spec.Color = "red"
		return nil
	}, store.UpdateOptions{})
	assertStatus(t, err, 422, store.ErrInvalid, `Widget.example.com "b" is invalid: spec.color: Forbidden: black is for ever`)
}

func TestKindDoesNotChangeWithItsDescriptor(t *testing.T) {
	d := widgetDescriptor()
	d.Table.Columns = []kind.Column[*widget]{kind.NameColumn[*widget]()}
	kind := store.MustKind(d)
	want := resourceOf(newStore(t), kind).Info()
	d.Resource.ShortNames[0], d.Versions[0].Name, d.Table.Columns[0].Name, d.SelectableFields[0].Path = "x", "x", "x", "x"
	r := resourceOf(newStore(t), kind)
	got := r.Info()
	assert.Equal(t, []string{"wd"}, got.ShortNames)
	assert.Equal(t, want.Versions, got.Versions)
	assert.Equal(t, want.SelectableFields, got.SelectableFields)
	assert.Equal(t, "Name", r.Columns(0)[0].Name)
}

func TestStoreTakesOneKindForEachName(t *testing.T) {
	st, widgets := newStore(t), newWidgetKind()
	widgets.In(st)
	assert.NotPanics(t, func() { widgets.In(st); widgets.In(newStore(t)) }, "a kind may be in many stores")
	assert.PanicsWithValue(t, "store: two kinds for widgets.example.com", func() { newWidgetKind().In(st) })
	other := newWidgetKind()
	assert.Zero(t, st.Len(other))
	changes, complete := st.History(other)
	assert.Empty(t, changes)
	assert.False(t, complete)
	assert.EqualError(t, fixture.Dump(io.Discard, st, fixture.DumpOptions{Kinds: []kind.Kind{other}}), "fixture: store: two kinds for widgets.example.com")
}

// refusal returns the error of a descriptor, which MustKind panics with.
func refusal[T any](t *testing.T, d kind.Descriptor[*T]) string {
	t.Helper()
	kind, err := store.NewKind(d)
	if !assert.Error(t, err) {
		return ""
	}
	assert.Nil(t, kind)
	assert.PanicsWithError(t, err.Error(), func() { store.MustKind(d) })
	return err.Error()
}

func TestMistakesInADescriptorAreNamed(t *testing.T) {
	for name, row := range map[string]struct {
		edit func(d *kind.Descriptor[*widget])
		want string
	}{
		"no name":          {func(d *kind.Descriptor[*widget]) { d.Resource.Kind = "" }, "store: a kind needs Resource.Kind and Versions"},
		"no versions":      {func(d *kind.Descriptor[*widget]) { d.Versions = nil }, "store: a kind needs Resource.Kind and Versions"},
		"a name":           {func(d *kind.Descriptor[*widget]) { d.Resource.Kind, d.Resource.Plural = "Wid/get", "" }, `store: kind Wid/get: Resource.Kind in lower case: got "wid/get", want a lowercase RFC 1123 label`},
		"a plural":         {func(d *kind.Descriptor[*widget]) { d.Resource.Plural = "Widgets" }, `store: kind Widget: Resource.Plural: got "Widgets", want a lowercase RFC 1123 label`},
		"a group":          {func(d *kind.Descriptor[*widget]) { d.Resource.Group = "a/b" }, `store: kind Widget: Resource.Group: got "a/b", want a lowercase RFC 1123 subdomain`},
		"a version":        {func(d *kind.Descriptor[*widget]) { d.Versions[0].Name = "" }, `store: kind Widget: Versions: got "", want a lowercase RFC 1123 label`},
		"a version twice":  {func(d *kind.Descriptor[*widget]) { d.Versions[1].Name = d.Versions[0].Name }, `store: kind Widget: Versions: got "v1" twice, want it once`},
		"a first Form":     {func(d *kind.Descriptor[*widget]) { d.Versions = d.Versions[1:] }, `store: kind Widget: Versions: got a Form for "v2", want none: the first version has the stored form`},
		"an empty column":  {func(d *kind.Descriptor[*widget]) { d.Table.Columns = []kind.Column[*widget]{{Name: "X"}} }, `store: kind Widget: Table.Columns: got "X" without a Cell, want one`},
		"an unread field":  {func(d *kind.Descriptor[*widget]) { d.SelectableFields[0].Value = nil }, `store: kind Widget: SelectableFields: got "spec.color" without a Value, want one`},
		"a missing status": {func(d *kind.Descriptor[*widget]) { d.Resource.Status = true }, `store: kind Widget: Resource.Status: got true, but widget has no member "status"`},
	} {
		t.Run(name, func(t *testing.T) {
			d := widgetDescriptor()
			row.edit(&d)
			got := refusal(t, d)
			assert.True(t, strings.HasPrefix(got, row.want), "got %s", got)
		})
	}
}

func TestMistakesInATypeAreNamed(t *testing.T) {
	type untagged struct {
		meta.TypeMeta
		meta.ObjectMeta
	}
	type formless struct {
		meta.TypeMeta   `json:",inline"`
		meta.ObjectMeta `json:"metadata" protobuf:"1"`
		Count           uint64 `json:"count" protobuf:"2"`
	}
	assert.Equal(t, "store: kind S: got functions that take a *struct {}, want a pointer to a struct that embeds meta.TypeMeta and meta.ObjectMeta",
		refusal(t, kind.Descriptor[*struct{}]{Resource: kind.Resource{Kind: "S"}, Versions: []kind.Version[*struct{}]{{Name: "v1"}}}))
	assert.Equal(t, "store: kind U: untagged: got meta.ObjectMeta without the tags `json:\"metadata\" protobuf:\"1\"`, want it embedded with them",
		refusal(t, kind.Descriptor[*untagged]{Resource: kind.Resource{Kind: "U"}, Versions: []kind.Version[*untagged]{{Name: "v1"}}}))
	type unnamed struct {
		meta.TypeMeta   `json:"type"`
		meta.ObjectMeta `json:"metadata" protobuf:"1"`
	}
	type base struct {
		meta.TypeMeta   `json:",inline"`
		meta.ObjectMeta `json:"metadata" protobuf:"1"`
	}
	type shadowed struct {
		base
		Metadata map[string]string `json:"metadata"`
	}
	assert.Equal(t, "store: kind N: unnamed: got meta.TypeMeta with a name in its tag, want it embedded with `json:\",inline\"`",
		refusal(t, kind.Descriptor[*unnamed]{Resource: kind.Resource{Kind: "N"}, Versions: []kind.Version[*unnamed]{{Name: "v1"}}}))
	assert.Equal(t, `store: kind D: store_test.shadowed: two fields have the JSON name "metadata", want one`,
		refusal(t, kind.Descriptor[*shadowed]{Resource: kind.Resource{Kind: "D"}, Versions: []kind.Version[*shadowed]{{Name: "v1"}}}))
	assert.Equal(t, "store: kind P: got functions that take a **store_test.base, want a pointer to a struct that embeds meta.TypeMeta and meta.ObjectMeta",
		refusal(t, kind.Descriptor[**base]{Resource: kind.Resource{Kind: "P"}, Versions: []kind.Version[**base]{{Name: "v1"}}}))
	assert.Equal(t, `store: kind W: Versions: got a Form for "v2" without a function that converts, want both functions`,
		refusal(t, kind.Descriptor[*base]{
			Resource: kind.Resource{Kind: "W"},
			Versions: []kind.Version[*base]{{Name: "v1"}, {Name: "v2", Form: kind.FormOf[base, base](nil, nil)}},
		}))
	assert.Equal(t, "store: kind F: formless.Count: got type uint64, want int, int32 or int64",
		refusal(t, kind.Descriptor[*formless]{Resource: kind.Resource{Kind: "F"}, Versions: []kind.Version[*formless]{{Name: "v1"}}}))
}

func TestPluralIsGuessedAsClientsGuess(t *testing.T) {
	for name, want := range map[string]string{"Blob": "blobs", "Policy": "policies", "Class": "classes", "MyEndpoints": "myendpoints"} {
		d := kind.Descriptor[*widget]{Resource: kind.Resource{Kind: name}, Versions: []kind.Version[*widget]{{Name: "v1"}}}
		assert.Equal(t, want, resourceOf(newStore(t), store.MustKind(d)).Info().Plural)
	}
}

func TestItemRemembersItsBytes(t *testing.T) {
	st := newStore(t)
	r := resourceOf(st, newWidgetKind())
	it, err := r.Create(t.Context(), newWidget("ns/a", "red"), &registry.Request{Namespace: "ns"})
	require.NoError(t, err)
	first, err := it.Encoded(0, kinds.JSON)
	require.NoError(t, err)
	assert.JSONEq(t, `{"metadata":{"name":"a","namespace":"ns","uid":"`+string(it.UID())+`","resourceVersion":"1001",
		"generation":1,"creationTimestamp":"2026-01-02T02:04:05Z","managedFields":[{"manager":"unknown","operation":"Update","apiVersion":"example.com/v1",
		"time":"2026-01-02T02:04:05Z","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:color":{},"f:size":{}}}}]},"spec":{"color":"red","size":5}}`, string(first))

	kept, err := it.Encoded(0, kinds.JSON)
	require.NoError(t, err)
	assert.Equal(t, first, kept)
	listed, err := r.List(t.Context(), registry.ListOptions{})
	require.NoError(t, err)
	second, err := listed.Items[0].Encoded(0, kinds.JSON)
	require.NoError(t, err)
	assert.Same(t, &kept[0], &second[0], "the bytes of the second call are for all readers")

	other, err := it.Encoded(1, kinds.JSON)
	require.NoError(t, err)
	assert.Contains(t, string(other), `"spec":{"paint":"red"}`)
	binary, err := it.Encoded(0, kinds.Protobuf)
	require.NoError(t, err)
	assert.NotEqual(t, first, binary)
	again, err := it.Encoded(0, kinds.JSON)
	require.NoError(t, err)
	assert.Same(t, &kept[0], &again[0], "other forms do not push it out")

	metadata, err := it.AppendMetadata(nil, kinds.JSON)
	require.NoError(t, err)
	assert.NotContains(t, string(metadata), `"color"`)
	assert.Contains(t, string(first), `"metadata":`+string(metadata))
}

func TestItemHandsOutCopies(t *testing.T) {
	r := resourceOf(newStore(t), newWidgetKind())
	w := newWidget("ns/a", "red")
	w.Labels = map[string]string{"k": "v"}
	it, err := r.Create(t.Context(), w, &registry.Request{Namespace: "ns"})
	require.NoError(t, err)
	it.Metadata().Labels["k"] = "spoiled"
	it.Wire().GetObjectMeta().Labels["k"] = "spoiled"
	assert.Equal(t, "v", it.Metadata().Labels["k"])
}

func TestEmptyItemHoldsAVersionAlone(t *testing.T) {
	r := resourceOf(newStore(t), newWidgetKind())
	data, err := r.Empty("77", map[string]string{"k": "v"}).Encoded(0, kinds.JSON)
	require.NoError(t, err)
	assert.JSONEq(t, `{"metadata":{"resourceVersion":"77","annotations":{"k":"v"}},"spec":{}}`, string(data))
}

func TestCellsOfATable(t *testing.T) {
	r := resourceOf(newStore(t), newWidgetKind())
	it, err := r.Create(t.Context(), newWidget("ns/a", "red"), &registry.Request{Namespace: "ns"})
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
			cells, err := it.Cells(t.Context(), 0, created.Add(row.age))
			require.NoError(t, err)
			assert.Equal(t, []any{"a", row.want}, cells)
		})
	}
	cells, err := r.Empty("1", nil).Cells(t.Context(), 0, created)
	require.NoError(t, err)
	assert.Equal(t, []any{"", "<unknown>"}, cells)
}

func TestNameRules(t *testing.T) {
	long := strings.Repeat("a", 254)
	for name, row := range map[string]struct {
		rule   func(string, bool) []string
		value  string
		prefix bool
		ok     bool
	}{
		"a subdomain":                     {kind.DNSSubdomainName, "a.b-c", false, true},
		"a subdomain that ends in a dash": {kind.DNSSubdomainName, "a-", false, false},
		"a prefix that ends in a dash":    {kind.DNSSubdomainName, "a-", true, true},
		"a subdomain that is too long":    {kind.DNSSubdomainName, long, false, false},
		"a label":                         {kind.DNSLabelName, "a-b", false, true},
		"a label with a dot":              {kind.DNSLabelName, "a.b", false, false},
		"a key in upper case":             {kind.ConfigKeyName, "A_b.", false, true},
		"a key with a blank":              {kind.ConfigKeyName, "A b", false, false},
		"a key that climbs up":            {kind.ConfigKeyName, "..", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			problems := row.rule(row.value, row.prefix)
			assert.Equal(t, row.ok, len(problems) == 0, "got %q", problems)
		})
	}
}
