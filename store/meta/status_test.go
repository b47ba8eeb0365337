package meta_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/store/meta"
)

var leases = meta.GroupResource{Group: "coordination.k8s.io", Resource: "leases"}

func TestMembersOfAStatusAreInOrder(t *testing.T) {
	full := meta.Status{
		TypeMeta: meta.TypeMeta{Kind: "Status", APIVersion: "v1"},
		ListMeta: meta.ListMeta{Continue: "c"}, Status: "Failure", Message: "m", Reason: "r", Code: 410,
		Details: &meta.StatusDetails{Name: "n", Group: "g", Kind: "k", UID: "u", RetryAfterSeconds: 1,
			Causes: []meta.StatusCause{{Type: "t", Message: "m", Field: "f"}}},
	}
	for name, row := range map[string]struct {
		status meta.Status
		want   string
	}{
		"all of it":     {full, `{"kind":"Status","apiVersion":"v1","metadata":{"continue":"c"},"status":"Failure","message":"m","reason":"r","details":{"name":"n","group":"g","kind":"k","uid":"u","causes":[{"reason":"t","message":"m","field":"f"}],"retryAfterSeconds":1},"code":410}`},
		"nothing":       {meta.Status{}, `{"metadata":{}}`},
		"empty details": {meta.Status{Details: &meta.StatusDetails{}}, `{"metadata":{},"details":{}}`},
		"not found": {meta.NewNotFound(leases, "a").Status,
			`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"leases.coordination.k8s.io \"a\" not found","reason":"NotFound","details":{"name":"a","group":"coordination.k8s.io","kind":"leases"},"code":404}`},
		"timeout": {meta.NewTimeout("late", 7, meta.StatusCause{Message: "why"}).Status,
			`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Timeout: late","reason":"Timeout","details":{"causes":[{"message":"why"}],"retryAfterSeconds":7},"code":504}`},
		"of the core group": {meta.NewNotFound(meta.GroupResource{Resource: "endpoints"}, "a").Status,
			`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"endpoints \"a\" not found","reason":"NotFound","details":{"name":"a","kind":"endpoints"},"code":404}`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := json.Marshal(row.status)
			require.NoError(t, err)
			assert.Equal(t, row.want, string(got))
		})
	}
}

func TestErrorsOfTheAPI(t *testing.T) {
	for name, row := range map[string]struct {
		err    *meta.StatusError
		code   int32
		reason meta.Reason
		text   string
	}{
		"bad request":    {meta.NewBadRequest("no %s", "good"), 400, meta.ReasonBadRequest, "no good"},
		"not found":      {meta.NewNotFound(leases, "a"), 404, meta.ReasonNotFound, `leases.coordination.k8s.io "a" not found`},
		"already exists": {meta.NewAlreadyExists(leases, "a"), 409, meta.ReasonAlreadyExists, `leases.coordination.k8s.io "a" already exists`},
		"conflict":       {meta.NewConflict(leases, "a", "why"), 409, meta.ReasonConflict, `Operation cannot be fulfilled on leases.coordination.k8s.io "a": why`},
		"expired":        {meta.NewExpired("gone"), 410, meta.ReasonExpired, "gone"},
		"timeout":        {meta.NewTimeout("late", 1), 504, meta.ReasonTimeout, "Timeout: late"},
		"internal error": {meta.NewInternalError(errors.New("why")), 500, meta.ReasonInternalError, "Internal error occurred: why"},
	} {
		t.Run(name, func(t *testing.T) {
			wrapped := fmt.Errorf("while: %w", row.err)
			assert.EqualError(t, row.err, row.text)
			assert.Equal(t, row.code, row.err.Status.Code)
			assert.Equal(t, meta.StatusFailure, row.err.Status.Status)
			if strings.Contains(row.text, `"a"`) {
				assert.Equal(t, &meta.StatusDetails{Name: "a", Group: leases.Group, Kind: leases.Resource}, row.err.Status.Details)
			}
			assert.ErrorIs(t, wrapped, row.reason)
			assert.NotErrorIs(t, wrapped, meta.ReasonForbidden)
			assert.NotErrorIs(t, meta.NewStatusError(500, "", nil, ""), context.Canceled)
			assert.Equal(t, &row.err.Status, meta.StatusOf(wrapped))
			found, ok := errors.AsType[*meta.StatusError](wrapped)
			require.True(t, ok)
			assert.Same(t, row.err, found)
		})
	}
}

func TestReasonIsAnError(t *testing.T) {
	assert.EqualError(t, meta.ReasonNotFound, "NotFound")
	assert.NotErrorIs(t, meta.ReasonNotFound, meta.ReasonConflict)
	assert.NotErrorIs(t, meta.NewNotFound(leases, "a"), errors.New("NotFound"), "only a Reason matches")
}

func TestErrorWithoutAStatusIsA500WithoutAReason(t *testing.T) {
	got := meta.StatusOf(errors.New("why"))
	assert.Equal(t, &meta.Status{TypeMeta: meta.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: "Failure", Message: "why", Code: 500}, got)
}
