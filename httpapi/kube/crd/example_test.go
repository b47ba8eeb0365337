package crd_test

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing/fstest"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/kube/crd"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
)

// A directory of definitions, such as config/crd/bases of a controller's repository, is served beside the other kinds.
func Example() {
	kinds, err := crd.Read(os.DirFS("testdata/example"))
	if err != nil {
		fmt.Println(err)
		return
	}
	st := store.New(store.Options{})
	defer st.Close()
	api := httpapi.New(st, httpapi.Options{Kinds: kinds})
	defer api.Close()

	client := http.Client{Transport: api.Transport()}
	body := `{"apiVersion":"example.com/v1","kind":"Backup","metadata":{"name":"nightly"},"spec":{"schedule":""}}`
	resp, err := client.Post("http://server/apis/example.com/v1/namespaces/ns/backups", "application/json", strings.NewReader(body))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	fmt.Println(resp.Status)
	// Output: 422 Unprocessable Entity
}

func ExampleParse() {
	_, err := crd.Parse([]byte("apiVersion: v1\nkind: ConfigMap"))
	fmt.Println(err)
	// Output: crd: document 1: got kind "ConfigMap" of "v1", want CustomResourceDefinition of apiextensions.k8s.io/v1
}

func ExampleRead() {
	_, err := crd.Read(fstest.MapFS{})
	fmt.Println(err)
	// Output: crd: got a directory without definitions, want at least one file .yaml, .yml or .json
}

// A server that takes definitions from its clients, as kubectl apply -f crds/ sends them.
func ExampleRun() {
	st := store.New(store.Options{})
	defer st.Close()
	api := httpapi.New(st, httpapi.Options{
		Kinds: []kind.Kind{crd.Definitions()},
		Parts: []httpapi.Part{httpapi.Controller(crd.Run)},
	})
	defer api.Close()

	client := http.Client{Transport: api.Transport()}
	resp, err := client.Get("http://server/apis/apiextensions.k8s.io/v1/customresourcedefinitions")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	fmt.Println(resp.Status)
	// Output: 200 OK
}
