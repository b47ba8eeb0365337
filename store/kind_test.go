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
func widgetDescriptor() store.Descriptor[widget] {
	return store.Descriptor[widget]{
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

func TestKindHasTheNamesOfItsDescriptor(t *testing.T) {
	info := resourceOf(newStore(t), newWidgetKind()).Info()
	assert.Equal(t, "example.com/widgets", info.StoragePrefix)
	assert.Equal(t, "widget", info.Singular, "the singular is the name in lower case")
	assert.Equal(t, []kinds.VersionInfo{{Name: "v1"}, {Name: "v2", Deprecated: "use v1"}}, info.Versions)
	assert.Equal(t, []string{"metadata.name", "metadata.namespace", "spec.color"}, info.SelectableFields)
	require.Len(t, info.Columns, 2)
	assert.Equal(t, "Name", info.Columns[0].Name)
	assert.Equal(t, "Age", info.Columns[1].Name)
	assert.False(t, info.CreateOnUpdate)
}

func TestKindHasEveryMemberOfItsDescriptor(t *testing.T) {
	d := widgetDescriptor()
	d.Singular, d.StoragePrefix, d.Native, d.CreateOnUpdate, d.ValidateMetadataOnUpdate = "gadget", "things", true, true, true
	bad := "bad"
	d.ValidateName = func(name string, prefix bool) []string {
		if name == bad {
			return []string{"bad name"}
		}
		return nil
	}
	d.ValidateFinalizer = func(f string) []string {
		if f == "a/bad" {
			return []string{"bad finalizer"}
		}
		return nil
	}
	d.Columns = append([]store.Column[widget]{store.NameColumn[widget](), store.AgeColumn[widget]()},
		store.Column[widget]{Name: "Color", Type: "string", Format: "rgb", Description: "of the paint", Priority: 1, Cell: func(w *widget, _ time.Time) any { return w.Spec.Color }})
	st, kind := newStore(t), store.MustKind(d)
	info := resourceOf(st, kind).Info()
	assert.Equal(t, "gadget", info.Singular)
	assert.Equal(t, "things", info.StoragePrefix)
	assert.True(t, info.Native)
	assert.True(t, info.CreateOnUpdate)
	var columns []kinds.ColumnInfo
	for _, c := range info.Columns {
		columns = append(columns, c.ColumnInfo)
	}
	assert.Equal(t, []kinds.ColumnInfo{
		{Name: "Name", Type: "string", Format: "name", Description: "Name of the object, unique in its namespace for one kind."},
		{Name: "Age", Type: "string", Description: "Time since the server created the object."},
		{Name: "Color", Type: "string", Format: "rgb", Description: "of the paint", Priority: 1},
	}, columns)

	widgets := kind.In(st)
	_, err := widgets.Create(t.Context(), newWidget("ns/bad", "red"), store.CreateOptions{})
	assertStatus(t, err, 422, store.ErrInvalid, `Widget.example.com "bad" is invalid: metadata.name: Invalid value: "bad": bad name`)
	w := newWidget("ns/a", "red")
	w.Finalizers = []string{"a/bad"}
	_, err = widgets.Create(t.Context(), w, store.CreateOptions{})
	assertStatus(t, err, 422, store.ErrInvalid, `Widget.example.com "a" is invalid: metadata.finalizers[0]: Invalid value: "a/bad": bad finalizer`)
	_, err = widgets.Create(t.Context(), newWidget("ns/a", "red"), store.CreateOptions{})
	require.NoError(t, err)
	bad = "a"
	_, err = widgets.Modify(t.Context(), "ns", "a", func(w *widget) error { w.Spec.Color = "blue"; return nil }, store.UpdateOptions{})
	assertStatus(t, err, 422, store.ErrInvalid, `Widget.example.com "a" is invalid: metadata.name: Invalid value: "a": bad name`)
}

func TestAsTakesOnlyTheTypeOfTheObjects(t *testing.T) {
	var anyKind store.AnyKind = newBlobKind()
	k, err := store.As[store.Unstructured](anyKind)
	require.NoError(t, err)
	assert.Same(t, anyKind.Registered(), k.Registered())
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
	_, err = r.Create(t.Context(), newWidget("ns/b", "black"), registry.Request{Namespace: "ns", Warn: func(s string) { warnings = append(warnings, s) }})
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
	d.Columns = []store.Column[widget]{store.NameColumn[widget]()}
	kind := store.MustKind(d)
	want := resourceOf(newStore(t), kind).Info()
	d.ShortNames[0], d.Versions[0].Name, d.Columns[0].Name, d.SelectableFields[0].Path = "x", "x", "x", "x"
	got := resourceOf(newStore(t), kind).Info()
	assert.Equal(t, []string{"wd"}, got.ShortNames)
	assert.Equal(t, want.Versions, got.Versions)
	assert.Equal(t, want.SelectableFields, got.SelectableFields)
	assert.Equal(t, "Name", got.Columns[0].Name)
}

func TestStoreTakesOneKindForEachName(t *testing.T) {
	st, kind := newStore(t), newWidgetKind()
	kind.In(st)
	assert.NotPanics(t, func() { kind.In(st); kind.In(newStore(t)) }, "a kind may be in many stores")
	assert.PanicsWithValue(t, "store: two kinds for widgets.example.com", func() { newWidgetKind().In(st) })
	other := newWidgetKind()
	assert.Zero(t, st.Len(other))
	changes, complete := st.History(other)
	assert.Empty(t, changes)
	assert.False(t, complete)
	assert.EqualError(t, fixture.Dump(io.Discard, st, fixture.DumpOptions{Kinds: []store.AnyKind{other}}), "fixture: store: two kinds for widgets.example.com")
}

// refusal returns the error of a descriptor, which MustKind panics with.
func refusal[T any](t *testing.T, d store.Descriptor[T]) string {
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
		edit func(d *store.Descriptor[widget])
		want string
	}{
		"no name":          {func(d *store.Descriptor[widget]) { d.Name = "" }, "store: a kind needs Name and Versions"},
		"no versions":      {func(d *store.Descriptor[widget]) { d.Versions = nil }, "store: a kind needs Name and Versions"},
		"a name":           {func(d *store.Descriptor[widget]) { d.Name, d.Plural = "Wid/get", "" }, `store: kind Wid/get: Name in lower case: got "wid/get", want a lowercase RFC 1123 label`},
		"a plural":         {func(d *store.Descriptor[widget]) { d.Plural = "Widgets" }, `store: kind Widget: Plural: got "Widgets", want a lowercase RFC 1123 label`},
		"a group":          {func(d *store.Descriptor[widget]) { d.Group = "a/b" }, `store: kind Widget: Group: got "a/b", want a lowercase RFC 1123 subdomain`},
		"a version":        {func(d *store.Descriptor[widget]) { d.Versions[0].Name = "" }, `store: kind Widget: Versions: got "", want a lowercase RFC 1123 label`},
		"a version twice":  {func(d *store.Descriptor[widget]) { d.Versions[1].Name = d.Versions[0].Name }, `store: kind Widget: Versions: got "v1" twice, want it once`},
		"a first Form":     {func(d *store.Descriptor[widget]) { d.Versions = d.Versions[1:] }, `store: kind Widget: Versions: got a Form for "v2", want none: the first version has the stored form`},
		"an empty column":  {func(d *store.Descriptor[widget]) { d.Columns = []store.Column[widget]{{Name: "X"}} }, `store: kind Widget: Columns: got "X" without a Cell, want one`},
		"an unread field":  {func(d *store.Descriptor[widget]) { d.SelectableFields[0].Value = nil }, `store: kind Widget: SelectableFields: got "spec.color" without a Value, want one`},
		"a missing status": {func(d *store.Descriptor[widget]) { d.Status = true }, `store: kind Widget: Status: got true, but widget has no member "status"`},
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
	assert.Equal(t, "store: kind S: struct {} does not embed meta.TypeMeta and meta.ObjectMeta",
		refusal(t, store.Descriptor[struct{}]{Name: "S", Versions: []store.Version[struct{}]{{Name: "v1"}}}))
	assert.Equal(t, "store: kind U: untagged: got meta.ObjectMeta without the tags `json:\"metadata\" protobuf:\"1\"`, want it embedded with them",
		refusal(t, store.Descriptor[untagged]{Name: "U", Versions: []store.Version[untagged]{{Name: "v1"}}}))
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
		refusal(t, store.Descriptor[unnamed]{Name: "N", Versions: []store.Version[unnamed]{{Name: "v1"}}}))
	assert.Equal(t, `store: kind D: store_test.shadowed: two fields have the JSON name "metadata", want one`,
		refusal(t, store.Descriptor[shadowed]{Name: "D", Versions: []store.Version[shadowed]{{Name: "v1"}}}))
	assert.Equal(t, "store: kind P: *store_test.base does not embed meta.TypeMeta and meta.ObjectMeta",
		refusal(t, store.Descriptor[*base]{Name: "P", Versions: []store.Version[*base]{{Name: "v1"}}}))
	assert.Equal(t, "store: kind W: version v1: got a Form of struct {}, want one that embeds meta.TypeMeta and meta.ObjectMeta",
		refusal(t, store.Descriptor[base]{Name: "W", Versions: []store.Version[base]{{
			Name: "v1", Form: store.FormOf(func(*base) *struct{} { return nil }, func(*struct{}) *base { return nil }),
		}}}))
	assert.Equal(t, "store: kind W: version v1: got a Form with a nil function, want both",
		refusal(t, store.Descriptor[base]{Name: "W", Versions: []store.Version[base]{{Name: "v1", Form: store.FormOf[base, base](nil, nil)}}}))
	assert.Equal(t, "store: kind F: formless.Count: got type uint64, want int, int32 or int64",
		refusal(t, store.Descriptor[formless]{Name: "F", Versions: []store.Version[formless]{{Name: "v1"}}}))
}

func TestPluralIsGuessedAsClientsGuess(t *testing.T) {
	for kind, want := range map[string]string{"Blob": "blobs", "Policy": "policies", "Class": "classes", "MyEndpoints": "myendpoints"} {
		d := store.Descriptor[widget]{Name: kind, Versions: []store.Version[widget]{{Name: "v1"}}}
		assert.Equal(t, want, resourceOf(newStore(t), store.MustKind(d)).Info().Plural)
	}
}

func TestItemRemembersItsBytes(t *testing.T) {
	st := newStore(t)
	r := resourceOf(st, newWidgetKind())
	it, err := r.Create(t.Context(), newWidget("ns/a", "red"), registry.Request{Namespace: "ns"})
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
	it, err := r.Create(t.Context(), w, registry.Request{Namespace: "ns"})
	require.NoError(t, err)
	it.Metadata().Labels["k"] = "spoiled"
	it.Wire(0).GetObjectMeta().Labels["k"] = "spoiled"
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
	it, err := r.Create(t.Context(), newWidget("ns/a", "red"), registry.Request{Namespace: "ns"})
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
			assert.Equal(t, []any{"a", row.want}, it.Cells(0, created.Add(row.age)))
		})
	}
	assert.Equal(t, []any{"", "<unknown>"}, r.Empty("1", nil).Cells(0, created))
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
