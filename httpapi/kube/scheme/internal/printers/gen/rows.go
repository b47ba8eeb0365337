package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// deleted is the annotation of objects that are deleted before their row is recorded. They need a finalizer.
const deleted = "example.com/deleted"

// writes is the annotation that names the subresources that the status is written to, if it is not "status".
const writes = "example.com/writes"

// recording is the content of a file of rows. Package printers' tests read it.
type recording struct {
	// Now is the time of the server in the second in which it printed the rows.
	Now  time.Time
	Rows []row
}

type row struct {
	Object     map[string]any             `json:"object"`
	Cells      []any                      `json:"cells"`
	Conditions []metav1.TableRowCondition `json:"conditions,omitempty"`
}

// recordRows creates the objects of a file and records their rows.
func recordRows(s *server, file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var paths []string
	defer func() {
		for _, p := range paths {
			s.remove(p)
		}
	}()
	documents := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), 4096)
	for {
		var u unstructured.Unstructured
		if err := documents.Decode(&u.Object); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
		if len(u.Object) == 0 {
			continue
		}
		path, err := s.create(&u)
		if err != nil {
			return err
		}
		paths = append(paths, path)
	}
	rec, err := s.rows(paths)
	if err != nil {
		return err
	}
	out := fmt.Appendf(nil, "{\"now\":%q,\"rows\":[\n", rec.Now.Format(time.RFC3339))
	for i, r := range rec.Rows { // each on a line of its own
		line, err := json.Marshal(r)
		if err != nil {
			return err
		}
		if i > 0 {
			out = append(out, ",\n"...)
		}
		out = append(out, line...)
	}
	out = append(out, "\n]}\n"...)
	name := strings.TrimSuffix(filepath.Base(file), ".yaml") + ".json"
	return os.WriteFile(filepath.Join("testdata", "rows", name), out, 0o644)
}

// create creates an object with its status and returns its path.
func (s *server) create(u *unstructured.Unstructured) (string, error) {
	i := slices.IndexFunc(s.resources, func(r resource) bool {
		return r.GroupVersionKind == u.GroupVersionKind() && !strings.Contains(r.name, "/")
	})
	if i < 0 {
		return "", fmt.Errorf("the server does not serve %s", u.GroupVersionKind())
	}
	r := s.resources[i]
	path := r.collection() + "/" + u.GetName()
	s.remove(path) // of an earlier run that failed
	if _, err := s.do("POST", r.collection(), acceptJSON, u, nil); err != nil {
		return "", err
	}
	if status, ok := u.Object["status"]; ok {
		for sub := range strings.SplitSeq(cmp.Or(u.GetAnnotations()[writes], "status"), ",") {
			if err := s.writeStatus(path, sub, status); err != nil {
				return path, err
			}
		}
	}
	if u.GetAnnotations()[deleted] != "" {
		if _, err := s.do("DELETE", path, acceptJSON, nil, nil); err != nil {
			return path, err
		}
	}
	return path, nil
}

// writeStatus writes a status to a subresource, again after a conflict with a controller inside the server.
func (s *server) writeStatus(path, subresource string, status any) error {
	for {
		var stored map[string]any
		if _, err := s.do("GET", path, acceptJSON, nil, &stored); err != nil {
			return err
		}
		stored["status"] = status
		if code, err := s.do("PUT", path+"/"+subresource, acceptJSON, stored, nil); code != http.StatusConflict {
			return err
		}
	}
}

// rows asks for the rows of objects until all answers are from the same second, because kubectl's ages have whole seconds.
func (s *server) rows(paths []string) (*recording, error) {
	for {
		rec := &recording{Now: time.Now().UTC().Truncate(time.Second)}
		for _, path := range paths {
			var table metav1.Table
			if _, err := s.do("GET", path+"?includeObject=Object", acceptTable, nil, &table); err != nil {
				return nil, err
			}
			r := row{Cells: table.Rows[0].Cells, Conditions: table.Rows[0].Conditions}
			if err := json.Unmarshal(table.Rows[0].Object.Raw, &r.Object); err != nil {
				return nil, err
			}
			unstructured.RemoveNestedField(r.Object, "metadata", "managedFields")
			rec.Rows = append(rec.Rows, r)
		}
		if time.Now().UTC().Truncate(time.Second).Equal(rec.Now) {
			return rec, nil
		}
	}
}

// remove deletes an object, whatever its finalizers, if it exists.
func (s *server) remove(path string) {
	var u unstructured.Unstructured
	if code, _ := s.do("GET", path, acceptJSON, nil, &u.Object); code != http.StatusOK {
		return
	}
	if len(u.GetFinalizers()) > 0 {
		u.SetFinalizers(nil)
		s.do("PUT", path, acceptJSON, &u, nil)
	}
	if u.GetKind() == "Namespace" {
		defer func() {
			unstructured.RemoveNestedField(u.Object, "spec", "finalizers")
			u.SetResourceVersion("")
			s.do("PUT", path+"/finalize", acceptJSON, &u, nil)
		}()
	}
	s.do("DELETE", path, acceptJSON, map[string]any{"gracePeriodSeconds": 0}, nil)
}
