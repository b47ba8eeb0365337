// Command discovery records what a kube-apiserver serves: its discovery documents, the index of its OpenAPI v3 documents, the
// columns of the table of each resource, and the fields that each resource can be selected by. It writes them to testdata/discovery:
//
//	go run ./discovery -url http://127.0.0.1:8097
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
	table      = "application/json;as=Table;g=meta.k8s.io;v=v1"
)

func main() {
	server := flag.String("url", "", "URL of a kube-apiserver that asks for no credentials")
	dir := flag.String("dir", "testdata/discovery", "folder to write to")
	flag.Parse()
	if err := record(recorder{*server, *dir}); err != nil {
		log.Fatal(err)
	}
}

func record(r recorder) error {
	for file, path := range map[string]string{"api.json": "/api", "apis.json": "/apis"} {
		doc, err := r.get(path, aggregated)
		if err != nil {
			return err
		}
		if err := r.write(file, doc); err != nil {
			return err
		}
	}
	index, err := r.get("/openapi/v3", "application/json")
	if err != nil {
		return err
	}
	if err := r.write("openapi-v3.json", index); err != nil {
		return err
	}
	legacy, err := r.legacy()
	if err != nil {
		return err
	}
	if err := r.write("legacy.json.gz", legacy); err != nil {
		return err
	}
	columns, err := r.columns(legacy)
	if err != nil {
		return err
	}
	if err := r.write("columns.json", columns); err != nil {
		return err
	}
	selectors, err := r.selectors(legacy)
	if err != nil {
		return err
	}
	return r.write("selectors.json", selectors)
}

// recorder reads from a server and writes into a folder.
type recorder struct{ server, dir string }

func (r recorder) get(path, accept string) (json.RawMessage, error) {
	req, err := http.NewRequest(http.MethodGet, r.server+path, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", accept)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("GET %s: %s: %s", path, resp.Status, body)
	}
	return body, err
}

// write writes the JSON of a value, with one member on a line, or compact and compressed if the file ends in .gz.
func (r recorder) write(file string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if strings.HasSuffix(file, ".gz") {
		z := gzip.NewWriter(&out)
		_, err = z.Write(data)
		if cerr := z.Close(); err == nil {
			err = cerr
		}
	} else {
		err = json.Indent(&out, data, "", " ")
		out.WriteByte('\n')
	}
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.dir, file), out.Bytes(), 0o644)
}

// legacy returns the documents of discovery without aggregation by their paths.
func (r recorder) legacy() (map[string]json.RawMessage, error) {
	docs := map[string]json.RawMessage{}
	paths := []string{"/api", "/apis", "/api/v1"}
	for i := 0; i < len(paths); i++ {
		doc, err := r.get(paths[i], "application/json")
		if err != nil {
			return nil, err
		}
		docs[paths[i]] = doc
		var list struct {
			Groups []struct {
				Name     string
				Versions []struct{ GroupVersion string }
			}
		}
		if err := json.Unmarshal(doc, &list); err != nil {
			return nil, err
		}
		for _, g := range list.Groups {
			paths = append(paths, "/apis/"+g.Name)
			for _, v := range g.Versions {
				paths = append(paths, "/apis/"+v.GroupVersion)
			}
		}
	}
	return docs, nil
}

// listable returns the paths of all lists.
func listable(legacy map[string]json.RawMessage) (paths []string, err error) {
	for path, doc := range legacy {
		var list struct {
			Resources []struct {
				Name  string
				Verbs []string
			}
		}
		if err := json.Unmarshal(doc, &list); err != nil {
			return nil, err
		}
		for _, resource := range list.Resources {
			if slices.Contains(resource.Verbs, "list") {
				paths = append(paths, path+"/"+resource.Name)
			}
		}
	}
	return paths, nil
}

// columns returns the column definitions of each resource that can be listed, by the path of its list.
func (r recorder) columns(legacy map[string]json.RawMessage) (map[string]json.RawMessage, error) {
	out := map[string]json.RawMessage{}
	paths, err := listable(legacy)
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		doc, err := r.get(path+"?limit=1", table)
		if err != nil {
			return nil, err
		}
		var t struct{ ColumnDefinitions json.RawMessage }
		if err := json.Unmarshal(doc, &t); err != nil {
			return nil, err
		}
		out[path] = t.ColumnDefinitions
	}
	return out, nil
}
