package store_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
)

// TestVerbsAnswerAsTheCollectionOfAStore in httpapi/client compares patches and applies with
// the same requests over HTTP. Here is what only Go can ask for.

func TestPatchTypeMustBeKnown(t *testing.T) {
	st := newStore(t)
	mustCreate(t, lease.In(st), newLease("ns/a"))
	_, err := lease.In(st).Patch(t.Context(), "ns", "a", "text/plain", []byte(`{}`), store.PatchOptions{})
	assertStatus(t, err, 400, store.ErrBadRequest, `patch type: got "text/plain", want "application/json-patch+json", `+
		`"application/merge-patch+json" or "application/strategic-merge-patch+json"`)
	blobs := newBlobKind().In(st)
	_, err = blobs.Create(t.Context(), newBlob("ns/a", nil), store.CreateOptions{})
	require.NoError(t, err)
	_, err = blobs.Patch(t.Context(), "ns", "a", store.StrategicMergePatch, []byte(`{}`), store.PatchOptions{})
	assertStatus(t, err, 400, store.ErrBadRequest, `patch type: got "application/strategic-merge-patch+json", `+
		`want "application/json-patch+json" or "application/merge-patch+json": objects of any form have no schema to merge by`)
	_, err = lease.In(st).Patch(t.Context(), "ns", "a", store.MergePatch, nil, store.PatchOptions{})
	require.ErrorIs(t, err, store.ErrBadRequest, "a nil patch is no JSON")
	assert.Equal(t, "1002", st.ResourceVersion())
}
