package caller_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubecoord/kubecoord/internal/caller"
)

func TestContextTellsOfItsCaller(t *testing.T) {
	type key struct{}
	ctx := context.WithValue(t.Context(), key{}, "value")
	assert.Nil(t, caller.Observer(ctx))
	assert.False(t, caller.IsServer(ctx))

	var seen []caller.Sight
	ctx = caller.WithObserver(caller.WithServer(ctx), func(s caller.Sight) { seen = append(seen, s) })
	assert.True(t, caller.IsServer(ctx))
	sight := caller.Sight{Namespace: "ns", Name: "n", Version: 7}
	caller.Observer(ctx)(sight)
	assert.Equal(t, []caller.Sight{sight}, seen)
	assert.Equal(t, "value", ctx.Value(key{}))
}
