package memory

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// textOf is an expression for the text of an element, "" where there is none.
func textOf(selector string) string {
	return `(document.querySelector("` + selector + `")?.textContent ?? "")`
}

func (b *browser) textOf(selector string) (text string) {
	b.t.Helper()
	b.eval(textOf(selector), &text)
	return text
}

func (b *browser) count(selector string) (n int) {
	b.t.Helper()
	b.eval(`document.querySelectorAll("`+selector+`").length`, &n)
	return n
}

func TestPageShowsAnElectionAsItHappens(t *testing.T) {
	b := startBrowser(t)
	d := startDebug(t)

	b.open(d.url + "/debug/elections")
	b.wait(textOf("#state") + ` === "live"`)
	assert.Equal(t, "No elections yet", b.textOf("#leaders"))
	assert.Contains(t, b.textOf("#picture svg"), "No lease with a holder or a candidate was seen yet.")

	d.offer("first", "1.37.0", "1.37.0")
	d.hold("first") // within the 5 seconds of an election: a browser may take longer to show it
	b.wait(textOf("#leaders") + ` === "default/main: first leads."`)
	d.offer("better", "1.37.0", "1.36.0")
	b.wait(textOf("#tables") + `.includes("is preferred: the holder is asked to make way")`)
	d.must(200, "PATCH", mainLease, fmt.Sprintf(`{"spec":{"holderIdentity":"","leaseDurationSeconds":1,"renewTime":%q,"strategy":null,"preferredHolder":null}}`, now()), nil)
	d.awaitLease(`"holderIdentity":"better"`)
	d.hold("better")
	b.wait(textOf("#leaders") + ` === "default/main: better leads."`)
	b.wait(textOf("#tables tbody td") + ` === "better leads"`)

	assert.Contains(t, b.textOf("#tables"), "is elected")
	assert.Contains(t, b.textOf("#tables"), "leads, elected, then handed over")
	picture := b.textOf("#picture svg")
	assert.Contains(t, picture, "first leads, elected, then handed over")
	assert.Contains(t, picture, "from first, handed over, to better")
	assert.Contains(t, picture, "1.37.0 as 1.36.0")
	assert.NotZero(t, b.count("#picture svg .prefer"))
	assert.NotZero(t, b.count("#picture svg .hand"))
	assert.Equal(t, 1, b.count("#picture svg"))
	var styled string
	b.eval(`getComputedStyle(document.querySelector("#picture svg .gap, #picture svg .h1")).fill`, &styled)
	assert.NotEqual(t, "rgb(0, 0, 0)", styled, "the style sheet of the picture is let in")
	b.eval(`getComputedStyle(document.querySelector("footer")).borderTopStyle`, &styled)
	assert.Equal(t, "solid", styled, "and the style of the page")

	b.open(d.url + "/debug/elections.svg")
	b.eval(`getComputedStyle(document.querySelector("svg .title")).fontSize`, &styled)
	assert.Equal(t, "18px", styled, "the picture has its style sheet when it stands alone")
	b.clean(d.url)
}

// fill sets the fields of the form whose field do has a value, and sends it. It returns when the next page has begun: the promise ends
// with the old page.
func (b *browser) fill(do string, fields map[string]string) {
	b.t.Helper()
	data, err := json.Marshal(fields)
	require.NoError(b.t, err)
	err = b.call("Runtime.evaluate", object{"awaitPromise": true, "expression": `new Promise(() => {
		const form = document.querySelector('input[name=do][value=` + do + `]').form;
		for (const [name, value] of Object.entries(` + string(data) + ` || {})) { form.elements[name].value = value; }
		form.requestSubmit();
	})`}, nil)
	require.ErrorContains(b.t, err, "navigated")
}

func TestPageOfAServerIsLiveAndAFormWorks(t *testing.T) {
	b := startBrowser(t)
	d := startDebug(t)
	b.open(d.url + "/debug/")
	b.wait(textOf("#state") + ` === "live"`)
	assert.Contains(t, b.textOf("#requests"), "No request has come yet.")

	d.must(201, "POST", leases, named("a"), nil)
	b.wait(textOf("#requests code") + ` === "create leases default/a 201"`)
	b.wait(textOf("#history tbody th") + ` === "default/a"`)

	b.fill("fault", map[string]string{"verb": "update", "resource": "lease", "first": "none", "action": "answer", "value": "99", "name": "<b>"})
	b.wait(textOf("#state") + ` === "live"`)
	assert.Equal(t, `got "none", want a whole number`, b.textOf("input[name=first] + .error"))
	assert.Equal(t, 1, b.count(".error"), "the code is looked at when the numbers are numbers")
	assert.Equal(t, "update", b.valueOf("select[name=verb]"), "what was typed is kept")
	assert.Equal(t, "<b>", b.valueOf("input[name=name]"))
	var faults struct{ Faults []any }
	d.must(200, "GET", "/debug/faults", "", &faults)
	require.Empty(t, faults.Faults, "nothing has changed")

	b.fill("fault", map[string]string{"first": "2", "value": "409", "name": ""})
	b.wait(textOf("#faults td + td") + `.includes("answer 409")`)
	assert.Zero(t, b.count(".error"))
	assert.Equal(t, 409, d.code("PUT", leaseA, "{}"))
	b.wait(textOf("#faults td:nth-child(4)") + ` === "1"`)
	b.wait(textOf("#requests .bad code") + ` === "update leases default/a 409"`)
	assert.Equal(t, "1 ", b.textOf("#requests .bad td:last-child"), "the fault that it has met")
	b.fill("remove", nil)
	b.wait(textOf("#faults") + `.includes("No request meets a fault.")`)

	b.clean(d.url)
}

// valueOf returns the value of a field.
func (b *browser) valueOf(selector string) (value string) {
	b.t.Helper()
	b.eval(`document.querySelector("`+selector+`").value`, &value)
	return value
}
