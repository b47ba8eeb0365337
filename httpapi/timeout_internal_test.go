package httpapi

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// Package context panics if a context is done and has no error.
func TestChildOfTheContextOfARequestMayOutliveTheAnswer(t *testing.T) {
	d := &deadline{Context: t.Context(), at: time.Now().Add(time.Hour)}
	child, cancel := context.WithCancel(d)
	defer cancel()
	d.end()
	<-child.Done()
	assert.ErrorIs(t, child.Err(), context.Canceled)
}
