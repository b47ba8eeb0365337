package serve

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The times are those of upstream (apiserver, server/secure_serving.go). A watch may last.
func TestTimeoutsOfTheServer(t *testing.T) {
	s, err := Listen(Options{})
	require.NoError(t, err)
	defer s.Close()
	srv := s.server(http.NotFoundHandler())
	assert.Equal(t, 32*time.Second, srv.ReadHeaderTimeout)
	assert.Equal(t, 90*time.Second, srv.IdleTimeout)
	assert.Zero(t, srv.WriteTimeout)
	assert.Zero(t, srv.ReadTimeout)
	assert.NotNil(t, srv.ErrorLog)
	assert.NotNil(t, srv.ConnContext)
}

func TestServeCallsEndOnce(t *testing.T) {
	s, err := Listen(Options{})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	ends := 0
	require.NoError(t, s.Serve(ctx, http.NotFoundHandler(), func() { ends++ }))
	assert.Equal(t, 1, ends)
}
