package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/kubecoord/kubecoord/store/meta"
)

// control is what is below /debug/ of one stage of a world.
type control struct {
	*world
	*stage
}

// door is one thing that can be asked for there.
type door struct {
	// Method and Path are those of a pattern of http.ServeMux.
	Method string `json:"method"`
	Path   string `json:"path"`
	What   string `json:"what"`

	serve func(http.ResponseWriter, *http.Request) error
}

// doors lists what there is beside the pages of elections; the index shows it.
func (c control) doors() []door {
	return []door{
		{"GET", "/debug/{$}", "this list, as a page or as JSON", c.index},
		{"GET", "/debug/faults", "the faults in place, with how many requests matched and were hit", c.listFaults},
		{"POST", "/debug/faults", `put one in place: {"verb": "update", "resource": "leases", "first": 2, "answer": {"code": 409}}`, c.addFault},
		{"GET", "/debug/faults/{id}", "one of them", c.getFault},
		{"DELETE", "/debug/faults/{id}", "take one away", c.removeFault},
		{"DELETE", "/debug/faults", "take all away", c.removeFaults},
		{"POST", "/debug/adversary", `faults at random: {"seed": 42, "percent": 10, "maxDelay": "1s"}; it is listed among the faults`, c.addAdversary},
		{"GET", "/debug/requests", "the requests that were received, ?last=N of them", c.listRequests},
		{"DELETE", "/debug/requests", "forget them", c.forgetRequests},
		{"GET", "/debug/history", "the changes that history still holds, ?last=N of them, ?resource=R, ?namespace=N, ?name=N", c.listHistory},
		{"DELETE", "/debug/history", "have it expire: who asks for an older version is answered 410", c.expireHistory},
		{"GET", "/debug/verdict", "whether two clients held a Lease at once, and which updates were lost", c.verdict},
		{"GET", "/debug/fixtures", "the state, as YAML, or as JSON where the header Accept asks for it; ?form=list, stream or txtar, ?omitServerFields=true", c.dump},
		{"POST", "/debug/fixtures", "load YAML, JSON or txtar, all of it or nothing", c.load},
		{"POST", "/debug/reset", `go back to the state at the start, to that of another world: {"to": "NAME"}, or to that of a fixture, YAML or txtar; faults and requests go, and watches end`, c.resetTo},
		{"GET", "/debug/clock", "the time of the server, and whether it stands still", c.showClock},
		{"POST", "/debug/clock", `let time pass at once, on a server with -clock: {"forward": "90s"}`, c.moveClock},
		{"GET", "/debug/worlds", "the worlds that were forked", c.listWorlds},
		{"POST", "/debug/worlds", `fork this one into a world of its own, with an address of its own; {"name": "NAME"} names it`, c.fork},
		{"DELETE", "/debug/worlds", "end all worlds that were forked", c.removeWorlds},
		{"GET", "/debug/worlds/{name}", "the address of one", c.getWorld},
		{"DELETE", "/debug/worlds/{name}", "end one", c.removeWorld},
	}
}

// newControl serves what is below /debug/ of a stage.
func (w *world) newControl(s *stage) http.Handler {
	c := control{w, s}
	mux := http.NewServeMux()
	debugPages{s.rec}.register(mux)
	for _, d := range c.doors() {
		mux.HandleFunc(d.Method+" "+d.Path, func(w http.ResponseWriter, r *http.Request) {
			secure(w.Header())
			if err := d.serve(w, r); err != nil {
				c.api.Handler().Fail(w, r, err)
			}
		})
	}
	// Pages of other sites are not to have an effect by way of the browser of
	// somebody who can reach this one.
	foreign := http.NewCrossOriginProtection()
	foreign.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		secure(w.Header())
		c.api.Handler().Fail(w, r, problem(http.StatusForbidden, meta.ReasonForbidden,
			fmt.Errorf("got a request from a page of another origin, %q, want none", r.Header.Get("Origin"))))
	}))
	return foreign.Handler(mux)
}

// problem is an error as clients are told of it.
func problem(code int, reason meta.Reason, err error) error {
	return meta.NewStatusError(code, reason, nil, err.Error())
}

func bad(err error) error { return problem(http.StatusBadRequest, meta.ReasonBadRequest, err) }

func notFound(err error) error { return problem(http.StatusNotFound, meta.ReasonNotFound, err) }

// answer sends JSON.
func answer(w http.ResponseWriter, code int, v any) error {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	e.Encode(v) // its error is that nobody reads it
	return nil
}

// done says that there is nothing to say.
func done(w http.ResponseWriter) error {
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// Bounds of what is sent.
const (
	mostJSON    = 1 << 20
	mostFixture = 64 << 20
)

// read returns the body of a request, of one of the types that are wanted.
func read(w http.ResponseWriter, r *http.Request, most int64, types ...string) (data []byte, mediaType string, err error) {
	data, err = io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
		return nil, "", problem(http.StatusRequestEntityTooLarge, meta.ReasonRequestEntityTooLarge, fmt.Errorf("body: got more than %d bytes, want them at most", most))
	}
	if err != nil {
		return nil, "", bad(fmt.Errorf("body: %w", err))
	}
	header := r.Header.Get("Content-Type")
	mediaType, _, _ = mime.ParseMediaType(header)
	if !slices.Contains(types, mediaType) {
		return nil, "", problem(http.StatusUnsupportedMediaType, meta.ReasonUnsupportedMediaType, fmt.Errorf("Content-Type: got %q, want %s", header, strings.Join(types, " or ")))
	}
	return data, mediaType, nil
}

// readJSON reads a JSON object strictly.
func readJSON(w http.ResponseWriter, r *http.Request, v any) error {
	data, _, err := read(w, r, mostJSON, "application/json")
	if err != nil {
		return err
	}
	d := json.NewDecoder(strings.NewReader(string(data)))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return bad(fmt.Errorf("body: %w", inWords(err)))
	}
	if _, err := d.Token(); err != io.EOF {
		return bad(errors.New("body: got more after the first value, want one object"))
	}
	return nil
}

// readOption is readJSON for a request that may do without a body.
func readOption(w http.ResponseWriter, r *http.Request, v any) error {
	if r.ContentLength == 0 {
		return nil
	}
	return readJSON(w, r, v)
}

// readQuery refuses parameters that are not known.
func readQuery(r *http.Request, known ...string) error {
	for name := range r.URL.Query() {
		if !slices.Contains(known, name) {
			return bad(fmt.Errorf("query: got %q, want only %s", name, strings.Join(known, ", ")))
		}
	}
	return nil
}
