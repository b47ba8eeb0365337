package debug

import (
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
)

// faults numbers the active faults.
type faults struct {
	mu     sync.Mutex // guards the fields below, and is held while a fault is activated
	placed map[*apitest.Injected]int
	last   int
}

// place activates a fault, and returns it with its number.
func (s *stage) place(fault apitest.Fault) (id int, in *apitest.Injected, err error) {
	f := &s.faults
	f.mu.Lock()
	defer f.mu.Unlock()
	if in = s.api.Fault(fault); in == nil {
		return 0, nil, s.test.err
	}
	if f.placed == nil {
		f.placed = map[*apitest.Injected]int{}
	}
	f.last++
	f.placed[in] = f.last
	return f.last, in, nil
}

func (f *faults) remove(in *apitest.Injected) {
	in.Remove()
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.placed, in)
}

func (f *faults) id(in *apitest.Injected) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.placed[in]
}

// faultView is an active fault in an answer.
type faultView struct {
	ID      int       `json:"id"`
	Text    string    `json:"text"`
	Matches int       `json:"matches"`
	Hits    int       `json:"hits"`
	Fault   faultJSON `json:"fault"`
}

func viewOf(id int, in *apitest.Injected) faultView {
	return faultView{ID: id, Text: in.String(), Matches: in.Matches(), Hits: in.Hits(), Fault: faultJSON{in.Fault()}}
}

func (c control) listFaults(w http.ResponseWriter, _ *http.Request) error {
	views := []faultView{}
	for _, in := range c.api.Faults() {
		views = append(views, viewOf(c.faults.id(in), in))
	}
	return answer(w, http.StatusOK, map[string]any{"faults": views})
}

func (c control) addFault(w http.ResponseWriter, r *http.Request) error {
	var f faultJSON
	if err := readJSON(w, r, &f); err != nil {
		return err
	}
	id, in, err := c.place(f.Fault)
	if err != nil {
		return bad(fmt.Errorf("body: %w", inWords(err)))
	}
	w.Header().Set("Location", c.path()+"/debug/faults/"+strconv.Itoa(id))
	return answer(w, http.StatusCreated, viewOf(id, in))
}

// fault returns the fault in the path, with its number.
func (c control) fault(r *http.Request) (int, *apitest.Injected, error) {
	for _, in := range c.api.Faults() {
		if id := c.faults.id(in); strconv.Itoa(id) == r.PathValue("id") {
			return id, in, nil
		}
	}
	return 0, nil, notFound(fmt.Errorf("fault: got %q, want the id of one that GET /debug/faults lists", r.PathValue("id")))
}

func (c control) getFault(w http.ResponseWriter, r *http.Request) error {
	id, in, err := c.fault(r)
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, viewOf(id, in))
}

// removeFault answers with the final counts of the fault.
func (c control) removeFault(w http.ResponseWriter, r *http.Request) error {
	id, in, err := c.fault(r)
	if err != nil {
		return err
	}
	c.faults.remove(in)
	return answer(w, http.StatusOK, viewOf(id, in))
}

func (c control) removeFaults(w http.ResponseWriter, _ *http.Request) error {
	for _, in := range c.api.Faults() {
		c.faults.remove(in)
	}
	return done(w)
}

// fieldNames matches the field names in errors of package apitest.
var fieldNames = regexp.MustCompile(`\b(Fault|Code|` + strings.Join(namesIn(reflect.TypeFor[apitest.Fault]()), "|") + `)\b`)

// namesIn returns the field names of a struct, and of the structs of its package to
// which it points.
func namesIn(t reflect.Type) (names []string) {
	for _, f := range reflect.VisibleFields(t) {
		names = append(names, f.Name)
		if f.Type.Kind() == reflect.Pointer && f.Type.Elem().PkgPath() == t.PkgPath() {
			names = append(names, namesIn(f.Type.Elem())...)
		}
	}
	return names
}

// inWords returns an error in which fields have their names in JSON.
func inWords(err error) error {
	parts := strings.Split(strings.TrimPrefix(err.Error(), "apitest."), `"`)
	for i := 0; i < len(parts); i += 2 { // quoted text stays
		parts[i] = fieldNames.ReplaceAllStringFunc(parts[i], func(name string) string { return strings.ToLower(name[:1]) + name[1:] })
	}
	return errors.New(strings.Join(parts, `"`))
}
