package httpapi_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing/fstest"
	"time"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/fixture"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// The API is an http.Handler, for a server or for a mux with other handlers.
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

	// Go code sees the same objects.
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

// A server of one's own has no WriteTimeout, which would end watches, and the API sees its connections. Package serve has such a server.
func ExampleConnContext() {
	st := store.New(store.Options{})
	defer st.Close()
	api := httpapi.New(st, httpapi.Options{})
	defer api.Close()
	mux := http.NewServeMux()
	mux.Handle("/", api)
	mux.Handle("/metrics", api.Guard(httpapi.Metrics(api)))
	server := httptest.NewUnstartedServer(mux)
	server.Config.ConnContext, server.Config.ReadHeaderTimeout = httpapi.ConnContext, 32*time.Second
	server.Start()
	defer server.Close()

	for _, path := range []string{"/apis/coordination.k8s.io/v1/leases", "/metrics"} {
		resp, err := http.Get(server.URL + path)
		if err != nil {
			fmt.Println(err)
			return
		}
		defer resp.Body.Close()
		lines := bufio.NewScanner(resp.Body)
		for lines.Scan() {
			if name, count, _ := strings.Cut(lines.Text(), "{"); name == "apiserver_request_total" {
				fmt.Println(count)
			}
		}
	}
	// Output:
	// verb="LIST",dry_run="",group="coordination.k8s.io",version="v1",resource="leases",subresource="",scope="cluster",component="apiserver",code="200"} 1
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

// A program that depends on more than this API says so on the health paths.
func ExampleHealthCheck() {
	st := store.New(store.Options{})
	defer st.Close()
	disk := httpapi.HealthCheck{Name: "disk", ReadyOnly: true, Healthy: func(context.Context) error { return errors.New("full") }}
	api := httpapi.New(st, httpapi.Options{Checks: []httpapi.HealthCheck{disk}})
	defer api.Close()

	for _, path := range []string{"/livez", "/readyz", "/readyz/disk"} {
		answer := httptest.NewRecorder()
		api.ServeHTTP(answer, httptest.NewRequest("GET", path, nil))
		fmt.Println(path, answer.Code)
		fmt.Println(strings.TrimSpace(answer.Body.String()))
	}
	// Output:
	// /livez 200
	// ok
	// /readyz 500
	// [+]ping ok
	// [+]log ok
	// [-]disk failed: reason withheld
	// readyz check failed
	// /readyz/disk 500
	// internal server error: full
}

// Load stores objects from files. Dump writes all objects in the format of `kubectl get
// -o yaml`, here without the fields that the server sets.
func ExampleAPI_Load() {
	ctx := context.Background()
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

	err := api.Load(ctx, fixture.FS(files)) // or Txtar, Stream; os.DirFS is a directory
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

// Users with a token or a client certificate may read; only the group "writers" may
// write.
func ExampleAuthorizer() {
	st := store.New(store.Options{})
	defer st.Close()
	api := httpapi.New(st, httpapi.Options{
		Authenticate: httpapi.AnyOf(
			httpapi.ClientCertificates,
			httpapi.BearerTokens(map[string]httpapi.User{"s3cret": {Name: "alice", Groups: []string{"readers"}}}),
		),
		Authorize: func(a httpapi.Attributes) (bool, string) {
			reads := a.Verb == "get" || a.Verb == "list" || a.Verb == "watch"
			return reads || slices.Contains(a.User.Groups, "writers"), "only writers may write"
		},
		Log: func(e httpapi.LogEntry) { fmt.Println(e.Method, e.Code) },
	})
	defer api.Close()

	client := http.Client{Transport: api.Transport()}
	for _, method := range []string{"GET", "DELETE"} {
		req, err := http.NewRequest(method, "http://api/api/v1/namespaces/default/endpoints", nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		req.Header.Set("Authorization", "Bearer s3cret")
		resp, err := client.Do(req)
		if err != nil {
			fmt.Println(err)
			return
		}
		// Log is called before the body ends, so the lines come in order.
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
	// Output:
	// GET 200
	// DELETE 403
}

// A Middleware can refuse requests with any error of the API, here all writes to one
// namespace.
func ExampleAPI_Fail() {
	st := store.New(store.Options{})
	defer st.Close()
	var api *httpapi.API
	api = httpapi.New(st, httpapi.Options{Middleware: func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if a := httpapi.AttributesOf(r); a.Namespace == "frozen" && r.Method != http.MethodGet {
				api.Fail(w, r, meta.NewTimeout("namespace "+a.Namespace+" is frozen", 60))
				return
			}
			next.ServeHTTP(w, r)
		})
	}})
	defer api.Close()

	client := http.Client{Transport: api.Transport()}
	resp, err := client.Post("http://api/api/v1/namespaces/frozen/endpoints", "application/json", strings.NewReader(`{}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	resp.Body.Close()
	fmt.Println(resp.Status, "Retry-After:", resp.Header.Get("Retry-After"))
	// Output:
	// 504 Gateway Timeout Retry-After: 60
}

// A kind can come and go while the API is in use, as with a CustomResourceDefinition.
func ExampleAPI_AddKinds() {
	newKind := func(defaultSize int64) kind.Kind {
		return store.MustKind(kind.Descriptor[*store.Unstructured]{
			Resource: kind.Resource{Group: "example.com", Kind: "Gadget"},
			Versions: []kind.Version[*store.Unstructured]{{Name: "v1"}},
			Strategy: kind.Strategy[*store.Unstructured]{Default: func(g *store.Unstructured) {
				if g.Content["size"] == nil {
					g.Content = map[string]any{"size": defaultSize}
				}
			}},
		})
	}
	st := store.New(store.Options{})
	defer st.Close()
	api := httpapi.New(st, httpapi.Options{})
	defer api.Close()
	client, ctx := &http.Client{Transport: api.Transport()}, context.Background()
	const path = "http://api/apis/example.com/v1/namespaces/default/gadgets"
	show := func(resp *http.Response, err error) {
		if err != nil {
			fmt.Println(err)
			return
		}
		defer resp.Body.Close()
		fmt.Println(resp.Status)
	}

	small, large := newKind(1), newKind(100)
	show(client.Get(path))
	if err := api.AddKinds(ctx, small); err != nil {
		fmt.Println(err)
	}
	show(client.Post(path, "application/json", strings.NewReader(`{"apiVersion":"example.com/v1","kind":"Gadget","metadata":{"name":"a"}}`)))
	if err := api.ReplaceKind(ctx, small, large); err != nil { // its objects stay
		fmt.Println(err)
	}
	show(client.Get(path + "/a"))
	fmt.Println(len(api.Kinds()), st.Len(large))
	if err := api.RemoveKinds(ctx, httpapi.RemoveOptions{Objects: true}, large); err != nil {
		fmt.Println(err)
	}
	show(client.Get(path + "/a"))
	// Output:
	// 404 Not Found
	// 201 Created
	// 200 OK
	// 4 1
	// 404 Not Found
}

// A controller that belongs to a server runs until the server is closed.
func ExampleAPI_Store() {
	started := make(chan string)
	controller := func(ctx context.Context, api *httpapi.API) {
		started <- "the store has " + strconv.Itoa(api.Store().Len(lease.Kind())) + " Leases"
		<-ctx.Done()
	}
	st := store.New(store.Options{})
	defer st.Close()
	api := httpapi.New(st, httpapi.Options{Parts: []httpapi.Part{httpapi.Controller(controller)}})
	defer api.Close()
	fmt.Println(<-started)
	// Output: the store has 0 Leases
}

// Handlers beside the API have its users.
func ExampleAPI_Guard() {
	st := store.New(store.Options{})
	defer st.Close()
	api := httpapi.New(st, httpapi.Options{Authenticate: httpapi.BearerTokens(map[string]httpapi.User{"secret": {Name: "jane"}})})
	defer api.Close()
	whoami := api.Guard(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintln(w, store.UserOf(r.Context()).Name)
	}))

	for _, token := range []string{"secret", "wrong"} {
		r := httptest.NewRequest("GET", "/whoami", nil)
		r.Header.Set("Authorization", "Bearer "+token)
		answer := httptest.NewRecorder()
		whoami.ServeHTTP(answer, r)
		fmt.Println(answer.Code, strings.SplitN(answer.Body.String(), "\n", 2)[0])
	}
	// Output:
	// 200 jane
	// 401 {"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Unauthorized","reason":"Unauthorized","code":401}
}

// The OpenAPI document of a kind needs no server. It has the paths and the schemas of the kind.
func ExampleOpenAPI() {
	var doc struct {
		OpenAPI    string
		Paths      map[string]any
		Components struct{ Schemas map[string]any }
	}
	if err := json.Unmarshal(httpapi.OpenAPI(lease.Kind(), 0), &doc); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(doc.OpenAPI)
	for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
		if !strings.Contains(path, "/watch/") { // the paths of deprecated watches
			fmt.Println(path)
		}
	}
	fmt.Println(doc.Components.Schemas["io.k8s.api.coordination.v1.Lease"] != nil)
	// Output:
	// 3.0.0
	// /apis/coordination.k8s.io/v1/
	// /apis/coordination.k8s.io/v1/leases
	// /apis/coordination.k8s.io/v1/namespaces/{namespace}/leases
	// /apis/coordination.k8s.io/v1/namespaces/{namespace}/leases/{name}
	// true
}

// A program that must end in time does not wait longer than that for functions of its kinds.
func ExampleAPI_Shutdown() {
	st := store.New(store.Options{})
	defer st.Close()
	api := httpapi.New(st, httpapi.Options{})
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	fmt.Println(api.Shutdown(ctx))
	// Output: <nil>
}
