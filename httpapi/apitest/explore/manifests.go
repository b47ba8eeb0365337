package explore

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubecoord/kubecoord/internal/yaml"
)

// This file reads steps from manifests.

// Manifests returns the steps that the files of a folder describe, in the order of their numbers: 1-apply-shop.yaml, 2-patch-shop.yaml, 3-delete-shop.yaml,
// 4-wait-shop.yaml. A file has the objects of one step, as YAML or JSON:
//
//   - apply: server-side apply, by the field manager "explore". It waits for the end of an object of that name that is being deleted, and so does create.
//     A file with another word does the same.
//   - create: a create, which fails if there is such an object.
//   - patch: the name of an object and what a merge patch changes.
//   - delete: the names of objects. One that is not there is no error.
//   - wait, assert: members that an object must have within 30 seconds; of a list, items that are in it. Without a name, some object of the kind must have them.
//   - errors: members that no object may have after 30 seconds.
//
// The last two, and objects of kind TestStep with delete, apply, assert and error, are kuttl's. A folder with chainsaw-test.yaml has the steps of that
// test: apply, create, patch, delete, assert and error, with a file or a resource, but no bindings, no scripts and no other operations. An object
// without a namespace is in the namespace default.
func Manifests(dir string) ([]Step, error) {
	if test := filepath.Join(dir, "chainsaw-test.yaml"); isFile(test) {
		return chainsawSteps(test)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var files []manifestFile
	for _, e := range entries {
		if ext := filepath.Ext(e.Name()); e.IsDir() || !slices.Contains([]string{".yaml", ".yml", ".json"}, ext) {
			continue
		}
		f, err := manifestNamed(e.Name())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", dir, err)
		}
		files = append(files, f)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: got no manifest, want files such as 1-apply-shop.yaml", dir)
	}
	slices.SortStableFunc(files, func(a, b manifestFile) int {
		return cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(a.order(), b.order()), cmp.Compare(a.name, b.name))
	})
	var steps []Step
	for _, f := range files {
		acts, err := readActs(dir, f.name, f.verb)
		if err != nil {
			return nil, err
		}
		if len(acts) > 0 { // else kuttl's options
			steps = append(steps, Step{strings.TrimSuffix(f.name, filepath.Ext(f.name)), acts.do})
		}
	}
	return steps, nil
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// manifestFile is the file of a step.
type manifestFile struct {
	name   string
	number int
	verb   string
}

// order puts what is looked at behind what is done.
func (f manifestFile) order() int {
	if f.verb == verbWait || f.verb == verbErrors {
		return 1
	}
	return 0
}

// The verbs of manifests.
const (
	verbApply  = "apply"
	verbCreate = "create"
	verbPatch  = "patch"
	verbDelete = "delete"
	verbWait   = "wait"
	verbErrors = "errors"
)

// verbOf returns the verb of a word, or apply.
func verbOf(word string) string {
	switch word {
	case verbCreate, verbPatch, verbDelete, verbWait, verbErrors:
		return word
	case "assert":
		return verbWait
	case "error":
		return verbErrors
	}
	return verbApply
}

func manifestNamed(name string) (manifestFile, error) {
	m := regexp.MustCompile(`^([0-9]{1,6})-([A-Za-z0-9]+)[^/]*$`).FindStringSubmatch(name)
	if m == nil {
		return manifestFile{}, fmt.Errorf("got the file %s, want a number, what is done and a name, such as 1-apply-shop.yaml", name)
	}
	number, err := strconv.Atoi(m[1])
	return manifestFile{name, number, verbOf(m[2])}, err
}

// act is one thing that a step does with one object.
type act struct {
	verb   string
	file   string
	object map[string]any
}

type acts []act

// do does all.
func (all acts) do(ctx context.Context, c Conn) error {
	for i := range all {
		if err := all[i].do(ctx, c); err != nil {
			return fmt.Errorf("%s: %s %s: %w", all[i].file, all[i].verb, all[i].named(), err)
		}
	}
	return nil
}

// maxManifest is the size of a file beyond which it is not read, in bytes.
const maxManifest = 16 << 20

// readObjects returns the objects of a file.
func readObjects(file string) (all []map[string]any, err error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxManifest+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxManifest {
		return nil, fmt.Errorf("%s: got more than %d bytes", file, maxManifest)
	}
	for d, err := range yaml.Documents(data) {
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if bytes.Equal(d.JSON, []byte("null")) {
			continue
		}
		if err := yaml.StrictError(d.Duplicates); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		o := parse(d.JSON)
		if o == nil {
			return nil, fmt.Errorf("%s: line %d: got no object, want one with apiVersion, kind and metadata", file, d.Line)
		}
		all = append(all, o)
	}
	return all, nil
}

// readActs returns what the objects of a file say that is done.
func readActs(dir, name, verb string) (all acts, err error) {
	objects, err := readObjects(filepath.Join(dir, name))
	if err != nil {
		return nil, err
	}
	for _, o := range objects {
		if version, _ := o["apiVersion"].(string); strings.HasPrefix(version, "kuttl.dev/") {
			more, err := kuttlActs(dir, name, o)
			if err != nil {
				return nil, err
			}
			all = append(all, more...)
			continue
		}
		a := act{verb, name, o}
		if err := a.check(); err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Join(dir, name), err)
		}
		all = append(all, a)
	}
	return all, nil
}

// check returns an error if the object is not named.
func (a *act) check() error {
	kind, _ := a.object["kind"].(string)
	version, _ := a.object["apiVersion"].(string)
	_, name := a.names()
	switch {
	case kind == "" || version == "":
		return fmt.Errorf("got the apiVersion %q and the kind %q, want both", version, kind)
	case name == "" && (a.verb == verbPatch || a.verb == verbDelete || a.verb == verbApply):
		return fmt.Errorf("%s: got no metadata.name, want one to %s it", kind, a.verb)
	}
	return nil
}

// names returns the namespace and the name of the object, as they are given.
func (a *act) names() (namespace, name string) {
	m, _ := a.object["metadata"].(map[string]any)
	namespace, _ = m["namespace"].(string)
	name, _ = m["name"].(string)
	return namespace, name
}

func (a *act) named() string {
	namespace, name := a.names()
	return fmt.Sprint(a.object["kind"], " ", objectName(namespace, name))
}

// kuttlActs returns what an object of kuttl says that is done.
func kuttlActs(dir, name string, o map[string]any) (all acts, err error) {
	if o["kind"] != "TestStep" {
		return nil, nil // time limits and such
	}
	for _, field := range []string{"commands", "script", "kubeconfig"} {
		if o[field] != nil {
			return nil, fmt.Errorf("%s: got a TestStep with %s, want delete, apply, assert and error only", filepath.Join(dir, name), field)
		}
	}
	items := func(field string) []any { list, _ := o[field].([]any); return list }
	for _, item := range items("delete") {
		ref, _ := item.(map[string]any)
		a := act{verbDelete, name, map[string]any{"apiVersion": ref["apiVersion"], "kind": ref["kind"], "metadata": map[string]any{"name": ref["name"], "namespace": ref["namespace"]}}}
		if err := a.check(); err != nil {
			return nil, fmt.Errorf("%s: delete: %w", filepath.Join(dir, name), err)
		}
		all = append(all, a)
	}
	for _, field := range []string{"apply", "assert", "error"} {
		for _, item := range items(field) {
			file, _ := item.(string)
			more, err := readActs(dir, file, verbOf(field))
			if err != nil {
				return nil, err
			}
			all = append(all, more...)
		}
	}
	return all, nil
}

// chainsawSteps returns the steps of a test of chainsaw.
func chainsawSteps(file string) (steps []Step, err error) {
	objects, err := readObjects(file)
	if err != nil {
		return nil, err
	}
	for _, o := range objects {
		spec, _ := o["spec"].(map[string]any)
		list, _ := spec["steps"].([]any)
		for i, item := range list {
			s, _ := item.(map[string]any)
			name, _ := s["name"].(string)
			step := cmp.Or(name, fmt.Sprint("step ", i+1))
			try, _ := s["try"].([]any)
			var all acts
			for _, operation := range try {
				more, err := chainsawActs(filepath.Dir(file), operation)
				if err != nil {
					return nil, fmt.Errorf("%s: %s: %w", file, step, err)
				}
				all = append(all, more...)
			}
			if len(all) > 0 {
				steps = append(steps, Step{step, all.do})
			}
		}
	}
	if len(steps) == 0 {
		return nil, fmt.Errorf("%s: got no steps, want spec.steps with try", file)
	}
	return steps, nil
}

// chainsawActs returns what one operation says that is done.
func chainsawActs(dir string, operation any) (acts, error) {
	o, _ := operation.(map[string]any)
	for _, word := range []string{"apply", "create", "patch", "delete", "assert", "error"} {
		args, ok := o[word].(map[string]any)
		if !ok {
			continue
		}
		if file, ok := args["file"].(string); ok {
			return readActs(dir, file, verbOf(word))
		}
		object, _ := args["resource"].(map[string]any)
		if ref, ok := args["ref"].(map[string]any); ok {
			object = map[string]any{"apiVersion": ref["apiVersion"], "kind": ref["kind"], "metadata": map[string]any{"name": ref["name"], "namespace": ref["namespace"]}}
		}
		a := act{verbOf(word), "chainsaw-test.yaml", object}
		if err := a.check(); err != nil {
			return nil, fmt.Errorf("%s: %w", word, err)
		}
		return acts{a}, nil
	}
	var words []string
	for word := range o {
		words = append(words, word)
	}
	slices.Sort(words)
	return nil, fmt.Errorf("got %s, want apply, create, patch, delete, assert or error", strings.Join(words, ", "))
}

// waitsFor is how long a step waits for what a manifest says.
const waitsFor = 30 * time.Second

// do does it.
func (a *act) do(ctx context.Context, c Conn) error {
	at, err := a.path(ctx, c)
	if err != nil {
		return err
	}
	_, name := a.names()
	one := at
	if name != "" {
		one += "/" + url.PathEscape(name)
	}
	body, err := json.Marshal(a.object)
	if err != nil {
		return err
	}
	if name != "" && (a.verb == verbApply || a.verb == verbCreate) {
		// An object that is being deleted goes when it can. A user waits, as kubectl delete does.
		gone := func() bool { return !isLeaving(exchange(c, http.MethodGet, one, "")) }
		if err := eventually(ctx, gone); err != nil {
			return fmt.Errorf("the object before it is still there %w", err)
		}
	}
	switch a.verb {
	case verbApply:
		return answerOf(sendAs(ctx, c, http.MethodPatch, one+"?fieldManager=explore&force=true", "application/apply-patch+yaml", string(body)))
	case verbCreate:
		return answerOf(sendAs(ctx, c, http.MethodPost, at, "application/json", string(body)))
	case verbPatch:
		return answerOf(sendAs(ctx, c, http.MethodPatch, one, "application/merge-patch+json", string(body)))
	case verbDelete:
		if err := answerOf(sendAs(ctx, c, http.MethodDelete, one, "application/json", "")); !errors.Is(err, errNotFound) {
			return err
		}
		return nil
	}
	var got string
	err = eventually(ctx, func() (found bool) {
		found, got = a.isThere(exchange(c, http.MethodGet, one, ""))
		return found == (a.verb == verbWait)
	})
	switch {
	case err != nil && a.verb == verbErrors:
		return fmt.Errorf("it is there %w", err)
	case err != nil:
		return fmt.Errorf("it is not so %w; it is %s", err, got)
	}
	return nil
}

// eventually calls f until it is true. Its error says for how long it was not, or that ctx has ended.
func eventually(ctx context.Context, f func() bool) error {
	for end := time.Now().Add(waitsFor); !f(); {
		if time.Now().After(end) {
			return fmt.Errorf("after %s", waitsFor)
		}
		if sleep(ctx, 100*time.Millisecond); ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// isLeaving reports whether an object is being deleted.
func isLeaving(o map[string]any) bool {
	m, _ := o["metadata"].(map[string]any)
	return m["deletionTimestamp"] != nil
}

// isThere reports whether an object, or one of a list, has all that the manifest says, and returns what there is as text.
func (a *act) isThere(got map[string]any) (bool, string) {
	if got == nil {
		return false, "not there"
	}
	want := make(map[string]any, len(a.object))
	for k, v := range a.object {
		if k != "apiVersion" && k != "kind" {
			want[k] = v
		}
	}
	candidates := []any{got}
	if _, name := a.names(); name == "" {
		candidates, _ = got["items"].([]any)
	}
	text, _ := json.Marshal(got)
	return slices.ContainsFunc(candidates, func(o any) bool { return includes(o, want) }), string(text)
}

// includes reports whether got has all members of want, and in lists all items.
func includes(got, want any) bool {
	switch want := want.(type) {
	case map[string]any:
		m, ok := got.(map[string]any)
		for k, v := range want {
			ok = ok && includes(m[k], v)
		}
		return ok
	case []any:
		list, ok := got.([]any)
		for _, v := range want {
			ok = ok && slices.ContainsFunc(list, func(item any) bool { return includes(item, v) })
		}
		return ok
	}
	return got == want
}

// path returns the path of the collection that the object is in. The resource of a kind is asked for once.
func (a *act) path(ctx context.Context, c Conn) (string, error) {
	version, _ := a.object["apiVersion"].(string)
	kind, _ := a.object["kind"].(string)
	base := "/apis/" + version
	if !strings.Contains(version, "/") {
		base = "/api/" + version
	}
	type resource struct {
		Name, Kind string
		Namespaced bool
	}
	type resourceKey struct{ version, kind string }
	var found resource
	if c.Shared != nil {
		if known, ok := c.Shared.Load(resourceKey{version, kind}); ok {
			found = known.(resource)
		}
	}
	if found.Name == "" {
		var list struct{ Resources []resource }
		resp, err := send(ctx, c, http.MethodGet, base, "")
		if err != nil {
			return "", err
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return "", fmt.Errorf("the server has no %s", version)
		}
		if err := json.NewDecoder(resp.Body).Decode(&list); err != nil {
			return "", err
		}
		i := slices.IndexFunc(list.Resources, func(r resource) bool { return r.Kind == kind && !strings.Contains(r.Name, "/") })
		if i < 0 {
			return "", fmt.Errorf("the server has no kind %s in %s", kind, version)
		}
		if found = list.Resources[i]; c.Shared != nil {
			c.Shared.Store(resourceKey{version, kind}, found)
		}
	}
	if !found.Namespaced {
		return base + "/" + found.Name, nil
	}
	namespace, _ := a.names()
	return base + "/namespaces/" + url.PathEscape(cmp.Or(namespace, "default")) + "/" + found.Name, nil
}

var errNotFound = errors.New("not found")

// answerOf returns the error that an answer tells.
func answerOf(resp *http.Response, err error) error {
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 == 2 {
		return nil
	}
	var s struct{ Message string }
	_ = json.NewDecoder(resp.Body).Decode(&s) // another body has no message
	if resp.StatusCode == http.StatusNotFound {
		return fmt.Errorf("%w: %s", errNotFound, s.Message)
	}
	return fmt.Errorf("%d: %s", resp.StatusCode, s.Message)
}
