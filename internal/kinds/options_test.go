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
		opts kinds.WriteOptions
		want string
	}{
		"none":                        {kinds.WriteOptions{}, ""},
		"all that is allowed":         {kinds.WriteOptions{DryRun: []string{"All", "All"}, FieldManager: long[:128], FieldValidation: "Strict"}, ""},
		"validation Ignore":           {kinds.WriteOptions{FieldValidation: "Ignore"}, ""},
		"validation Warn":             {kinds.WriteOptions{FieldValidation: "Warn"}, ""},
		"another dryRun":              {kinds.WriteOptions{DryRun: []string{"Foo"}}, `dryRun: Unsupported value: ["Foo"]: supported values: "All"`},
		"an empty dryRun":             {kinds.WriteOptions{DryRun: []string{""}}, `dryRun: Unsupported value: [""]: supported values: "All"`},
		"one dryRun too many":         {kinds.WriteOptions{DryRun: []string{"All", "Foo"}}, `dryRun: Unsupported value: ["All","Foo"]: supported values: "All"`},
		"a long fieldManager":         {kinds.WriteOptions{FieldManager: long}, "fieldManager: Too long: may not be more than 128 bytes"},
		"an unprintable fieldManager": {kinds.WriteOptions{FieldManager: "a\ab"}, `fieldManager: Invalid value: "a\ab": invalid character U+0007 (at position 1)`},
		"another fieldValidation":     {kinds.WriteOptions{FieldValidation: "Foo"}, `fieldValidation: Unsupported value: "Foo": supported values: "", "Ignore", "Strict", "Warn"`},
		"two at once": {kinds.WriteOptions{FieldManager: long, FieldValidation: "Foo"},
			`[fieldManager: Too long: may not be more than 128 bytes, fieldValidation: Unsupported value: "Foo": supported values: "", "Ignore", "Strict", "Warn"]`},
	} {
		t.Run(name, func(t *testing.T) {
			create, update := kinds.ValidateWriteOptions(row.opts, "CreateOptions"), kinds.ValidateWriteOptions(row.opts, "UpdateOptions")
			patch := kinds.ValidatePatchOptions(row.opts, false, nil)
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
	var opts kinds.WriteOptions
	assertStatus(t, kinds.ValidatePatchOptions(opts, false, new(false)), 422, store.ErrInvalid, invalid+"force: Forbidden: may not be specified for non-apply patch")
	assertStatus(t, kinds.ValidatePatchOptions(opts, true, new(false)), 422, store.ErrInvalid, invalid+"fieldManager: Required value: is required for apply patch")
	opts.FieldManager = "m"
	assert.NoError(t, kinds.ValidatePatchOptions(opts, true, new(false)))
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
