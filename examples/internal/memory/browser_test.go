package memory

import (
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
	_, stop, url, done := start(t, debugConfig())
	defer func() { stop(); require.NoError(t, <-done) }()
	c := client{t, url}

	b.open(url + "/debug/elections")
	b.wait(textOf("#state") + ` === "live"`)
	assert.Equal(t, "No elections yet", b.textOf("#leaders"))
	assert.Contains(t, b.textOf("#picture svg"), "No lease with an election was seen yet.")

	c.offer("first", "1.37.0", "1.37.0")
	c.hold("first") // within the 5 seconds of an election: a browser may take longer to show it
	b.wait(textOf("#leaders") + ` === "default/main: first leads."`)
	c.offer("better", "1.37.0", "1.36.0")
	b.wait(textOf("#tables") + `.includes("is preferred: the holder is asked to make way")`)
	c.release()
	c.awaitLease(`"holderIdentity":"better"`)
	c.hold("better")
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

	b.open(url + "/debug/elections.svg")
	b.eval(`getComputedStyle(document.querySelector("svg .title")).fontSize`, &styled)
	assert.Equal(t, "18px", styled, "the picture has its style sheet when it stands alone")
	b.clean(url)
}

func TestHostileNamesDoNothingInTheBrowser(t *testing.T) {
	b := startBrowser(t)
	_, stop, url, done := start(t, debugConfig())
	defer func() { stop(); require.NoError(t, <-done) }()
	c := client{t, url}
	c.offer("first", "1.37.0", "1.37.0")
	b.open(url + "/debug/elections")
	b.wait(textOf("#leaders") + `.includes("first")`)
	const evil = `</title></svg><img src=x onerror="window.evil=1"><script>window.evil=1</script>`
	c.hold(evil)
	b.wait(textOf("#tables tbody td") + `.includes("<img")`)
	b.wait(textOf("#picture svg") + `.includes("<img")`)
	b.open(url + "/debug/elections?last=1h")
	b.wait(`location.search && ` + textOf("#state") + ` === "live"`)
	var evils string
	b.eval(`String(window.evil)`, &evils)
	assert.Equal(t, "undefined", evils)
	assert.Zero(t, b.count("img, #picture script, #tables script"))
	b.clean(url)
}
