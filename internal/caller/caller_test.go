package caller_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubecoord/kubecoord/internal/caller"
	"github.com/kubecoord/kubecoord/store/admission"
)

func TestContextTellsOfItsCaller(t *testing.T) {
	type key struct{}
	ctx := context.WithValue(t.Context(), key{}, "value")
	assert.Nil(t, caller.Observer(ctx))
	assert.False(t, admission.IsBelow(ctx))

	var seen []caller.Sight
	ctx = caller.WithObserver(admission.Below(ctx), func(s caller.Sight) { seen = append(seen, s) })
	assert.True(t, admission.IsBelow(ctx))
	sight := caller.Sight{Namespace: "ns", Name: "n", Version: 7}
	caller.Observer(ctx)(sight)
	assert.Equal(t, []caller.Sight{sight}, seen)
	assert.Equal(t, "value", ctx.Value(key{}))
}
