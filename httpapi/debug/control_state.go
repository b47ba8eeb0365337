package debug

import (
	"bytes"
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/fixture"
	"github.com/kubecoord/kubecoord/watch"
)

// The media types of fixtures.
const (
	typeYAML  = "application/yaml"
	typeJSON  = "application/json"
	typeTxtar = "application/x-txtar"
)

// load stores the objects in the body: all of them, or none if one is refused.
func (c control) load(w http.ResponseWriter, r *http.Request) error {
	source, err := readFixture(w, r)
	if err != nil {
		return err
	}
	c.srv.loading.Lock()
	defer c.srv.loading.Unlock()
	if err := c.api.Handler().Load(r.Context(), source); err != nil {
		return bad(err)
	}
	return answer(w, http.StatusOK, map[string]string{"resourceVersion": c.api.Store().ResourceVersion()})
}

// readFixture reads the body. Errors name it by the parameter name.
func readFixture(w http.ResponseWriter, r *http.Request) (source fixture.Source, err error) {
	if err := readQuery(r, "name"); err != nil {
		return source, err
	}
	data, mediaType, err := read(w, r, mostFixture, typeYAML, typeJSON, typeTxtar)
	if err != nil {
		return source, err
	}
	// Values end at these two, but for those at the ends of nested lists and objects.
	if bytes.Count(data, []byte{','})+bytes.Count(data, []byte{'\n'}) > mostValues {
		return source, tooLarge(fmt.Sprintf("%d lines and commas", mostValues))
	}
	name := cmp.Or(r.URL.Query().Get("name"), "body")
	if mediaType == typeTxtar {
		return fixture.Txtar(name, data), nil
	}
	return fixture.Stream(name, bytes.NewReader(data)), nil
}

// dump answers with the state in a form that load reads.
func (c control) dump(w http.ResponseWriter, r *http.Request) error {
	if err := readQuery(r, "form", "omitServerFields"); err != nil {
		return err
	}
	query := r.URL.Query()
	opts := fixture.DumpOptions{JSON: strings.HasPrefix(r.Header.Get("Accept"), typeJSON)}
	mediaType := typeYAML
	if opts.JSON {
		mediaType = typeJSON
	}
	switch form := query.Get("form"); form {
	case "", "list":
	case "stream":
		opts.Form = fixture.FormStream
	case "txtar":
		opts.Form, mediaType = fixture.FormTxtar, typeTxtar
	default:
		return bad(fmt.Errorf("form: got %q, want list, stream or txtar", form))
	}
	switch omit := query.Get("omitServerFields"); omit {
	case "", "false":
	case "true":
		opts.OmitServerFields = true
	default:
		return bad(fmt.Errorf("omitServerFields: got %q, want true or false", omit))
	}
	w.Header().Set("Content-Type", mediaType)
	return c.api.Handler().Dump(w, opts)
}

// change is a store.Change in an answer.
type change struct {
	Type            watch.EventType `json:"type"`
	ResourceVersion string          `json:"resourceVersion"`
	Time            time.Time       `json:"time"`
	Resource        string          `json:"resource"`
	Object          any             `json:"object"`

	version         uint64
	namespace, name string
}

// defaultLast is the default number of changes and requests in an answer.
const defaultLast = 1000

// listHistory answers with the changes of all kinds in their order.
func (c control) listHistory(w http.ResponseWriter, r *http.Request) error {
	if err := readQuery(r, "last", "resource", "namespace", "name"); err != nil {
		return err
	}
	last, err := readLast(r)
	if err != nil {
		return err
	}
	query := r.URL.Query()
	if wanted, known := query.Get("resource"), c.plurals(); wanted != "" && !slices.Contains(known, wanted) {
		return bad(fmt.Errorf("resource: got %q, want one of %s", wanted, strings.Join(known, ", ")))
	}
	changes, complete := c.changes(query.Get("resource"), query.Get("namespace"), query.Get("name"))
	if len(changes) > last {
		changes, complete = changes[len(changes)-last:], false
	}
	return answer(w, http.StatusOK, map[string]any{
		"changes": changes, "complete": complete, "resourceVersion": c.api.Store().ResourceVersion(),
	})
}

// changes returns the changes in the history in their order, of one resource, namespace or name unless these are "", and whether
// these are all that there were.
func (c control) changes(resource, namespace, name string) (changes []change, complete bool) {
	changes, complete = []change{}, true
	for _, kind := range c.api.Handler().Kinds() {
		plural := kind.Info().Plural
		if !wants(resource, plural) {
			continue
		}
		past, all := c.api.Store().History(kind)
		complete = complete && all
		for _, p := range past {
			if wants(namespace, p.Namespace) && wants(name, p.Name) {
				changes = append(changes, newChange(plural, p))
			}
		}
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Compare(a.version, b.version) })
	return changes, complete
}

func wants(wanted, got string) bool { return wanted == "" || wanted == got }

func newChange(resource string, p store.Change) change {
	return change{p.Type, strconv.FormatUint(p.ResourceVersion, 10), p.Time.UTC(), resource, p.Object, p.ResourceVersion, p.Namespace, p.Name}
}

// readLast returns the parameter last, or its default.
func readLast(r *http.Request) (int, error) {
	text := r.URL.Query().Get("last")
	if text == "" {
		return defaultLast, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, bad(fmt.Errorf("last: got %q, want a number of 1 or more", text))
	}
	return n, nil
}

func (c control) expireHistory(w http.ResponseWriter, _ *http.Request) error {
	c.api.Store().ExpireHistory()
	return done(w)
}

// requestView is an apitest.Request in an answer.
type requestView struct {
	Text        string              `json:"text"`
	Time        time.Time           `json:"time"`
	Verb        string              `json:"verb"`
	Path        string              `json:"path"`
	Query       map[string][]string `json:"query,omitempty"`
	Group       string              `json:"group,omitempty"`
	Version     string              `json:"version,omitempty"`
	Resource    string              `json:"resource,omitempty"`
	Namespace   string              `json:"namespace,omitempty"`
	Name        string              `json:"name,omitempty"`
	UserAgent   string              `json:"userAgent,omitempty"`
	Client      string              `json:"client,omitempty"`
	ContentType string              `json:"contentType,omitempty"`
	Body        string              `json:"body,omitempty"`       // if it is text
	BodyBase64  []byte              `json:"bodyBase64,omitempty"` // if it is not text
	BodySize    int                 `json:"bodySize,omitempty"`
	Status      int                 `json:"status,omitempty"`
	Done        bool                `json:"done"`
	Cut         bool                `json:"cut,omitempty"`
	Faults      []int               `json:"faults,omitempty"` // ids of the active ones
}

func (c control) listRequests(w http.ResponseWriter, r *http.Request) error {
	if err := readQuery(r, "last"); err != nil {
		return err
	}
	last, err := readLast(r)
	if err != nil {
		return err
	}
	all := c.api.Requests()
	views := []requestView{}
	for _, req := range all[max(0, len(all)-last):] {
		views = append(views, c.viewRequest(req))
	}
	return answer(w, http.StatusOK, map[string]any{"requests": views})
}

func (c control) viewRequest(r apitest.Request) requestView {
	v := requestView{
		Text: r.String(), Time: r.Time.UTC(), Verb: r.Verb, Path: r.Path, Query: r.Query,
		Group: r.Group, Version: r.Version, Resource: r.Resource, Namespace: r.Namespace, Name: r.Name,
		UserAgent: r.UserAgent, Client: r.Client, ContentType: r.ContentType, BodySize: r.BodySize,
		Status: r.Status, Done: r.Done, Cut: r.Cut,
	}
	if utf8.Valid(r.Body) {
		v.Body = string(r.Body)
	} else {
		v.BodyBase64 = r.Body
	}
	for _, f := range r.Faults {
		if id := c.faults.get(f).id; id != 0 {
			v.Faults = append(v.Faults, id)
		}
	}
	return v
}

func (c control) forgetRequests(w http.ResponseWriter, _ *http.Request) error {
	c.api.ForgetRequests()
	return done(w)
}

// verdict answers with the result of apitest.API.Verdict. It is ok without two holders
// of one Lease: Kubernetes allows lost updates.
func (c control) verdict(w http.ResponseWriter, _ *http.Request) error {
	v := c.api.Verdict()
	return answer(w, http.StatusOK, struct {
		OK bool `json:"ok"`
		apitest.Verdict
	}{len(v.TwoHolders) == 0, v})
}
