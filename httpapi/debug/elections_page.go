package debug

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/kubecoord/kubecoord/internal/timeline"
)

var (
	//go:embed page/elections.html
	pageTemplate string
	//go:embed page/style.css
	pageStyle string
	//go:embed page/live.js
	pageScript string
	//go:embed page/overview.html
	overviewTemplate string
)

// pages has the templates of both pages.
var pages = sync.OnceValue(func() *template.Template {
	return template.Must(template.Must(template.New("").Parse(pageTemplate)).Parse(overviewTemplate))
})

// contentSecurityPolicy allows the style sheets and the script in the page, by their
// hashes, and the stream of its own server.
var contentSecurityPolicy = sync.OnceValue(func() string {
	return strings.Join([]string{
		"default-src 'none'",
		"style-src " + hash(pageStyle) + " " + hash(timeline.Style()),
		"script-src " + hash(pageScript),
		"connect-src 'self'",
		"base-uri 'none'",
		"form-action 'self'",
		"frame-ancestors 'none'",
	}, "; ")
})

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// content is the part of the page that changes.
type content struct {
	Leaders         string
	Picture, Tables template.HTML
}

func newContent(v view, t timeline.Timeline) (content, error) {
	var picture, tables bytes.Buffer
	if err := timeline.SVG(&picture, t); err != nil {
		return content{}, err
	}
	if err := pages().ExecuteTemplate(&tables, "tables", newTables(v, t)); err != nil {
		return content{}, err
	}
	return content{leaders(t), template.HTML(picture.String()), template.HTML(tables.String())}, nil
}

// window is a link to a period.
type window struct {
	Name, Link string
	Current    bool
}

func windows(v view) (all []window) {
	for _, w := range []struct {
		name string
		last time.Duration
	}{{"1 minute", time.Minute}, {"10 minutes", 10 * time.Minute}, {"1 hour", time.Hour}, {"1 day", 24 * time.Hour}, {"all", 0}} {
		link := v
		link.last = w.last
		all = append(all, window{w.name, "elections" + link.query(), v.last == w.last})
	}
	return all
}

func writePage(out io.Writer, v view, t timeline.Timeline) error {
	c, err := newContent(v, t)
	if err != nil {
		return err
	}
	lease := ""
	if v.lease != "" {
		lease = v.namespace + "/" + v.lease
	}
	return pages().ExecuteTemplate(out, "page", struct {
		content
		Style, Script template.HTML
		Windows       []window
		Lease, Query  string
	}{
		c, template.HTML("<style>" + pageStyle + "</style>"), template.HTML("<script>" + pageScript + "</script>"),
		windows(v), lease, v.query(),
	})
}

// leaders returns one line that names the leaders.
func leaders(t timeline.Timeline) string {
	const most = 3
	var parts []string
	for i, l := range t.Leases {
		if i == most {
			parts = append(parts, fmt.Sprintf("and %d more leases", len(t.Leases)-most))
			break
		}
		parts = append(parts, fmt.Sprintf("%s/%s: %s", l.Namespace, l.Name, l.Now()))
	}
	if parts == nil {
		return "No elections yet"
	}
	return strings.Join(parts, "; ") + "."
}

// Bounds of the tables. The JSON form has no bounds.
const (
	maxLeases  = 200
	maxDetails = 20
	maxRows    = 60
)

type tables struct {
	Leases     []leaseRow
	MoreLeases int
	Details    []details
}

type leaseRow struct {
	Name, Link, Leader, Since, Strategy string
	Contenders, Terms                   int
}

type details struct {
	Name     string
	Rows     []eventRow
	MoreRows int
}

type eventRow struct{ Time, Lasted, Who, What string }

func newTables(v view, t timeline.Timeline) (all tables) {
	all.MoreLeases = max(len(t.Leases)-maxLeases, 0)
	for i, l := range t.Leases[:len(t.Leases)-all.MoreLeases] {
		link := view{v.last, l.Namespace, l.Name}
		row := leaseRow{
			Name: l.Namespace + "/" + l.Name, Link: "elections" + link.query(), Leader: l.Now(), Strategy: l.Strategy,
			Contenders: l.Contenders(), Terms: len(l.Spans),
		}
		if l.Leader() != "" {
			row.Since = stamp(l.Spans[len(l.Spans)-1].From)
		}
		all.Leases = append(all.Leases, row)
		if i < maxDetails {
			all.Details = append(all.Details, newDetails(l, t.Until))
		}
	}
	return all
}

func newDetails(l timeline.Lease, until time.Time) details {
	rows := l.Rows(until)
	d := details{Name: l.Namespace + "/" + l.Name, MoreRows: max(len(rows)-maxRows, 0)}
	for i := len(rows) - 1; i >= d.MoreRows; i-- {
		r := rows[i]
		row := eventRow{Time: stamp(r.Time), Who: cmp.Or(r.Who, "-"), What: r.What}
		if r.Lasted > 0 {
			row.Lasted = timeline.Round(r.Lasted).String()
		}
		d.Rows = append(d.Rows, row)
	}
	return d
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05.000") }
