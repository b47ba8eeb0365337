package debug

import (
	"bytes"
	"cmp"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/store/clock"
	"github.com/kubecoord/kubecoord/store/kind"
)

// This file is the page /debug/: what a server has done and does now. Its forms are in forms.go.

// maxLines is how many requests and changes the page shows. The JSON has more.
const maxLines = 200

// maxObjects is how many objects of a kind the page names.
const maxObjects = 50

// overview has the parts of the page that change.
type overview struct {
	Fork            string // its name, or ""
	Filter          string
	Clock           string // "" if it is the clock of the machine
	ResourceVersion string
	Leaders         string
	Forks           []forkLink
	Faults          []faultView
	Kinds           []kindLine
	Requests        []requestLine
	OlderRequests   int
	Changes         []changeLine
	OlderChanges    int
	Expired         bool // the history has lost changes
}

type forkLink struct {
	Name, Link string
	Current    bool
}

// kindLine is a kind with its present objects on the page.
type kindLine struct {
	Resource, List string // the link to all objects
	Objects        []objectLink
	Count, More    int // how many objects have the words of the filter, and how many of them the page does not name
}

type objectLink struct{ Name, Link string }

// requestLine is a request on the page.
type requestLine struct {
	Time, Client, Text, Query string
	Faults                    []int
	Bad                       bool
}

// changeLine is a change of the history on the page.
type changeLine struct {
	Time, Version, Type, Resource, Object, Link string
}

// overview returns the present state with the lines that have all words of the filter.
func (c control) overview(filter string) overview {
	st := c.api.Store()
	o := overview{Fork: c.name, Filter: filter, ResourceVersion: st.ResourceVersion(), Leaders: leaders(c.rec.Timeline()), Forks: c.forkLinks()}
	if _, manual := st.Clock().(*clock.Manual); manual {
		o.Clock = stamp(st.Clock().Now())
	}
	for _, active := range c.api.Faults() {
		o.Faults = append(o.Faults, c.faults.view(active))
	}
	for _, k := range c.api.Handler().Kinds() {
		if line := c.kindLine(k, filter); line.Count > 0 {
			o.Kinds = append(o.Kinds, line)
		}
	}
	requests := c.api.Requests()
	for _, r := range slices.Backward(requests) {
		if line := c.requestLine(r); !hasAll(filter, line.Time, line.Client, line.Text, line.Query) {
			continue
		} else if len(o.Requests) < maxLines {
			o.Requests = append(o.Requests, line)
		} else {
			o.OlderRequests++
		}
	}
	changes, complete := c.changes("", "", "")
	o.Expired = !complete
	for _, change := range slices.Backward(changes) {
		if line := newChangeLine(change); !hasAll(filter, line.Time, line.Version, line.Type, line.Resource, line.Object) {
			continue
		} else if len(o.Changes) < maxLines {
			o.Changes = append(o.Changes, line)
		} else {
			o.OlderChanges++
		}
	}
	return o
}

// hasAll reports whether each word of a filter is in one of the texts, in any case.
func hasAll(filter string, texts ...string) bool {
	all := strings.ToLower(strings.Join(texts, "\n"))
	for word := range strings.FieldsSeq(strings.ToLower(filter)) {
		if !strings.Contains(all, word) {
			return false
		}
	}
	return true
}

// forkLinks returns links to the server and its forks, relative to the page.
func (c control) forkLinks() []forkLink {
	up := "" // to /debug/ of the server
	if c.name != "" {
		up = "../../../"
	}
	links := []forkLink{{"the server", cmp.Or(up, "./"), c.name == ""}}
	for _, name := range c.srv.names() {
		links = append(links, forkLink{name, up + "forks/" + name + "/debug/", name == c.name})
	}
	return links
}

// kindLine returns the present objects of a kind that have all words of the filter.
func (c control) kindLine(k kind.Kind, filter string) (line kindLine) {
	info := k.Info()
	objects, err := c.api.Store().Objects(k)
	if err != nil || !info.Serves("list") {
		return line // removed since, or nothing to list
	}
	line.Resource = info.Plural
	base := "../api/"
	if info.Group != "" {
		line.Resource, base = line.Resource+"."+info.Group, "../apis/"+info.Group+"/"
	}
	base += info.Versions[info.Preferred()].Name + "/"
	line.List = base + info.Plural
	for object := range objects.All("") {
		m := object.GetObjectMeta()
		of := objectLink{m.Name, base + info.Plural + "/" + url.PathEscape(m.Name)}
		if m.Namespace != "" {
			of = objectLink{m.Namespace + "/" + m.Name, base + "namespaces/" + url.PathEscape(m.Namespace) + "/" + info.Plural + "/" + url.PathEscape(m.Name)}
		}
		if !hasAll(filter, line.Resource, of.Name) {
			continue
		}
		if line.Count++; len(line.Objects) < maxObjects {
			line.Objects = append(line.Objects, of)
		}
	}
	line.More = line.Count - len(line.Objects)
	return line
}

func (c control) requestLine(r apitest.Request) requestLine {
	line := requestLine{Time: stamp(r.Time), Client: r.Client, Text: r.String(), Bad: r.Status >= 400 || r.Cut}
	if line.Client == "" {
		line.Client, _, _ = strings.Cut(r.UserAgent, " ")
	}
	line.Client = cutText(line.Client, 60)
	if query, err := url.QueryUnescape(r.Query.Encode()); err == nil {
		line.Query = cutText(query, 120)
	}
	for _, f := range r.Faults {
		if id := c.faults.get(f).id; id != 0 {
			line.Faults = append(line.Faults, id)
		}
	}
	return line
}

func newChangeLine(of change) changeLine {
	object := of.name
	if of.namespace != "" {
		object = of.namespace + "/" + of.name
	}
	link := url.Values{"resource": {of.Resource}, "namespace": {of.namespace}, "name": {of.name}}
	return changeLine{stamp(of.Time), of.ResourceVersion, string(of.Type), of.Resource, object, "history?" + link.Encode()}
}

// cutText cuts a text to a number of bytes, at the beginning of a character.
func cutText(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// parts are the names of the templates of the parts that change, and the ids of their elements.
func parts() []string { return []string{"summary", "faults", "objects", "requests", "history"} }

// render returns the parts that change.
func (o overview) render() (map[string]template.HTML, error) {
	all := map[string]template.HTML{}
	for _, name := range parts() {
		var b bytes.Buffer
		if err := pages().ExecuteTemplate(&b, name, o); err != nil {
			return nil, err
		}
		all[name] = template.HTML(b.String())
	}
	return all, nil
}

// writeOverview writes the page, with a form as it was sent and its errors.
func (c control) writeOverview(w http.ResponseWriter, r *http.Request, code int, sent form) error {
	o := c.overview(r.URL.Query().Get("filter"))
	live, err := o.render()
	if err != nil {
		return err
	}
	var page bytes.Buffer
	err = pages().ExecuteTemplate(&page, "overview", map[string]any{
		"Style": template.HTML("<style>" + pageStyle + "</style>"), "Script": template.HTML("<script>" + pageScript + "</script>"),
		"Now": o, "Live": live, "Operations": c.listed(), "Form": sent, "Query": filterQuery(o.Filter),
		"Verbs": verbs(), "Actions": actions(), "Resources": c.plurals(),
	})
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(code)
	w.Write(page.Bytes())
	return nil
}

// filterQuery returns the query of a URL for a filter.
func filterQuery(filter string) string {
	if filter == "" {
		return ""
	}
	return "?" + url.Values{"filter": {filter}}.Encode()
}

// pageEvents sends the parts of the page that have changed.
func (c control) pageEvents(w http.ResponseWriter, r *http.Request) error {
	stream(w, r, c.stage.changed.wait, func() (map[string]string, time.Duration, error) {
		live, err := c.overview(r.URL.Query().Get("filter")).render()
		texts := map[string]string{}
		for id, html := range live {
			texts[id] = string(html)
		}
		return texts, time.Second, err // for what no request has done, such as an election
	})
	return nil
}

// plurals returns the resources that are served.
func (c control) plurals() (all []string) {
	for _, kind := range c.api.Handler().Kinds() {
		all = append(all, kind.Info().Plural)
	}
	return all
}

// pageOperations returns the operations of the page, which the index does not list.
func (c control) pageOperations() []operation {
	return []operation{
		{"GET", "/debug/events", "the parts of this page, as server-sent events", c.pageEvents},
		{"POST", "/debug/{$}", "a form of this page", c.submit},
	}
}
