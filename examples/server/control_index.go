package main

import (
	_ "embed"
	"html/template"
	"net/http"
	"strings"
)

//go:embed page/index.html
var indexTemplate string

var indexPage = template.Must(template.New("").Parse(indexTemplate))

// index lists what there is, as a page for browsers and else as JSON.
func (c control) index(w http.ResponseWriter, r *http.Request) error {
	doors := []door{{Method: "GET", Path: "/debug/elections", What: "who leads and who led, as a page that follows; .json, .svg and .txt for the same"}}
	for _, d := range c.doors() {
		d.Path = strings.TrimSuffix(d.Path, "{$}")
		doors = append(doors, d)
	}
	w.Header().Set("Vary", "Accept")
	if !strings.HasPrefix(r.Header.Get("Accept"), "text/html") {
		return answer(w, http.StatusOK, map[string]any{"world": c.name, "doors": doors})
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	return indexPage.Execute(w, map[string]any{
		"Style": template.HTML("<style>" + pageStyle + "</style>"), "World": c.name, "Doors": doors,
	})
}

// Link returns where a browser can go from the index, or "".
func (d door) Link() string {
	if d.Method != "GET" || strings.Contains(d.Path, "{") {
		return ""
	}
	return strings.TrimPrefix(d.Path, "/debug/")
}
