package httpapi_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing/fstest"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/fixture"
)

// The API is an http.Handler, so it goes wherever one goes: into a server of
// its own, or into a mux beside other things.
func ExampleNew() {
	st := store.New(store.Options{})
	defer st.Close()
	api := httpapi.New(st, httpapi.Options{})
	defer api.Close()

	mux := http.NewServeMux()
	mux.Handle("/k8s/", http.StripPrefix("/k8s", api))
	server := httptest.NewServer(mux)
	defer server.Close()

	const path = "/k8s/apis/coordination.k8s.io/v1/namespaces/default/leases"
	resp, err := http.Post(server.URL+path, "application/json", strings.NewReader(`{"metadata":{"name":"hello"},"spec":{"holderIdentity":"me"}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	resp.Body.Close()
	fmt.Println(resp.Status)

	// What came over HTTP is there for Go code too.
	l, err := lease.In(st).Get(context.Background(), "default", "hello")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(*l.Spec.HolderIdentity)
	// Output:
	// 201 Created
	// me
}

// A client in the same process needs no socket.
func ExampleAPI_Transport() {
	st := store.New(store.Options{})
	defer st.Close()
	api := httpapi.New(st, httpapi.Options{})
	defer api.Close()

	client := http.Client{Transport: api.Transport()}
	resp, err := client.Get("http://anything/apis/coordination.k8s.io/v1/namespaces/default/leases/hello")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(string(body))
	// Output:
	// {"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"leases.coordination.k8s.io \"hello\" not found","reason":"NotFound","details":{"name":"hello","group":"coordination.k8s.io","kind":"leases"},"code":404}
}

// The state is loaded before clients come, and dumped as `kubectl get -o yaml`
// would print it, here without what differs from run to run.
func ExampleAPI_Load() {
	files := fstest.MapFS{"leases.yaml": {Data: []byte(`
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: {namespace: default, name: leader}
spec: {holderIdentity: worker-1}
`)}}
	st := store.New(store.Options{})
	defer st.Close()
	api := httpapi.New(st, httpapi.Options{})
	defer api.Close()

	err := api.Load(fixture.FS(files)) // or Dir("testdata"), Txtar, Stream
	if err != nil {
		fmt.Println(err)
		return
	}
	err = api.Dump(os.Stdout, fixture.DumpOptions{OmitServerFields: true})
	if err != nil {
		fmt.Println(err)
	}

	// Output:
	// apiVersion: v1
	// items:
	// - apiVersion: coordination.k8s.io/v1
	//   kind: Lease
	//   metadata:
	//     name: leader
	//     namespace: default
	//   spec:
	//     holderIdentity: worker-1
	// kind: List
	// metadata:
	//   resourceVersion: ""
}
