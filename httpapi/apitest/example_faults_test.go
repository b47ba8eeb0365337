package apitest_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/fixture"
)

// A create is carried out, but its answer is lost. The client tries again and gets a
// conflict.
func ExampleCutAfter() {
	t, end := exampleTest()
	defer end()
	api := apitest.New(t)
	api.Fault(apitest.CutAfter().First(1), apitest.Match{Verb: "create"})
	client := &http.Client{Transport: api.Transport()}
	post(client, api.Host()+path, `{"metadata":{"name":"a"}}`)
	post(client, api.Host()+path, `{"metadata":{"name":"a"}}`)
	for _, r := range api.Requests() {
		fmt.Println(r)
	}
	// Output:
	// create leases default/a cut
	// create leases default/a 409
}

// A server that is overloaded asks for patience twice, and then does not answer at all.
func ExampleEffect_Then() {
	t, end := exampleTest()
	defer end()
	api := apitest.New(t)
	api.Fault(apitest.Answer(429).First(2).Then(apitest.Hang()), apitest.Match{Client: "worker"})
	client := &http.Client{Transport: api.TransportFor("worker"), Timeout: 10 * time.Millisecond}
	for range 2 {
		fmt.Println(post(client, api.Host()+path, `{"metadata":{"name":"a"}}`))
	}
	_, err := client.Get(api.Host() + path)
	fmt.Println(err != nil)
	// Output:
	// 429 Too Many Requests
	// 429 Too Many Requests
	// true
}

// A worker is killed between its second write and the answer. A new one starts.
func ExampleCrashAfter() {
	t, end := exampleTest()
	defer end()
	api := apitest.New(t)
	ctx, kill := context.WithCancel(context.Background())
	f := api.Fault(apitest.CrashAfter(kill).Nth(2), apitest.Match{Verb: "create", Client: "worker"})
	client := &http.Client{Transport: api.TransportFor("worker")}
	for _, name := range []string{"a", "b", "c"} {
		post(client, api.Host()+path, `{"metadata":{"name":"`+name+`"}}`)
	}
	fmt.Println(ctx.Err())
	f.Remove()
	post(client, api.Host()+path, `{"metadata":{"name":"b"}}`)
	for _, r := range api.Requests() {
		fmt.Println(r)
	}
	// Output:
	// context canceled
	// create leases default/a 201
	// create leases default/b cut
	// create leases default/c cut
	// create leases default/b 409
}

// The same before the write.
func ExampleCrashBefore() {
	t, end := exampleTest()
	defer end()
	api := apitest.New(t)
	f := api.Fault(apitest.CrashBefore(func() { fmt.Println("killed") }))
	client := &http.Client{Transport: api.TransportFor("worker")}
	post(client, api.Host()+path, `{"metadata":{"name":"a"}}`)
	f.Remove()
	fmt.Println(post(client, api.Host()+path, `{"metadata":{"name":"a"}}`))
	// Output:
	// killed
	// 201 Created
}

// The server commits a create, and its answer is a timeout.
func ExampleAnswerAfter() {
	t, end := exampleTest()
	defer end()
	api := apitest.New(t)
	api.Fault(apitest.AnswerAfter(504).Nth(1), apitest.Match{Verb: "create"})
	client := &http.Client{Transport: api.Transport()}
	for range 2 {
		fmt.Println(post(client, api.Host()+path, `{"metadata":{"name":"a"}}`))
	}
	// Output:
	// 504 Gateway Timeout
	// 409 Conflict
}

// One function decides about each request: every second update loses its answer.
func ExampleChoose() {
	t, end := exampleTest()
	defer end()
	api := apitest.New(t)
	var n atomic.Int64
	api.Fault(apitest.Choose(func(r apitest.Request) apitest.Effect {
		if r.Verb == "create" && n.Add(1)%2 == 0 {
			return apitest.CutAfter()
		}
		return apitest.Effect{}
	}))
	client := &http.Client{Transport: api.Transport()}
	for _, name := range []string{"a", "b", "c"} {
		post(client, api.Host()+path, `{"metadata":{"name":"`+name+`"}}`)
	}
	for _, r := range api.Requests() {
		fmt.Println(r)
	}
	// Output:
	// create leases default/a 201
	// create leases default/b cut
	// create leases default/c 201
}

// The fault names a client that sends nothing: the test would show nothing, and fails.
func ExampleFault_MustHit() {
	t, end := exampleTest()
	api := apitest.New(t)
	api.Fault(apitest.CutBefore(), apitest.Match{Client: "wroker"}).MustHit()
	client := &http.Client{Transport: api.TransportFor("worker")}
	fmt.Println(post(client, api.Host()+path, `{"metadata":{"name":"a"}}`))
	end()
	// Output:
	// 201 Created
	// apitest: the fault hit none of 0 requests that matched: any * client=wroker: cut before
}

// A watch ends in the middle of its second event.
func ExampleCutWatch() {
	t, end := exampleTest()
	defer end()
	api := apitest.New(t)
	api.Fault(apitest.CutWatch(1), apitest.Match{Verb: "watch"})
	client := &http.Client{Transport: api.Transport()}
	resp, err := client.Get(api.Host() + path + "?watch=true")
	if err != nil {
		t.Errorf("watch: %v", err)
		return
	}
	defer resp.Body.Close()
	post(client, api.Host()+path, `{"metadata":{"name":"a"}}`)
	post(client, api.Host()+path, `{"metadata":{"name":"b"}}`)
	for lines := bufio.NewReader(resp.Body); err == nil; {
		var line string
		line, err = lines.ReadString('\n')
		fmt.Println(strings.HasPrefix(line, `{"type":"ADDED"`), err)
	}
	// Output:
	// true <nil>
	// true unexpected EOF
}

// A watch misses that a Lease was taken and given back: it sees only the last state.
func ExampleHideEvents() {
	t, end := exampleTest()
	defer end()
	api := apitest.New(t)
	client := &http.Client{Transport: api.Transport()}
	post(client, api.Host()+path, `{"metadata":{"name":"a"}}`)
	resp, err := client.Get(api.Host() + path + "?watch=true&resourceVersion=1001")
	if err != nil {
		t.Errorf("watch: %v", err)
		return
	}
	defer resp.Body.Close()
	hidden := api.Fault(apitest.HideEvents("default", "a"), apitest.Match{Resource: "leases"})
	for _, holder := range []string{"me", ""} {
		lease.In(api.Store()).Modify(context.Background(), "default", "a", func(l *lease.Lease) error {
			l.Spec.HolderIdentity = &holder
			return nil
		}, store.UpdateOptions{})
	}
	hidden.Remove()
	line, err := bufio.NewReader(resp.Body).ReadString('\n')
	fmt.Println(strings.HasPrefix(line, `{"type":"MODIFIED"`), strings.Contains(line, `"resourceVersion":"1003"`), err)
	// Output: true true <nil>
}

// An adversary makes trouble for every client. The seed repeats it.
func ExampleAdversary() {
	t, end := exampleTest()
	defer end()
	api := apitest.New(t)
	adversary := api.Fault(apitest.Adversary(apitest.AdversaryOptions{Seed: 42, Percent: 30, MaxDelay: time.Millisecond}))
	client := &http.Client{Transport: api.Transport()}
	created := 0
	for i := range 20 {
		if post(client, api.Host()+path, fmt.Sprintf(`{"metadata":{"name":"l%d"}}`, i)) == "201 Created" {
			created++
		}
	}
	fmt.Println(adversary, "hit", adversary.Hits(), "of", adversary.Matches(), "requests:", created, "creates were answered")
	adversary.Remove()
	fmt.Println(len(api.Faults()), "faults left")
	// Output:
	// any *: adversary, 30%, seed 42 hit 7 of 20 requests: 16 creates were answered
	// 0 faults left
}

// A fixture in, and the state at the end out.
func ExampleAPI_Dump() {
	t, end := exampleTest()
	defer end()
	api := apitest.New(t, apitest.Options{Fixtures: []fixture.Source{fixture.Stream("lease.yaml", strings.NewReader(`
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: {name: a, namespace: default}
`))}})
	client := &http.Client{Transport: api.Transport()}
	post(client, api.Host()+path, `{"metadata":{"name":"b"}}`)
	fmt.Print(api.Dump(fixture.DumpOptions{OmitServerFields: true}))
	// Output:
	// apiVersion: v1
	// items:
	// - apiVersion: coordination.k8s.io/v1
	//   kind: Lease
	//   metadata:
	//     name: a
	//     namespace: default
	//   spec: {}
	// - apiVersion: coordination.k8s.io/v1
	//   kind: Lease
	//   metadata:
	//     name: b
	//     namespace: default
	//   spec: {}
	// kind: List
	// metadata:
	//   resourceVersion: ""
}

// The state at the end is compared with a file, which a test with the flag -update writes.
func ExampleAPI_Golden() {
	t, end := exampleTest()
	defer end()
	api := apitest.New(t)
	client := &http.Client{Transport: api.Transport()}
	post(client, api.Host()+path, `{"metadata":{"name":"b"},"spec":{"holderIdentity":"you"}}`)
	api.Golden("testdata/golden.yaml", fixture.DumpOptions{Namespaces: []string{"default"}, Form: fixture.FormStream})
	// Output:
	// the state differs from testdata/golden.yaml; a test with the flag -update writes it: see Golden:
	//     name: b
	//     namespace: default
	//   spec:
	// -   holderIdentity: me
	// +   holderIdentity: you
}

// A client that verifies certificates trusts CA.
func ExampleAPI_CA() {
	t, end := exampleTest()
	defer end()
	api := apitest.New(t, apitest.Options{TLS: true})
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(api.CA())
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted}}}
	defer client.CloseIdleConnections()
	resp, err := client.Get(api.URL() + path)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	fmt.Println(strings.HasPrefix(api.URL(), "https://127.0.0.1:"), resp.Status)
	// Output: true 200 OK
}

// The API is one part of a larger handler.
func ExampleAPI_Handler() {
	t, end := exampleTest()
	defer end()
	api := apitest.New(t)
	mux := http.NewServeMux()
	mux.Handle("/apis/coordination.k8s.io/", api.Handler())
	mux.HandleFunc("/hello", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello") })
	for _, target := range []string{path, "/hello"} {
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, httptest.NewRequest("GET", target, nil))
		fmt.Println(w.Code, w.Header().Get("Content-Type"))
	}
	// Output:
	// 200 application/json
	// 200 text/plain; charset=utf-8
}

// A test counts some of the requests, which come in any order, until the server goes down.
func ExampleAPI_ForgetRequests() {
	t, end := exampleTest()
	defer end()
	api := apitest.New(t)
	client := &http.Client{Transport: api.Transport()}
	post(client, api.Host()+path, `{"metadata":{"name":"a"}}`)
	api.ForgetRequests()
	var all sync.WaitGroup
	for _, name := range []string{"b", "c"} {
		all.Go(func() { post(client, api.Host()+path, `{"metadata":{"name":"`+name+`"}}`) })
	}
	all.Wait()
	client.Get(api.Host() + path)
	var creates apitest.Requests = api.Requests().Where(apitest.Match{Verb: "create"}.Matches)
	fmt.Println(len(creates))
	api.Close()
	_, err := client.Get(api.Host() + path)
	fmt.Println("after Close:", err != nil)
	// Output:
	// 2
	// after Close: true
}
