package apitest_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
	"github.com/kubecoord/kubecoord/store/meta"
)

// exampleTest returns a TB in place of the *testing.T of your test. Examples have no
// test, so they call end themselves.
func exampleTest() (t *exampleT, end func()) {
	e := &exampleT{}
	return e, func() {
		for _, f := range e.cleanups {
			f()
		}
	}
}

// exampleT prints failures.
type exampleT struct {
	apitest.TB
	cleanups []func()
}

func (e *exampleT) Helper()                           {}
func (e *exampleT) TempDir() string                   { return os.TempDir() }
func (e *exampleT) Cleanup(f func())                  { e.cleanups = append(e.cleanups, f) }
func (e *exampleT) Logf(string, ...any)               {}
func (e *exampleT) Errorf(format string, args ...any) { fmt.Printf(format+"\n", args...) }

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

// A kubeconfig file points kubectl and clients in other languages to the server.
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

// This example does not run: it needs kubectl.
func ExampleAPI_Kubeconfig_kubectl() {
	var t *testing.T // your test's
	api := apitest.New(t)
	cmd := exec.Command("kubectl", "get", "leases")
	cmd.Env = append(os.Environ(), "KUBECONFIG="+api.Kubeconfig())
	out, err := cmd.CombinedOutput()
	fmt.Println(string(out), err)
}

// The first two creates get 503.
func ExampleAPI_Fault() {
	t, end := exampleTest()
	defer end()
	api := apitest.New(t)
	f := api.Fault(apitest.Answer(503).First(2), apitest.Match{Verb: "create", Resource: "leases"})
	client := &http.Client{Transport: api.Transport()}
	for range 3 {
		fmt.Println(post(client, api.Host()+path, `{"metadata":{"name":"a"}}`))
	}
	fmt.Println(f.Hits(), "hits of", f)
	// Output:
	// 503 Service Unavailable
	// 503 Service Unavailable
	// 201 Created
	// 2 hits of create leases *: answer 503 (first 2)
}

// A partition separates one client from the server.
func ExampleAPI_TransportFor() {
	t, end := exampleTest()
	defer end()
	api := apitest.New(t)
	partition := api.Fault(apitest.Refuse(), apitest.Match{Client: "a"})
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

// A restarted controller reads from a replica that does not have the last write yet: it
// sees an object that was deleted.
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
	lagging := api.Fault(apitest.Stale(apitest.StaleOptions{}), apitest.Match{Client: "controller"})
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

// Two tests fork one fixture. They never see each other's writes.
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
	fmt.Println("the fixture is at", fixture.Store().ResourceVersion())
	// Output:
	// first creates a: 409 Conflict
	// first creates b: 201 Created
	// second creates a: 409 Conflict
	// second creates b: 201 Created
	// the fixture is at 1001
}

// A manual clock works with clients over a socket, which a synctest bubble does not
// allow.
func ExampleAPI_FastForward() {
	t, end := exampleTest()
	defer end()
	api := apitest.New(t, apitest.Options{Store: store.Options{
		Clock: clock.NewManual(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)),
	}})
	resp, err := http.Get(api.URL() + "/apis/coordination.k8s.io/v1/leases?watch=true&resourceVersion=1000&timeoutSeconds=3600")
	if err != nil {
		t.Errorf("%v", err)
	}
	defer resp.Body.Close()
	api.FastForward(time.Hour)
	n, err := resp.Body.Read(make([]byte, 1))
	fmt.Println(n, err, api.Store().Clock().Now().Format(time.DateTime))
	// Output:
	// 0 EOF 2026-01-01 01:00:00
}

// A seed and a manual clock make uids, generated names and times the same in each run,
// so that a test can compare whole answers.
func ExampleOptions_seed() {
	t, end := exampleTest()
	defer end()
	api := apitest.New(t, apitest.Options{Store: store.Options{
		Seed:  42,
		Clock: clock.NewManual(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)),
	}})
	client := http.Client{Transport: api.Transport()}
	post(&client, api.Host()+path, `{"metadata":{"generateName":"worker-"}}`)
	list, err := lease.In(api.Store()).List(context.Background(), store.ListOptions{})
	if err != nil {
		t.Errorf("%v", err)
	}
	l := list.Items[0]
	fmt.Println(l.Name, l.UID, l.CreationTimestamp.UTC().Format(time.RFC3339))
	// Output:
	// worker-hb6p5 e6ed2e98-f774-4a59-bdbf-44412df9b718 2026-01-01T00:00:00Z
}

// A handler in front of the API names the clients that come by a socket.
func ExampleWithClient() {
	t, end := exampleTest()
	defer end()
	api := apitest.New(t)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, _, _ := strings.Cut(r.UserAgent(), "/")
		api.Handler().ServeHTTP(w, r.WithContext(apitest.WithClient(r.Context(), name)))
	}))
	defer front.Close()

	fmt.Println(post(front.Client(), front.URL+path, `{"metadata":{"name":"a"}}`))
	fmt.Println(api.Requests()[0].Client)
	// Output:
	// 201 Created
	// Go-http-client
}
