package explore

import (
	"bytes"
	"html/template"
	"strings"
	"time"
)

// page is the HTML page of a finding: its run on the left, an undisturbed one on the right. On a narrow screen there is one column, in which what both
// have stands once.
const page = `<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>{{.Headline}} ({{.Test}})</title>
<style>
:root { color-scheme: light dark; --ink: #1c2733; --soft: #5b6b7b; --paper: #fff; --code: #eef1f4; --line: #e4e8ec; --rule: #8796a5; --mark: #f9d9d6; --only: #fdf0d5; --gone: #e6effa }
@media (prefers-color-scheme: dark) {
	:root { --ink: #dde4ea; --soft: #93a3b3; --paper: #14191e; --code: #232b33; --line: #29323a; --rule: #5b6b7b; --mark: #5a2320; --only: #4a3a12; --gone: #1d3550 }
}
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 90rem; padding: 0 1rem; color: var(--ink); background: var(--paper) }
h1 { font-size: 1.4rem; line-height: 1.3; margin: 0 0 .3rem; overflow-wrap: anywhere }
h2 { font-size: 1.05rem; margin: 1.8rem 0 0 }
p, ul { margin: .4rem 0; overflow-wrap: anywhere }
.soft { color: var(--soft) }
code { background: var(--code); padding: .1rem .3rem; border-radius: 3px; overflow-wrap: anywhere }
table { border-collapse: collapse; width: 100%; margin-top: .6rem; table-layout: fixed }
th { text-align: left; position: sticky; top: 0; background: var(--paper); border-bottom: 2px solid var(--rule); padding: .1rem .5rem }
td { font: 13px/1.5 ui-monospace, monospace; vertical-align: top; padding: .1rem .5rem; border-bottom: 1px solid var(--line); overflow-wrap: anywhere }
.diff td { white-space: pre-wrap; border-bottom: 0 }
td.time { color: var(--soft); text-align: right }
col.time { width: 6.5rem } col.who { width: 9rem }
.only td.got { background: var(--only) } .gone td.want { background: var(--gone) } .mark td.got { background: var(--mark); font-weight: 600 }
pre { background: var(--code); padding: .5rem; overflow: auto; max-height: 30rem }
td.fold { color: var(--soft); font-style: italic }
.key span { padding: .1rem .5rem; margin-right: .7rem; white-space: nowrap }
@media (max-width: 62rem) {
	body { margin: 1rem auto }
	table, tbody { display: block }
	thead, colgroup, td.none { display: none }
	tr.both td.want, tr.mark td.want { display: none }
	tr { display: grid; grid-template-columns: 5.5rem minmax(0, 1fr); border-bottom: 1px solid var(--line) }
	td { border-bottom: 0 }
	td.text, .diff td, td.fold { grid-column: 1 / -1 }
	.diff tr { border-bottom: 0 }
}
</style>
<p class="soft">{{.Test}}</p>
<h1>{{.Headline}}</h1>
{{with .Finding.Where}}<p class="soft">{{.}}, when this goes wrong: {{$.Plan}}</p>{{end}}
{{with .Finding.Details}}<ul>{{range .}}<li>{{short .}}</li>{{end}}</ul>{{end}}
<p>Again {{.Finding.Again}} of {{.Finding.Of}} times by <code>{{.Flag}}='{{.Plan}}'</code>{{with .Others}}, and by {{.}} other plans{{end}}.</p>
<p class="key"><span style="background:var(--mark)">the perturbation</span><span style="background:var(--only)">only in this run</span><span style="background:var(--gone)">only undisturbed</span></p>
{{range .Diffs}}<h2>{{.Name}}</h2>
<table class="diff">
<thead><tr><th>this run</th><th>undisturbed</th></tr></thead>
<tbody>
{{range .Lines}}{{if .Left}}<tr><td class="fold" colspan="2">… {{.Left}} equal lines</td></tr>{{else}}<tr class="{{side .}}">{{with .Got}}<td class="got">{{.}}</td>{{else}}<td class="none"></td>{{end}}{{with .Want}}<td class="want">{{.}}</td>{{else}}<td class="none"></td>{{end}}</tr>{{end}}
{{end}}</tbody>
</table>
{{end}}<h2>What happened</h2>
<table class="lanes">
<colgroup><col class="time"><col class="who"><col><col class="time"><col class="who"><col></colgroup>
<thead><tr><th colspan="3">this run</th><th colspan="3">undisturbed</th></tr></thead>
<tbody>
{{range .Lines}}{{if .Folded}}<tr><td class="fold" colspan="6">{{.Fold}}</td></tr>{{else}}<tr class="{{class .}}">{{with .Got}}<td class="time got">{{at .}}</td><td class="who got">{{.Who}}</td><td class="text got">{{.Text}}</td>{{else}}<td class="none" colspan="3"></td>{{end}}{{with .Want}}<td class="time want">{{at .}}</td><td class="who want">{{.Who}}</td><td class="text want">{{.Text}}</td>{{else}}<td class="none" colspan="3"></td>{{end}}</tr>{{end}}
{{end}}</tbody>
</table>
{{range .Finding.Outputs}}<h2>Output of {{.Name}}</h2>
<pre>{{.Text}}</pre>
{{end}}</html>
`

// html returns the page of a finding.
func (f *Finding) html(test string) []byte {
	short := func(text string) string { return strings.TrimPrefix(text, f.Where+": ") }
	class := map[string]string{"!": "mark", "+": "only", "-": "gone", " ": "both"}
	t := template.Must(template.New("page").Funcs(template.FuncMap{
		"short": short,
		"at":    func(e *entry) string { return e.At.Round(time.Millisecond).String() },
		"class": func(l line) string { return class[l.Mark()] },
		"side":  func(l diffLine) string { return class[l.Mark()] },
	}).Parse(page))
	var b bytes.Buffer
	if err := t.Execute(&b, map[string]any{
		"Test": test, "Flag": f.flag, "Headline": short(f.Text), "Finding": f, "Plan": f.Plans[0], "Others": len(f.Plans) - 1, "Diffs": f.diffs, "Lines": f.lines,
	}); err != nil {
		return []byte(err.Error())
	}
	return b.Bytes()
}
