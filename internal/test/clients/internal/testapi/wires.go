package testapi

import (
	"testing"
	"testing/synctest"

	"k8s.io/client-go/kubernetes"

	"github.com/kubecoord/kubecoord/store"
)

// EachWire runs a test over each connection of a typed client: protobuf and JSON
// in memory, inside a bubble, and protobuf over a socket. The test must not wait
// for time to pass.
func EachWire(t *testing.T, test func(t *testing.T, api *API, cs kubernetes.Interface)) {
	t.Run("protobuf in memory", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			api := New(t, store.Options{})
			test(t, api, api.Client(t))
		})
	})
	t.Run("JSON in memory", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			api := New(t, store.Options{})
			test(t, api, api.JSONClient(t))
		})
	})
	t.Run("protobuf over a socket", func(t *testing.T) {
		api := Listen(t, store.Options{})
		test(t, api, api.Client(t))
	})
}
