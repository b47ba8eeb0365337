package debug

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/kubecoord/kubecoord/store/meta"
)

// control serves /debug/ for one stage of a server or fork.
type control struct {
	*fork
	*stage
}

// operation is one operation below /debug/.
type operation struct {
	// Method and Path form a pattern of http.ServeMux.
	Method string `json:"method"`
	Path   string `json:"path"`
	What   string `json:"what"`

	serve func(http.ResponseWriter, *http.Request) error
}

// operations returns the operations except the pages for people. The index lists them.
func (c control) operations() []operation {
	return []operation{
		{"GET", "/debug/{$}", "this list, as a page or as JSON", c.index},
		{"GET", "/debug/faults", "the active faults, with the numbers of requests that matched and were hit", c.listFaults},
		{"POST", "/debug/faults", `add one: {"verb": "update", "resource": "leases", "first": 2, "answer": {"code": 409}}, or at random: {"adversary": {"seed": 42, "percent": 10, "maxDelay": "1s"}}, or crash a client: {"userAgent": "worker", "verb": "update", "nth": 2, "crash": "after"}`, c.addFault},
		{"GET", "/debug/faults/{id}", "one of them", c.getFault},
		{"DELETE", "/debug/faults/{id}", "remove one", c.removeFault},
		{"DELETE", "/debug/faults", "remove all", c.removeFaults},
		{"GET", "/debug/requests", "the requests that were received, ?last=N of them", c.listRequests},
		{"DELETE", "/debug/requests", "forget them", c.forgetRequests},
		{"GET", "/debug/history", "the changes in the history, ?last=N of them, ?resource=R, ?namespace=N, ?name=N", c.listHistory},
		{"DELETE", "/debug/history", "expire the history: requests for an older version get 410", c.expireHistory},
		{"GET", "/debug/verdict", "whether two clients held a Lease at once, and which updates were lost", c.verdict},
		{"GET", "/debug/fixtures", "the state, as YAML, or as JSON if the header Accept asks for it; ?form=list, stream or txtar, ?omitServerFields=true", c.dump},
		{"POST", "/debug/fixtures", "load YAML, JSON or txtar, all of it or nothing", c.load},
		{"POST", "/debug/reset", `go back to the first state, to the state of a fork: {"to": "NAME"}, or to a fixture, YAML or txtar; this removes faults and requests and ends watches`, c.resetTo},
		{"GET", "/debug/clock", "the time of the server, and whether its clock is manual", c.showClock},
		{"POST", "/debug/clock", `move the clock of a server with -clock: {"forward": "90s"}`, c.moveClock},
		{"GET", "/debug/forks", "the forks", c.listForks},
		{"POST", "/debug/forks", `fork this server; the fork has its own address; {"name": "NAME"} names it`, c.addFork},
		{"DELETE", "/debug/forks", "end all forks", c.removeForks},
		{"GET", "/debug/forks/{name}", "the address of one fork", c.getFork},
		{"DELETE", "/debug/forks/{name}", "end one fork", c.removeFork},
	}
}

// newControl returns the handler of /debug/ for a stage.
func (w *fork) newControl(s *stage) http.Handler {
	c := control{w, s}
	mux := http.NewServeMux()
	debugPages{s.rec}.register(mux)
	for _, d := range append(c.operations(), c.pageOperations()...) {
		mux.HandleFunc(d.Method+" "+d.Path, func(w http.ResponseWriter, r *http.Request) {
			secure(w.Header())
			if err := d.serve(w, r); err != nil {
				c.api.Handler().Fail(w, r, err)
			}
			s.changed.ring()
		})
	}
	return mux
}

// problem returns an error as a Status for clients.
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
	e.Encode(v) // fails only if the client has gone
	return nil
}

// done answers without a body.
func done(w http.ResponseWriter) error {
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// Limits of request bodies in bytes, and of the values in a fixture. The decoding of YAML takes up
// to 700 bytes for each value.
const (
	mostJSON    = 1 << 20
	mostFixture = 4 << 20
	mostValues  = 1 << 19
)

// tooLarge returns the error of a body over a limit, with the text of a real server.
func tooLarge(limit string) error {
	return problem(http.StatusRequestEntityTooLarge, meta.ReasonRequestEntityTooLarge, fmt.Errorf("Request entity too large: limit is %s", limit))
}

// read returns the body of a request. Its media type must be one of types.
func read(w http.ResponseWriter, r *http.Request, most int64, types ...string) (data []byte, mediaType string, err error) {
	data, err = io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	if _, over := errors.AsType[*http.MaxBytesError](err); over {
		return nil, "", tooLarge(strconv.FormatInt(most, 10))
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

// readOption is like readJSON, but accepts a request without a body.
func readOption(w http.ResponseWriter, r *http.Request, v any) error {
	if r.ContentLength == 0 {
		return nil
	}
	return readJSON(w, r, v)
}

// readQuery refuses unknown parameters.
func readQuery(r *http.Request, known ...string) error {
	for name := range r.URL.Query() {
		if !slices.Contains(known, name) {
			return bad(fmt.Errorf("query: got %q, want only %s", name, strings.Join(known, ", ")))
		}
	}
	return nil
}

// listed returns the operations of the index.
func (c control) listed() []operation {
	all := []operation{{Method: "GET", Path: "/debug/elections", What: "present and past leaders, as a page that updates itself; also .json, .svg and .txt"}}
	for _, d := range c.operations() {
		d.Path = strings.TrimSuffix(d.Path, "{$}")
		all = append(all, d)
	}
	return all
}

// index lists the operations, as a page for browsers and as JSON for others.
func (c control) index(w http.ResponseWriter, r *http.Request) error {
	all := c.listed()
	w.Header().Set("Vary", "Accept")
	if !strings.HasPrefix(r.Header.Get("Accept"), "text/html") {
		return answer(w, http.StatusOK, map[string]any{"fork": c.name, "operations": all})
	}
	return c.writeOverview(w, r, http.StatusOK, form{})
}

// Link returns the link of an operation in the index, or "" if a browser cannot open it.
func (d operation) Link() string {
	if d.Method != "GET" || strings.Contains(d.Path, "{") {
		return ""
	}
	return strings.TrimPrefix(d.Path, "/debug/")
}
