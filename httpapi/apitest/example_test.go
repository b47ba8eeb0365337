package apitest_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

// In a test of yours this is its *testing.T. Examples have none, so these run each with one whose end they call.
func exampleTest() (t testing.TB, end func()) {
	e := &ending{TB: exampleTB{}}
	return e, e.end
}

// exampleTB is as much of a test as the examples need.
type exampleTB struct{ testing.TB }

func (exampleTB) Helper()                           {}
func (exampleTB) Name() string                      { return "Example" }
func (exampleTB) TempDir() string                   { return os.TempDir() }
func (exampleTB) Errorf(format string, args ...any) { fmt.Printf(format+"\n", args...) }

const path = "/apis/coordination.k8s.io/v1/namespaces/default/leases"

func post(client *http.Client, url, body string) string {
	resp, err := client.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	io.Copy(io.Discard, resp.Body)
	return resp.Status
}

func ExampleAPI_Transport() {
	t, end := exampleTest()
	defer end()
	api := apitest.New(t)
	client := &http.Client{Transport: api.Transport()}
	fmt.Println(post(client, api.Host()+path, `{"metadata":{"name":"a"}}`))
	// Output: 201 Created
}

func ExampleAPI_URL() {
	t, end := exampleTest()
	defer end()
	api := apitest.New(t)
	resp, err := http.Get(api.URL() + path)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	fmt.Println(resp.Status)
	// Output: 200 OK
}

func ExampleAPI_Store() {
	t, end := exampleTest()
	defer end()
	api := apitest.New(t)
	client := &http.Client{Transport: api.Transport()}
	_, err := lease.In(api.Store()).Create(context.Background(), &lease.Lease{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "a"}}, store.CreateOptions{})
	fmt.Println(err)
	fmt.Println(post(client, api.Host()+path, `{"metadata":{"name":"a"}}`))
	// Output:
	// <nil>
	// 409 Conflict
}

// kubectl and clients in other languages are led to the server by a file.
func ExampleAPI_Kubeconfig() {
	t, end := exampleTest()
	defer end()
	api := apitest.New(t)
	file := api.Kubeconfig() // KUBECONFIG=file kubectl get leases
	defer os.Remove(file)
	data, err := os.ReadFile(file)
	fmt.Println(strings.Contains(string(data), api.URL()), err)
	// Output: true <nil>
}

// It is not run here, for want of a kubectl.
func ExampleAPI_Kubeconfig_kubectl() {
	var t *testing.T // of the test
	api := apitest.New(t)
	cmd := exec.Command("kubectl", "get", "leases")
	cmd.Env = append(os.Environ(), "KUBECONFIG="+api.Kubeconfig())
	out, err := cmd.CombinedOutput()
	fmt.Println(string(out), err)
}

// The first two creates are told that the server is not available.
func ExampleAPI_Fault() {
	t, end := exampleTest()
	defer end()
	api := apitest.New(t)
	f := api.Fault(apitest.Fault{Verb: "create", Resource: "leases", First: 2, Answer: apitest.Unavailable()})
	client := &http.Client{Transport: api.Transport()}
	for range 3 {
		fmt.Println(post(client, api.Host()+path, `{"metadata":{"name":"a"}}`))
	}
	fmt.Println(f.Hits(), "hits of", f)
	// Output:
	// 503 Service Unavailable
	// 503 Service Unavailable
	// 201 Created
	// 2 hits of create leases * first=2: answer 503
}

// One client is cut off while another one is not.
func ExampleAPI_TransportFor() {
	t, end := exampleTest()
	defer end()
	api := apitest.New(t)
	partition := api.Fault(apitest.Fault{Client: "a", Partition: apitest.Refused})
	a, b := &http.Client{Transport: api.TransportFor("a")}, &http.Client{Transport: api.TransportFor("b")}
	fmt.Println(post(a, "http://x"+path, `{"metadata":{"name":"a"}}`))
	fmt.Println(post(b, "http://x"+path, `{"metadata":{"name":"b"}}`))
	partition.Remove()
	fmt.Println(post(a, "http://x"+path, `{"metadata":{"name":"a"}}`))
	// Output:
	// Post "http://x/apis/coordination.k8s.io/v1/namespaces/default/leases": unexpected EOF
	// 201 Created
	// 201 Created
}

// A controller that restarts is led to a replica that has not heard of the last
// write yet: it sees again what it has seen change.
func ExampleStale() {
	t, end := exampleTest()
	defer end()
	api := apitest.New(t)
	leases := lease.In(api.Store())
	leases.Create(context.Background(), &lease.Lease{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "a"}}, store.CreateOptions{})
	count := func(client string) int {
		c := &http.Client{Transport: api.TransportFor(client)}
		resp, err := c.Get("http://x" + path + "?resourceVersion=0") // as informers begin
		if err != nil {
			return -1
		}
		defer resp.Body.Close()
		body, _ := io.ReadAll(resp.Body)
		return strings.Count(string(body), `"name":`)
	}
	lagging := api.Fault(apitest.Fault{Client: "controller", Stale: &apitest.Stale{}})
	leases.Delete(context.Background(), "default", "a", store.DeleteOptions{})
	fmt.Println(count("controller"), count("another"))
	lagging.Remove()
	fmt.Println(count("controller"), lagging.Hits())
	// Output:
	// 1 0
	// 0 1
}

func ExampleRequests_Assert() {
	t, end := exampleTest()
	defer end()
	api := apitest.New(t)
	client := &http.Client{Transport: api.Transport()}
	post(client, api.Host()+path, `{"metadata":{"name":"a"}}`)
	post(client, api.Host()+path, `{"metadata":{"name":"a"}}`)
	api.Requests().Assert(t, "create leases default/a 201", "update leases default/a 200")
	// Output:
	// apitest: requests: got 2, want 2 (- wanted, + got):
	//     create leases default/a 201
	//   - update leases default/a 200
	//   + create leases default/a 409
}

// One fixture, and tests that never see each other's writes. They may run at once.
func ExampleAPI_Fork() {
	t, end := exampleTest()
	defer end()
	fixture := apitest.New(t)
	post(&http.Client{Transport: fixture.Transport()}, fixture.Host()+path, `{"metadata":{"name":"a"}}`)
	for _, name := range []string{"first", "second"} {
		t, end := exampleTest() // of a t.Run
		api := fixture.Fork(t)
		client := &http.Client{Transport: api.Transport()}
		fmt.Println(name, "creates a:", post(client, api.Host()+path, `{"metadata":{"name":"a"}}`))
		fmt.Println(name, "creates b:", post(client, api.Host()+path, `{"metadata":{"name":"b"}}`))
		end()
	}
	fmt.Println("the fixture is at", (*registry.Store)(fixture.Store()).ResourceVersion())
	// Output:
	// first creates a: 409 Conflict
	// first creates b: 201 Created
	// second creates a: 409 Conflict
	// second creates b: 201 Created
	// the fixture is at 1001
}
