package lifetime

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecoord/kubecoord/internal/test/clients/internal/testapi"
	"github.com/kubecoord/kubecoord/store"
)

const leasesPath = "http://kubecoord/apis/coordination.k8s.io/v1/namespaces/" + testapi.Namespace + "/leases"

// bulk fills a store with more than the buffers of an unread answer hold.
func bulk(t *testing.T, api *testapi.API) {
	t.Helper()
	for i := range 40 {
		l := testapi.LeaseNumber(i)
		l.Annotations = map[string]string{"a": strings.Repeat("x", 100<<10)}
		_, err := leases(t, api).Create(t.Context(), l, metav1.CreateOptions{})
		require.NoError(t, err)
	}
}

func TestUnreadAnswersEndWhenTheirBodyIsClosed(t *testing.T) {
	for _, query := range []string{"", "?watch=1"} {
		t.Run(query, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				api := testapi.New(t, store.Options{})
				bulk(t, api)
				client := &http.Client{Transport: api.Server.Transport()}
				resp, err := client.Get(leasesPath + query)
				require.NoError(t, err)
				_, err = io.ReadFull(resp.Body, make([]byte, 1000))
				require.NoError(t, err)
				synctest.Wait()
				require.NoError(t, resp.Body.Close())
				api.Server.Close() // waits for the request
				assert.Zero(t, api.Store.Watchers())
			})
		})
	}
}

func TestUnreadAnswersEndWithTheirContext(t *testing.T) {
	for _, query := range []string{"", "?watch=1"} {
		t.Run(query, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				api := testapi.New(t, store.Options{})
				bulk(t, api)
				ctx, cancel := context.WithCancel(t.Context())
				req, err := http.NewRequestWithContext(ctx, http.MethodGet, leasesPath+query, nil)
				require.NoError(t, err)
				resp, err := api.Server.Transport().RoundTrip(req)
				require.NoError(t, err)
				synctest.Wait()
				cancel()
				synctest.Wait()
				assert.Zero(t, api.Store.Watchers())
				_, err = io.Copy(io.Discard, resp.Body)
				assert.ErrorIs(t, err, context.Canceled)
				api.Server.Close()
			})
		})
	}
}

func TestUnreadAnswersDoNotDelayClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := testapi.New(t, store.Options{})
		bulk(t, api)
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, leasesPath+"?watch=1", nil)
		require.NoError(t, err)
		resp, err := api.Server.Transport().RoundTrip(req)
		require.NoError(t, err)
		defer resp.Body.Close()
		synctest.Wait()
		closed := make(chan struct{})
		go func() {
			api.Server.Close()
			close(closed)
		}()
		synctest.Wait()
		select {
		case <-closed:
		default:
			assert.Fail(t, "Close must not wait for a watcher that does not read")
		}
	})
}

// upload starts a POST with a body that the test writes in pieces.
func upload(t *testing.T, ctx context.Context, api *testapi.API) (send *io.PipeWriter, ended <-chan *http.Response) {
	t.Helper()
	body, send := io.Pipe()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, leasesPath, body)
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	done := make(chan *http.Response, 1)
	go func() {
		resp, _ := api.Server.Transport().RoundTrip(req)
		done <- resp
	}()
	return send, done
}

func TestBodyOfUnknownLengthIsReadToItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		send, ended := upload(t, t.Context(), testapi.New(t, store.Options{}))
		_, err := io.WriteString(send, `{"metadata":`)
		require.NoError(t, err)
		synctest.Wait()
		_, err = io.WriteString(send, `{"name":"a"}}`)
		require.NoError(t, err)
		require.NoError(t, send.Close())
		resp := <-ended
		require.NotNil(t, resp)
		defer resp.Body.Close()
		answer, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		assert.Equal(t, http.StatusCreated, resp.StatusCode, "%s", answer)
	})
}

func TestContextEndsARequestDuringItsBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		send, ended := upload(t, ctx, testapi.New(t, store.Options{}))
		defer send.Close()
		_, err := io.WriteString(send, `{"metadata":`)
		require.NoError(t, err)
		synctest.Wait()
		cancel()
		assert.Nil(t, <-ended)
		synctest.Wait()
		writes := make(chan error, 1)
		go func() {
			_, err := io.WriteString(send, `{"name":"a"}}`)
			writes <- err
		}()
		synctest.Wait()
		select {
		case err := <-writes:
			assert.ErrorIs(t, err, io.ErrClosedPipe)
		default:
			assert.Fail(t, "the server still waits for the body")
		}
	})
}
