package debug

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
)

// faults knows the active faults as they were posted.
type faults struct {
	mu     sync.Mutex // guards the fields below, and is held while a fault is activated
	placed map[*apitest.Fault]placed
	last   int
}

// placed is an active fault with its number.
type placed struct {
	id   int
	json faultJSON
}

// place activates a fault.
func (s *stage) place(posted faultJSON) (*apitest.Fault, error) {
	f := &s.faults
	f.mu.Lock()
	defer f.mu.Unlock()
	if posted.Adversary != nil {
		posted.Adversary = withDefaults(*posted.Adversary)
	}
	effect, err := posted.effect()
	if err == nil {
		err = f.hasRoomLocked(posted)
	}
	if err != nil {
		return nil, fmt.Errorf("fault: %w", err)
	}
	active := s.api.Fault(effect, posted.Match)
	if active == nil {
		return nil, inWords(s.test.last())
	}
	if f.placed == nil {
		f.placed = map[*apitest.Fault]placed{}
	}
	f.last++
	f.placed[active] = placed{f.last, posted}
	return active, nil
}

// Limits of the active faults of a server or a fork. They bound what a client that never removes one can take.
const (
	maxFaults    = 1000
	maxFaultJSON = 16 << 10
)

// hasRoomLocked returns the error of a fault that is too large, or one too many.
func (f *faults) hasRoomLocked(posted faultJSON) error {
	text, err := posted.MarshalJSON()
	switch {
	case err != nil:
		return err
	case len(text) > maxFaultJSON:
		return fmt.Errorf("got %d bytes, want %d at most", len(text), maxFaultJSON)
	case len(f.placed) >= maxFaults:
		return fmt.Errorf("got %d of them, want %d at most: DELETE some", len(f.placed)+1, maxFaults)
	}
	return nil
}

// withDefaults returns the options of an adversary, so that the answer shows how to repeat it.
func withDefaults(o apitest.AdversaryOptions) *apitest.AdversaryOptions {
	for o.Seed == 0 {
		o.Seed = rand.Uint64N(1 << 53) // exact in JavaScript too
	}
	o.Percent = cmp.Or(o.Percent, 10)
	o.MaxDelay = cmp.Or(o.MaxDelay, time.Second)
	return &o
}

func (f *faults) remove(active *apitest.Fault) {
	active.Remove()
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.placed, active)
}

// get returns an active fault as it was placed. Others have the number 0.
func (f *faults) get(active *apitest.Fault) placed {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.placed[active]
}

// faultView is an active fault in an answer.
type faultView struct {
	ID      int       `json:"id"`
	Text    string    `json:"text"`
	Matches int       `json:"matches"`
	Hits    int       `json:"hits"`
	Fault   faultJSON `json:"fault"`
}

func (f *faults) view(active *apitest.Fault) faultView {
	p := f.get(active)
	return faultView{ID: p.id, Text: active.String(), Matches: active.Matches(), Hits: active.Hits(), Fault: p.json}
}

func (c control) listFaults(w http.ResponseWriter, _ *http.Request) error {
	views := []faultView{}
	for _, active := range c.api.Faults() {
		views = append(views, c.faults.view(active))
	}
	return answer(w, http.StatusOK, map[string]any{"faults": views})
}

func (c control) addFault(w http.ResponseWriter, r *http.Request) error {
	var f faultJSON
	if err := readJSON(w, r, &f); err != nil {
		return err
	}
	active, err := c.place(f)
	if err != nil {
		return bad(fmt.Errorf("body: %w", err))
	}
	view := c.faults.view(active)
	w.Header().Set("Location", c.path()+"/debug/faults/"+strconv.Itoa(view.ID))
	return answer(w, http.StatusCreated, view)
}

// fault returns the fault in the path.
func (c control) fault(r *http.Request) (*apitest.Fault, error) {
	for _, active := range c.api.Faults() {
		if strconv.Itoa(c.faults.get(active).id) == r.PathValue("id") {
			return active, nil
		}
	}
	return nil, notFound(fmt.Errorf("fault: got %q, want the id of one that GET /debug/faults lists", r.PathValue("id")))
}

func (c control) getFault(w http.ResponseWriter, r *http.Request) error {
	active, err := c.fault(r)
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, c.faults.view(active))
}

// removeFault answers with the final counts of the fault.
func (c control) removeFault(w http.ResponseWriter, r *http.Request) error {
	active, err := c.fault(r)
	if err != nil {
		return err
	}
	view := c.faults.view(active)
	c.faults.remove(active)
	view.Matches, view.Hits = active.Matches(), active.Hits()
	return answer(w, http.StatusOK, view)
}

func (c control) removeFaults(w http.ResponseWriter, _ *http.Request) error {
	for _, active := range c.api.Faults() {
		c.faults.remove(active)
	}
	return done(w)
}

// fieldNames matches the names in errors of package apitest that JSON writes in lower case.
var fieldNames = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(Fault|Code|` + strings.Join(namesIn(reflect.TypeFor[faultJSON]()), "|") + `)\b`)
})

// namesIn returns the field names of a struct, and of the structs to which it points.
func namesIn(t reflect.Type) (names []string) {
	for _, f := range reflect.VisibleFields(t) {
		names = append(names, f.Name)
		if f.Type.Kind() == reflect.Pointer {
			names = append(names, namesIn(f.Type.Elem())...)
		}
	}
	return names
}

// inWords returns an error of package apitest with the names of the members of JSON.
func inWords(err error) error {
	text := strings.NewReplacer(
		"apitest.Fault: EndWatch:", "Fault: tear.after:", "apitest.Fault: CutWatch:", "Fault: tear.after:",
		"apitest.Fault: FailWatch:", "Fault: tear.after:", "apitest.Fault: FailWatch.Code:", "Fault: tear.error.code:",
		"apitest.Fault: AnswerAfter.Code:", "Fault: answerAfter:",
		"apitest.Fault: ", "Fault: ",
	).Replace(err.Error())
	parts := strings.Split(text, `"`)
	for i := 0; i < len(parts); i += 2 { // quoted text stays
		parts[i] = fieldNames().ReplaceAllStringFunc(parts[i], func(name string) string { return strings.ToLower(name[:1]) + name[1:] })
	}
	return errors.New(strings.Join(parts, `"`))
}
