package field_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubecoord/kubecoord/store/field"
	"github.com/kubecoord/kubecoord/store/meta"
)

type named string

func TestTextOfAnError(t *testing.T) {
	const p = field.Path("spec.x")
	for name, row := range map[string]struct {
		err    *field.Error
		reason field.ErrorType
		want   string
	}{
		"required":                   {field.Required(p, ""), "FieldValueRequired", "spec.x: Required value"},
		"required with a detail":     {field.Required(p, "must not be empty"), "FieldValueRequired", "spec.x: Required value: must not be empty"},
		"invalid":                    {field.Invalid(p, "v", "is bad"), "FieldValueInvalid", `spec.x: Invalid value: "v": is bad`},
		"invalid without a detail":   {field.Invalid(p, "v", ""), "FieldValueInvalid", `spec.x: Invalid value: "v"`},
		"not supported":              {field.NotSupported(p, "v", "b", "a"), "FieldValueNotSupported", `spec.x: Unsupported value: "v": supported values: "b", "a"`},
		"not supported with no list": {field.NotSupported[string](p, "v"), "FieldValueNotSupported", `spec.x: Unsupported value: "v"`},
		"forbidden":                  {field.Forbidden(p, "not here"), "FieldValueForbidden", "spec.x: Forbidden: not here"},
		"forbidden without a detail": {field.Forbidden(p, ""), "FieldValueForbidden", "spec.x: Forbidden"},
		"too long":                   {field.TooLong(p, 128), "FieldValueTooLong", "spec.x: Too long: may not be more than 128 bytes"},
		"duplicate":                  {field.Duplicate(p, "v"), "FieldValueDuplicate", `spec.x: Duplicate value: "v"`},
	} {
		t.Run(name, func(t *testing.T) {
			assert.EqualError(t, row.err, row.want)
			assert.Equal(t, row.want, "spec.x: "+row.err.Body())
			assert.Equal(t, row.reason, row.err.Type)
		})
	}
}

func TestValuesAreShownAsTheAPIDoes(t *testing.T) {
	for name, row := range map[string]struct {
		value any
		want  string
	}{
		"a string is quoted as in Go":    {"a\ab<", `"a\ab<"`},
		"a named string is JSON":         {named("a<"), `"a\u003c"`},
		"an int64":                       {int64(-5), "-5"},
		"an int32":                       {int32(7), "7"},
		"an int":                         {3, "3"},
		"a bool":                         {true, "true"},
		"nil":                            {nil, "null"},
		"a pointer is what it points to": {new("x"), `"x"`},
		"a nil pointer":                  {(*int64)(nil), "null"},
		"a list":                         {[]string{"a", "\xff"}, `["a","\ufffd"]`},
		"a struct":                       {struct{ A int }{1}, `{"A":1}`},
		"what JSON cannot show is Go's":  {math.Inf(1), "+Inf"},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, "Invalid value: "+row.want, field.Invalid("p", row.value, "").Body())
		})
	}
}

func TestErrorsJoinTheirTexts(t *testing.T) {
	a, b := field.Required("a", ""), field.Forbidden("b", "no")
	for name, row := range map[string]struct {
		errs field.Errors
		want string
	}{
		"one has no brackets":                {field.Errors{a}, "a: Required value"},
		"several have":                       {field.Errors{a, b}, "[a: Required value, b: Forbidden: no]"},
		"equal texts are told once":          {field.Errors{a, b, field.Required("a", ""), b}, "[a: Required value, b: Forbidden: no]"},
		"two equal ones are one":             {field.Errors{a, a}, "a: Required value"},
		"errors keep the order of the check": {field.Errors{b, a}, "[b: Forbidden: no, a: Required value]"},
	} {
		t.Run(name, func(t *testing.T) {
			assert.EqualError(t, row.errs, row.want)
		})
	}
}

func TestStatusHasACauseForEachError(t *testing.T) {
	errs := field.Errors{field.Required("a", ""), field.Invalid("b", int64(1), "why"), field.Required("a", "")}
	err := errs.Status(meta.GroupKind{Group: "g", Kind: "K"}, "n")
	assert.ErrorIs(t, err, meta.ReasonInvalid)
	assert.EqualError(t, err, `K.g "n" is invalid: [a: Required value, b: Invalid value: 1: why]`)
	assert.EqualValues(t, 422, err.Status.Code)
	assert.Equal(t, &meta.StatusDetails{Name: "n", Group: "g", Kind: "K", Causes: []meta.StatusCause{
		{Type: "FieldValueRequired", Message: "Required value", Field: "a"},
		{Type: "FieldValueInvalid", Message: "Invalid value: 1: why", Field: "b"},
		{Type: "FieldValueRequired", Message: "Required value", Field: "a"},
	}}, err.Status.Details, "causes may repeat where the message does not")
}

func TestInvalidEachIsOneErrorADetail(t *testing.T) {
	assert.Nil(t, field.InvalidEach("p", "v", nil))
	assert.EqualError(t, field.InvalidEach("p", "v", []string{"x", "y"}), `[p: Invalid value: "v": x, p: Invalid value: "v": y]`)
}

func TestPath(t *testing.T) {
	assert.EqualValues(t, "a.b[2].c", field.Path("").Child("a").Child("b").Index(2).Child("c"))
	assert.EqualValues(t, "[0]", field.Path("").Index(0))
}
