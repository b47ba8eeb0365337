package main

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

// faults gives those that are in place a number.
type faults struct {
	mu     sync.Mutex // guards the two
	placed map[*apitest.Injected]int
	last   int
}

// place puts one in place.
func (f *faults) place(inject func() (*apitest.Injected, error)) (id int, in *apitest.Injected, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if in, err = inject(); err != nil {
		return 0, nil, err
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

// faultView is a fault as it is shown.
type faultView struct {
	ID        int                `json:"id"`
	Text      string             `json:"text"`
	Matches   int                `json:"matches"`
	Hits      int                `json:"hits"`
	Fault     *apitest.Fault     `json:"fault,omitempty"`
	Adversary *apitest.Adversary `json:"adversary,omitempty"`
}

func viewOf(id int, in *apitest.Injected) faultView {
	v := faultView{ID: id, Text: in.String(), Matches: in.Matches(), Hits: in.Hits()}
	if adv, ok := in.Adversary(); ok {
		v.Adversary = &adv
	} else {
		f := in.Fault()
		v.Fault = &f
	}
	return v
}

func (c control) listFaults(w http.ResponseWriter, _ *http.Request) error {
	views := []faultView{}
	for _, in := range c.api.Faults() {
		views = append(views, viewOf(c.faults.id(in), in))
	}
	return answer(w, http.StatusOK, map[string]any{"faults": views})
}

func (c control) addFault(w http.ResponseWriter, r *http.Request) error {
	var f apitest.Fault
	if err := readJSON(w, r, &f); err != nil {
		return err
	}
	return c.place(w, func() (*apitest.Injected, error) { return c.api.Inject(f) })
}

func (c control) addAdversary(w http.ResponseWriter, r *http.Request) error {
	var adv apitest.Adversary
	if err := readJSON(w, r, &adv); err != nil {
		return err
	}
	return c.place(w, func() (*apitest.Injected, error) { return c.api.InjectAdversary(adv) })
}

// place answers with what was put in place.
func (c control) place(w http.ResponseWriter, inject func() (*apitest.Injected, error)) error {
	id, in, err := c.faults.place(inject)
	if err != nil {
		return bad(fmt.Errorf("body: %w", inWords(err)))
	}
	w.Header().Set("Location", c.path()+"/debug/faults/"+strconv.Itoa(id))
	return answer(w, http.StatusCreated, viewOf(id, in))
}

// fault finds the one that a path names.
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

// removeFault answers with what the fault did.
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

// fieldNames matches the names of fields that errors of package apitest tell of.
var fieldNames = regexp.MustCompile(`\b(Fault|Adversary|Code|` + strings.Join(append(
	namesIn(reflect.TypeFor[apitest.Fault]()), namesIn(reflect.TypeFor[apitest.Adversary]())...), "|") + `)\b`)

// namesIn returns the names of the fields of a struct, and of those of its package
// that it points to.
func namesIn(t reflect.Type) (names []string) {
	for _, f := range reflect.VisibleFields(t) {
		names = append(names, f.Name)
		if f.Type.Kind() == reflect.Pointer && f.Type.Elem().PkgPath() == t.PkgPath() {
			names = append(names, namesIn(f.Type.Elem())...)
		}
	}
	return names
}

// inWords returns an error with the words that the JSON has for fields.
func inWords(err error) error {
	parts := strings.Split(strings.TrimPrefix(err.Error(), "apitest."), `"`)
	for i := 0; i < len(parts); i += 2 { // what is quoted stays
		parts[i] = fieldNames.ReplaceAllStringFunc(parts[i], func(name string) string { return strings.ToLower(name[:1]) + name[1:] })
	}
	return errors.New(strings.Join(parts, `"`))
}
