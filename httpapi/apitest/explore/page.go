package explore

import (
	"bytes"
	"html/template"
	"time"
)

// page is the HTML page of a finding: its run on the left, an undisturbed one on the right.
const page = `<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{.Test}}: {{.Finding.Text}}</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 90rem; padding: 0 1rem; color: #1c2733; background: #fff }
h1 { font-size: 1.3rem; margin-bottom: .3rem }
code { background: #eef1f4; padding: .1rem .3rem; border-radius: 3px; overflow-wrap: anywhere }
table { border-collapse: collapse; width: 100%; margin-top: 1rem; table-layout: fixed }
th { text-align: left; position: sticky; top: 0; background: #fff; border-bottom: 2px solid #8796a5 }
td { font: 13px/1.5 ui-monospace, monospace; vertical-align: top; padding: .1rem .5rem; border-bottom: 1px solid #e4e8ec; overflow-wrap: anywhere }
td.time { color: #5b6b7b; text-align: right }
col.time { width: 6.5rem } col.who { width: 9rem }
tr.only td.got { background: #fdf0d5 } tr.gone td.want { background: #e6effa } tr.mark td.got { background: #f9d9d6; font-weight: 600 }
.key span { padding: .1rem .5rem; margin-right: .7rem }
</style>
<h1>{{.Finding.Text}}</h1>
{{range .Finding.Details}}<p>{{.}}</p>{{end}}
<p>Again {{.Finding.Again}} of {{.Finding.Of}} times by <code>-explore.plan='{{index .Finding.Plans 0}}'</code>{{with .Others}}, and by {{.}} other plans{{end}}.</p>
<p class="key"><span style="background:#f9d9d6">the perturbation</span><span style="background:#fdf0d5">only in this run</span><span style="background:#e6effa">only undisturbed</span></p>
<table>
<colgroup><col class="time"><col class="who"><col><col class="time"><col class="who"><col></colgroup>
<thead><tr><th colspan="3">this run</th><th colspan="3">undisturbed</th></tr></thead>
<tbody>
{{range .Lines}}<tr class="{{class .}}">{{with .Got}}<td class="time got">{{at .}}</td><td class="got">{{.Who}}</td><td class="got">{{.Text}}</td>{{else}}<td colspan="3"></td>{{end}}{{with .Want}}<td class="time want">{{at .}}</td><td class="want">{{.Who}}</td><td class="want">{{.Text}}</td>{{else}}<td colspan="3"></td>{{end}}</tr>
{{end}}</tbody>
</table>
</html>
`

// html returns the page of a finding.
func (f *Finding) html(test string) []byte {
	t := template.Must(template.New("page").Funcs(template.FuncMap{
		"at":    func(e *entry) string { return e.At.Round(time.Millisecond).String() },
		"class": func(l line) string { return map[string]string{"!": "mark", "+": "only", "-": "gone"}[l.Mark()] },
	}).Parse(page))
	var b bytes.Buffer
	if err := t.Execute(&b, map[string]any{"Test": test, "Finding": f, "Others": len(f.Plans) - 1, "Lines": f.lines}); err != nil {
		return []byte(err.Error())
	}
	return b.Bytes()
}
