package apitest_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
)

// A clock that is moved by hand never ends what waits once the test is over.
func TestCloseEndsReadsThatWaitForTheirVersion(t *testing.T) {
	for name, query := range map[string]string{
		"get":                  "/a?resourceVersion=2000",
		"list":                 "?resourceVersion=2000",
		"exact list":           "?resourceVersion=2000&resourceVersionMatch=Exact",
		"watch":                "?watch=true&resourceVersion=2000&resourceVersionMatch=NotOlderThan&sendInitialEvents=true",
		"true list of replica": "",
	} {
		t.Run(name, func(t *testing.T) {
			c := signalling{clock.NewManual(start), make(chan time.Duration, 100)}
			api, err := apitest.Open(apitest.Options{Store: store.Options{Clock: c}})
			require.NoError(t, err)
			d := doorTo(api)
			if query == "" {
				api.Fault(apitest.Fault{Stale: &apitest.Stale{}})
			}
			d.create(t, "a")
			done := make(chan struct{})
			go func() {
				defer close(done)
				a := d.do(t, "GET", leases+query, "")
				assert.True(t, name == "watch" || a.code != http.StatusOK, "%s", a)
			}()
			for <-c.set != 3*time.Second {
			}
			api.Close()
			<-done
			assert.True(t, api.Requests()[1].Done)
		})
	}
}
