package httpapi_test

import (
	"context"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store"
)

// slowDeadline is an answer whose deadline takes a second to set.
type slowDeadline struct {
	*httptest.ResponseRecorder
	set bool
}

func (w *slowDeadline) SetWriteDeadline(time.Time) error {
	time.Sleep(time.Second)
	w.set = true
	return nil
}

// net/http takes back the answer of HTTP/2 when its handler ends.
func TestCloseDoesNotUseAnAnswerAfterItsHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := store.New(store.Options{})
		defer st.Close()
		api := httpapi.New(st, httpapi.Options{})
		ctx, cancel := context.WithCancel(t.Context())
		w := &slowDeadline{ResponseRecorder: httptest.NewRecorder()}
		ended := make(chan bool)
		go func() {
			api.ServeHTTP(w, httptest.NewRequestWithContext(ctx, "GET", "/apis/coordination.k8s.io/v1/leases?watch=true", nil))
			ended <- w.set
		}()
		synctest.Wait()
		go api.Close()
		synctest.Wait()
		cancel() // the client goes at the same time
		assert.True(t, <-ended)
	})
}
