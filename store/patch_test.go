package store_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

// TestVerbsAnswerAsTheCollectionOfAStore in httpapi/client compares patches and applies with
// the same requests over HTTP. Here is what only Go can ask for.

func TestPatchTypeMustBeKnown(t *testing.T) {
	st := newStore(t)
	mustCreate(t, lease.In(st), newLease("ns/a"))
	_, err := lease.In(st).Patch(t.Context(), "ns", "a", "text/plain", []byte(`{}`), store.PatchOptions{})
	const media = "the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, "
	assertStatus(t, err, 415, meta.ReasonUnsupportedMediaType, media+"application/strategic-merge-patch+json, application/apply-patch+yaml")
	blobs := newBlobKind().In(st)
	_, err = blobs.Create(t.Context(), newBlob("ns/a", nil), store.CreateOptions{})
	require.NoError(t, err)
	_, err = blobs.Patch(t.Context(), "ns", "a", store.StrategicMergePatch, []byte(`{}`), store.PatchOptions{})
	assertStatus(t, err, 415, meta.ReasonUnsupportedMediaType, media+"application/apply-patch+yaml")
	_, err = lease.In(st).Patch(t.Context(), "ns", "a", store.MergePatch, nil, store.PatchOptions{})
	require.ErrorIs(t, err, store.ErrBadRequest, "a nil patch is no JSON")
	assert.Equal(t, "1002", st.ResourceVersion())
}
