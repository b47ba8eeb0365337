package debug

import (
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/kubecoord/kubecoord/internal/timeline"
)

// debugPages serves the pages of elections:
//
//	/debug/elections         a page, kept up to date by
//	/debug/elections/events  a stream of server-sent events
//	/debug/elections.json    the same as JSON, picture and text;
//	/debug/elections.svg     /debug/elections also answers in these forms if
//	/debug/elections.txt     the header Accept asks for one
//
// The query takes last, a duration such as 10m, and lease, a namespace and a name
// with a slash between.
type debugPages struct{ rec *timeline.Recorder }

// register adds the pages to a mux.
func (d debugPages) register(mux *http.ServeMux) {
	for path, serve := range map[string]func(http.ResponseWriter, *http.Request, view){
		"elections":        d.negotiated,
		"elections.json":   d.json,
		"elections.svg":    d.svg,
		"elections.txt":    d.text,
		"elections/events": d.events,
	} {
		mux.HandleFunc("GET /debug/"+path, func(w http.ResponseWriter, r *http.Request) {
			secure(w.Header())
			v, err := readView(r.URL.Query())
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			serve(w, r, v)
		})
	}
}

// secure forbids a page to load anything from another server.
func secure(h http.Header) {
	h.Set("Content-Security-Policy", contentSecurityPolicy())
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

// view is the part of the timeline that a request asks for.
type view struct {
	last             time.Duration // 0 is all
	namespace, lease string        // "" is all
}

func readView(query url.Values) (v view, err error) {
	if last := query.Get("last"); last != "" {
		if v.last, err = time.ParseDuration(last); err != nil || v.last <= 0 {
			return v, fmt.Errorf("last: want a duration such as 10m")
		}
	}
	if lease := query.Get("lease"); lease != "" {
		var found bool
		if v.namespace, v.lease, found = strings.Cut(lease, "/"); !found {
			return v, fmt.Errorf("lease: want NAMESPACE/NAME")
		}
	}
	return v, nil
}

// query returns the URL query of a view, "" for all.
func (v view) query() string {
	q := url.Values{}
	if v.last > 0 {
		q.Set("last", short(v.last))
	}
	if v.lease != "" {
		q.Set("lease", v.namespace+"/"+v.lease)
	}
	if len(q) == 0 {
		return ""
	}
	return "?" + q.Encode()
}

// short formats a duration without trailing zero units.
func short(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

func (d debugPages) timeline(v view) timeline.Timeline {
	t := d.rec.Timeline()
	if v.lease != "" {
		t = t.Only(v.namespace, v.lease)
	}
	return t.Last(v.last)
}

// negotiated answers with a page unless the header Accept prefers another form.
func (d debugPages) negotiated(w http.ResponseWriter, r *http.Request, v view) {
	w.Header().Set("Vary", "Accept")
	accept := r.Header.Get("Accept")
	switch first, _, _ := strings.Cut(accept, ","); strings.TrimSpace(strings.Split(first, ";")[0]) {
	case "application/json":
		d.json(w, r, v)
	case "image/svg+xml":
		d.svg(w, r, v)
	case "text/plain":
		d.text(w, r, v)
	default:
		d.page(w, r, v)
	}
}

func (d debugPages) json(w http.ResponseWriter, _ *http.Request, v view) {
	w.Header().Set("Content-Type", "application/json")
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.Encode(d.timeline(v)) // fails only if the client has gone
}

func (d debugPages) svg(w http.ResponseWriter, _ *http.Request, v view) {
	w.Header().Set("Content-Type", "image/svg+xml")
	timeline.SVG(w, d.timeline(v))
}

func (d debugPages) text(w http.ResponseWriter, _ *http.Request, v view) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	d.timeline(v).WriteText(w)
}

func (d debugPages) page(w http.ResponseWriter, _ *http.Request, v view) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	writePage(w, v, d.timeline(v))
}

// minPause is the shortest time between two events of a stream, and so the longest
// delay of a change.
const minPause = 200 * time.Millisecond

// events sends the content of the page when something has happened, and when the
// picture looks different because time has passed.
func (d debugPages) events(w http.ResponseWriter, r *http.Request, v view) {
	stream(w, r, d.rec.Changed, func() (map[string]string, time.Duration, error) {
		t := d.timeline(v)
		c, err := newContent(v, t)
		return map[string]string{"leaders": template.HTMLEscapeString(c.Leaders), "picture": string(c.Picture), "tables": string(c.Tables)}, refresh(t), err
	})
}

// stream sends the parts of a page, by the ids of their elements, as server-sent events: all of them at once, and then the parts
// that differ when the channel of changed is closed, and after the time that parts returns.
func stream(w http.ResponseWriter, r *http.Request, changed func() <-chan struct{}, parts func() (map[string]string, time.Duration, error)) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	controller := http.NewResponseController(w)
	timer := time.NewTimer(0)
	defer timer.Stop()
	sent := map[string]string{}
	for {
		next := changed()
		now, again, err := parts()
		if err != nil {
			return
		}
		maps.DeleteFunc(now, func(id, html string) bool { return sent[id] == html })
		maps.Copy(sent, now)
		if len(now) > 0 && (writeEvent(w, now) != nil || controller.Flush() != nil) {
			return // the client has gone
		}
		timer.Reset(minPause)
		select {
		case <-timer.C:
		case <-r.Context().Done():
			return
		}
		timer.Reset(again - minPause)
		select {
		case <-next:
		case <-timer.C:
		case <-r.Context().Done():
			return
		}
	}
}

// refresh returns the time after which a picture looks different even without a change.
func refresh(t timeline.Timeline) time.Duration {
	const pixels = 800
	return min(max(t.Until.Sub(t.From)/pixels, time.Second), time.Minute)
}

// writeEvent writes one event as text/event-stream. Encoded JSON has no line ends.
func writeEvent(w io.Writer, parts map[string]string) error {
	data, err := json.Marshal(parts)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "event: view\ndata: %s\n\n", data)
	return err
}
