package codec

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/store/meta"
)

func TestCopyStructCopiesOnlyTheStruct(t *testing.T) {
	every := compileFor[Everything]("v1")
	original := fillNew[Everything](newFiller(1))
	copied := every.CopyStruct(original).(*Everything)
	require.Equal(t, original, copied)
	copied.Count++
	require.NotEqual(t, original, copied)
}

func TestCopyNormalises(t *testing.T) {
	at := time.Date(2024, 1, 2, 3, 4, 5, 123456789, time.FixedZone("", 7200))
	everything := &Everything{
		OptionalData: []byte{}, Data: []byte{}, Names: []string{}, Numbers: []int32{}, Limits: map[string]int64{},
		Ports: map[Protocol]PortStatus{}, Named: NamedMap{}, hidden: map[string][]string{},
		At: meta.MicroTime{Time: at}, Optional: &meta.Time{Time: at},
	}
	copied := compileFor[Everything]("v1").Copy(everything).(*Everything)
	assert.Nil(t, copied.OptionalData)
	assert.Nil(t, copied.Numbers)
	assert.Nil(t, copied.Limits)
	assert.Nil(t, copied.Named)
	assert.Nil(t, copied.hidden)
	assert.NotNil(t, copied.Data, "without omitempty an empty value is not nil")
	assert.NotNil(t, copied.Names)
	assert.NotNil(t, copied.Ports)
	assert.Equal(t, time.Date(2024, 1, 2, 1, 4, 5, 123456000, time.UTC), copied.At.Time)
	assert.Equal(t, time.Date(2024, 1, 2, 1, 4, 5, 0, time.UTC), copied.Optional.Time)
	assert.Equal(t, 789, everything.At.Nanosecond()%1000, "the original must not change")

	now := time.Now()
	lease := compileFor[Lease]("v1").Copy(&Lease{Spec: LeaseSpec{RenewTime: &meta.MicroTime{Time: now}, AcquireTime: &meta.MicroTime{}}}).(*Lease)
	assert.Equal(t, meta.NewMicroTime(now), *lease.Spec.RenewTime, "no monotonic clock")
	assert.Equal(t, &meta.MicroTime{}, lease.Spec.AcquireTime, "a pointer to a zero time")
}

func TestAppendToACopiedEmptyListDoesNotChangeTheOriginal(t *testing.T) {
	array := []string{"kept"}
	copied := compileFor[Everything]("v1").Copy(&Everything{Names: array[:0]}).(*Everything)
	_ = append(copied.Names, "written")
	assert.Equal(t, "kept", array[0])
}

func TestEqual(t *testing.T) {
	at := time.Date(2024, 1, 2, 3, 4, 5, 123456000, time.UTC)
	elsewhere := at.Add(999 * time.Nanosecond).In(time.FixedZone("", 3600))
	for _, row := range []struct {
		name string
		a, b Everything
		want bool
	}{
		{"nil and empty omitempty lists", Everything{Numbers: []int32{}}, Everything{}, true},
		{"nil and empty omitempty maps", Everything{Limits: map[string]int64{}}, Everything{}, true},
		{"nil and empty omitempty bytes", Everything{OptionalData: []byte{}}, Everything{}, true},
		{"nil and empty lists that are always written", Everything{Names: []string{}}, Everything{}, false},
		{"nil and empty maps that are always written", Everything{Ports: map[Protocol]PortStatus{}}, Everything{}, false},
		{"nil and empty bytes that are always written", Everything{Data: []byte{}}, Everything{}, false},
		{"one instant in two zones", Everything{At: meta.MicroTime{Time: at}}, Everything{At: meta.MicroTime{Time: elsewhere}}, true},
		{"instants a microsecond apart", Everything{At: meta.MicroTime{Time: at}}, Everything{At: meta.MicroTime{Time: at.Add(time.Microsecond)}}, false},
		{"times within one second", Everything{Optional: &meta.Time{Time: at}}, Everything{Optional: &meta.Time{Time: elsewhere}}, true},
		{"no time and the zero time", Everything{Optional: &meta.Time{}}, Everything{}, false},
		{"no number and zero", Everything{OptionalRatio: ptr(0.0)}, Everything{}, false},
		{"map values", Everything{Limits: map[string]int64{"a": 1}}, Everything{Limits: map[string]int64{"a": 2}}, false},
		{"map keys", Everything{Limits: map[string]int64{"a": 1}}, Everything{Limits: map[string]int64{"b": 1}}, false},
		{"items", Everything{Numbers: []int32{1, 2}}, Everything{Numbers: []int32{1, 3}}, false},
		{"items at the end", Everything{Numbers: []int32{1, 2}}, Everything{Numbers: []int32{1}}, false},
		{"kinds", Everything{TypeMeta: meta.TypeMeta{Kind: "A"}}, Everything{}, false},
		{"fields on no wire", Everything{hidden: map[string][]string{"a": {"b"}}}, Everything{hidden: map[string][]string{"a": {"c"}}}, false},
		{"deep down", Everything{Children: []Everything{{Flag: true}}}, Everything{Children: []Everything{{}}}, false},
		{"raw JSON", Everything{Raw: meta.FieldsV1{Raw: []byte(`{}`)}}, Everything{}, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			typ := compileFor[Everything]("v1")
			assert.Equal(t, row.want, typ.Equal(&row.a, &row.b))
			assert.Equal(t, row.want, typ.Equal(&row.b, &row.a))
			assert.True(t, typ.Equal(&row.a, typ.Copy(&row.a)))
		})
	}
}
