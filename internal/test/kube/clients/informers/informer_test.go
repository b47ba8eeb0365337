package informers

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/store"
)

func TestInformerStartsWithAListOrAStream(t *testing.T) {
	eachProtocol(t, store.Options{}, func(t *testing.T, f *fixture) {
		f.createLease(t, "a")
		f.Link.Requests()
		f.start(t)
		starts, resumes := f.leaseRequests()
		require.Len(t, starts, 1)
		q := starts[0].Query
		if f.watchList {
			assert.Equal(t, "true", q.Get("sendInitialEvents"))
			assert.Empty(t, resumes, "the stream continues as the watch")
		} else {
			assert.Equal(t, "500", q.Get("limit"))
			assert.Equal(t, "0", q.Get("resourceVersion"))
			assert.Len(t, resumes, 1)
		}
		assert.Equal(t, 2, f.Store.Watchers())
	})
}
