package store_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/endpoints"
	testengine "github.com/kubecoord/kubecoord/internal/test/engine"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
)

func TestOpenReturnsWhenThePresentStateIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := testengine.New(1000)
		first, err := store.Open(t.Context(), store.Options{}, e, lease.Kind())
		require.NoError(t, err)
		defer first.Close()
		createAll(t, lease.In(first), "ns/a")
		e.Set(func(f *testengine.Faults) { f.Hold = true })
		time.AfterFunc(time.Second, func() { e.Set(func(f *testengine.Faults) { f.Hold = false }) })
		second, err := store.Open(t.Context(), store.Options{}, e, lease.Kind())
		require.NoError(t, err)
		defer second.Close()
		assert.Equal(t, 1, second.Len(lease.Kind()))
		assert.Panics(t, func() { endpoints.In(second) }, "it was opened without the kind")
	})
}

// No goroutine of a store that was not opened is left: synctest waits for them.
func TestOpenEndsWhatItBegan(t *testing.T) {
	ended := errors.New("ended")
	for name, tt := range map[string]struct {
		opts   store.Options
		faults testengine.Faults
		want   error
		text   string
	}{
		"the context ends":        {faults: testengine.Faults{Cut: true}, want: context.DeadlineExceeded},
		"Follow ends":             {faults: testengine.Faults{End: ended}, want: ended},
		"an option that must not": {opts: store.Options{Quota: 1}, text: "store: Quota: must not be set"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := testengine.New(1000)
				e.Set(func(f *testengine.Faults) { *f = tt.faults })
				ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
				defer cancel()
				st, err := store.Open(ctx, tt.opts, e, lease.Kind())
				assert.Nil(t, st)
				if tt.want != nil {
					assert.ErrorIs(t, err, tt.want)
				}
				assert.ErrorContains(t, err, tt.text)
			})
		})
	}
}
