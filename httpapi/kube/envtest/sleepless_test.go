package envtest_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/kubecoord/kubecoord/httpapi/kube/envtest"
)

// An error that client-go reports in a bubble does not wait for the time at which the process has started.
func TestErrorsDoNotSleepInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		env := &envtest.Environment{InProcess: true, TB: t}
		_, err := env.Start()
		require.NoError(t, err)
		start := time.Now()
		for _, handle := range utilruntime.ErrorHandlers {
			handle(t.Context(), errors.New("a test reports this"), "")
		}
		assert.Zero(t, time.Since(start))
		require.NoError(t, env.Stop())
	})
}
