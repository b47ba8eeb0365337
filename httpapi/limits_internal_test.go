package httpapi

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"

	"github.com/kubecoord/kubecoord/internal/tally"
	"github.com/kubecoord/kubecoord/store"
)

// The bytes of bodies that arrive slowly are bounded, for one client and for all. Bodies of one
// read, as of a renewal, are served whatever others do.
func TestBytesOfBodiesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := store.New(store.Options{})
		defer st.Close()
		api := New(st, Options{})
		defer api.Close()
		api.limits.bodies = tally.New(300<<10, 200<<10)
		begin := func(address string, n int) (body *io.PipeWriter, ended chan int) {
			r, body := io.Pipe()
			req := httptest.NewRequest("POST", "/apis/coordination.k8s.io/v1/namespaces/default/leases", r)
			req.ContentLength, req.RemoteAddr = maxBody, address
			ended = make(chan int, 1)
			go func() {
				w := httptest.NewRecorder()
				api.ServeHTTP(w, req)
				r.Close()
				ended <- w.Code
			}()
			body.Write(bytes.Repeat([]byte{' '}, n))
			synctest.Wait()
			return body, ended
		}
		waits := func(ended chan int) {
			t.Helper()
			assert.Empty(t, ended)
		}
		refused := func(ended chan int) {
			t.Helper()
			if assert.NotEmpty(t, ended) {
				assert.Equal(t, http.StatusTooManyRequests, <-ended)
			}
		}
		first, firstEnded := begin("10.0.0.1:1", 100<<10)
		waits(firstEnded)
		second, secondEnded := begin("10.0.0.1:2", 100<<10)
		refused(secondEnded)
		other, otherEnded := begin("10.0.0.2:1", 100<<10)
		waits(otherEnded)
		third, thirdEnded := begin("10.0.0.3:1", 100<<10)
		refused(thirdEnded)
		small, smallEnded := begin("10.0.0.3:1", 10<<10)
		waits(smallEnded)
		small.Close()
		synctest.Wait()
		assert.Equal(t, http.StatusInternalServerError, <-smallEnded, "it is shorter than it says")
		first.Close()
		synctest.Wait()
		<-firstEnded
		again, againEnded := begin("10.0.0.1:3", 100<<10)
		waits(againEnded)
		for _, body := range []*io.PipeWriter{again, other, second, third} {
			body.Close()
		}
		synctest.Wait()
		assert.True(t, api.limits.bodies.Take("10.0.0.1", 200<<10), "nothing is counted any more")
	})
}
