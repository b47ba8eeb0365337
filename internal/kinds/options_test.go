package kinds_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

func TestWriteOptionsAreChecked(t *testing.T) {
	long := strings.Repeat("m", 129)
	for name, row := range map[string]struct {
		opts kinds.CreateOptions
		want string
	}{
		"none":                        {kinds.CreateOptions{}, ""},
		"all that is allowed":         {kinds.CreateOptions{DryRun: []string{"All", "All"}, FieldManager: long[:128], FieldValidation: "Strict"}, ""},
		"validation Ignore":           {kinds.CreateOptions{FieldValidation: "Ignore"}, ""},
		"validation Warn":             {kinds.CreateOptions{FieldValidation: "Warn"}, ""},
		"another dryRun":              {kinds.CreateOptions{DryRun: []string{"Foo"}}, `dryRun: Unsupported value: ["Foo"]: supported values: "All"`},
		"an empty dryRun":             {kinds.CreateOptions{DryRun: []string{""}}, `dryRun: Unsupported value: [""]: supported values: "All"`},
		"one dryRun too many":         {kinds.CreateOptions{DryRun: []string{"All", "Foo"}}, `dryRun: Unsupported value: ["All","Foo"]: supported values: "All"`},
		"a long fieldManager":         {kinds.CreateOptions{FieldManager: long}, "fieldManager: Too long: may not be more than 128 bytes"},
		"an unprintable fieldManager": {kinds.CreateOptions{FieldManager: "a\ab"}, `fieldManager: Invalid value: "a\ab": invalid character U+0007 (at position 1)`},
		"another fieldValidation":     {kinds.CreateOptions{FieldValidation: "Foo"}, `fieldValidation: Unsupported value: "Foo": supported values: "", "Ignore", "Strict", "Warn"`},
		"two at once": {kinds.CreateOptions{FieldManager: long, FieldValidation: "Foo"},
			`[fieldManager: Too long: may not be more than 128 bytes, fieldValidation: Unsupported value: "Foo": supported values: "", "Ignore", "Strict", "Warn"]`},
	} {
		t.Run(name, func(t *testing.T) {
			create, update := row.opts.Validate(), kinds.UpdateOptions(row.opts).Validate()
			patch := kinds.PatchOptions{CreateOptions: row.opts}.Validate(false)
			if row.want == "" {
				require.NoError(t, create)
				require.NoError(t, update)
				require.NoError(t, patch)
				return
			}
			assertStatus(t, create, 422, store.ErrInvalid, `CreateOptions.meta.k8s.io "" is invalid: `+row.want)
			assertStatus(t, update, 422, store.ErrInvalid, `UpdateOptions.meta.k8s.io "" is invalid: `+row.want)
			assertStatus(t, patch, 422, store.ErrInvalid, `PatchOptions.meta.k8s.io "" is invalid: `+row.want)
		})
	}
}

func TestForceIsForApplyAlone(t *testing.T) {
	const invalid = `PatchOptions.meta.k8s.io "" is invalid: `
	force := kinds.PatchOptions{Force: new(false)}
	assertStatus(t, force.Validate(false), 422, store.ErrInvalid, invalid+"force: Forbidden: may not be specified for non-apply patch")
	assertStatus(t, force.Validate(true), 422, store.ErrInvalid, invalid+"fieldManager: Required value: is required for apply patch")
	force.FieldManager = "m"
	assert.NoError(t, force.Validate(true))
}

// assertStatus demands code, reason and text of an error's Status.
func assertStatus(t testing.TB, err error, code int32, reason meta.Reason, text string) {
	t.Helper()
	var status *meta.StatusError
	if !assert.ErrorAs(t, err, &status) {
		return
	}
	assert.ErrorIs(t, err, reason)
	assert.Equal(t, code, status.Status.Code)
	assert.Equal(t, text, err.Error())
}
