package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
)

// namespace is where the objects are created.
const namespace = "printers"

// server is a kube-apiserver.
type server struct {
	address   string
	resources []resource
}

// resource is a resource of the discovery whose kind is one of client-go's scheme.
type resource struct {
	schema.GroupVersionKind
	path       string // of the group version
	name       string // plural, or plural/subresource
	namespaced bool
	verbs      []string
}

// collection returns the path of the objects.
func (r resource) collection() string {
	if r.namespaced {
		return path.Join(r.path, "namespaces", namespace, r.name)
	}
	return path.Join(r.path, r.name)
}

const (
	acceptJSON  = "application/json"
	acceptTable = "application/json;as=Table;v=v1;g=meta.k8s.io"
)

// do sends a request and decodes the answer into out. It returns the status code.
func (s *server) do(method, path, accept string, body, out any) (int, error) {
	var data []byte
	if body != nil {
		var err error
		if data, err = json.Marshal(body); err != nil {
			return 0, err
		}
	}
	req, err := http.NewRequest(method, s.address+path, bytes.NewReader(data))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Accept", accept)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err
	}
	if resp.StatusCode >= 300 {
		return resp.StatusCode, fmt.Errorf("%s %s: %s", method, path, answer)
	}
	if out == nil {
		return resp.StatusCode, nil
	}
	return resp.StatusCode, json.Unmarshal(answer, out)
}

// discover fills s.resources.
func (s *server) discover() error {
	var groups metav1.APIGroupList
	if _, err := s.do("GET", "/apis", acceptJSON, nil, &groups); err != nil {
		return err
	}
	paths := []string{"/api/v1"}
	for _, g := range groups.Groups {
		for _, v := range g.Versions {
			paths = append(paths, "/apis/"+v.GroupVersion)
		}
	}
	for _, p := range paths {
		var list metav1.APIResourceList
		if _, err := s.do("GET", p, acceptJSON, nil, &list); err != nil {
			return err
		}
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return err
		}
		for _, r := range list.APIResources {
			gvk := gv.WithKind(r.Kind)
			if r.Version != "" {
				gvk.Group, gvk.Version = r.Group, r.Version
			}
			if clientgoscheme.Scheme.Recognizes(gvk) || gvk.Group == "apiregistration.k8s.io" {
				s.resources = append(s.resources, resource{gvk, p, r.Name, r.Namespaced, r.Verbs})
			}
		}
	}
	return nil
}
