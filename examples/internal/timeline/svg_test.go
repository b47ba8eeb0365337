package timeline

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/candidate"
)

var update = flag.Bool("update", false, "rewrite the files in testdata")

// isGolden compares with a file in testdata.
func isGolden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(file, got, 0o666))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(want), string(got), "go test ./examples/internal/timeline -update rewrites %s; look at it", file)
}

func draw(t *testing.T, tl Timeline) []byte {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, SVG(&out, tl))
	return out.Bytes()
}

// TestPictureWithoutACoordinatorHasNoSignsOfOne is about the legend and the labels of plain Leases.
func TestPictureWithoutACoordinatorHasNoSignsOfOne(t *testing.T) {
	plain := Timeline{From: epoch, Until: after(60), Leases: []Lease{{Namespace: "default", Name: "leader", Spans: []Span{
		{Holder: "a", From: epoch, TakenUp: epoch, LastRenewed: after(20), Until: after(35), Renewals: 10, Began: Acquired, Ended: Expired},
		{Holder: "b", From: after(36), TakenUp: after(36), LastRenewed: after(58), Renewals: 11, Began: Acquired},
	}, Gaps: []Gap{{From: after(35), Until: after(36)}}}}}
	var out strings.Builder
	require.NoError(t, SVG(&out, plain))
	assert.Contains(t, out.String(), ">2 terms, b leads</tspan>")
	assert.Contains(t, out.String(), ">35s</text>")
	for _, sign := range []string{"no candidate", "is a candidate", ">ping<", "any other event", "no strategy"} {
		assert.NotContains(t, out.String(), sign)
	}
	plain.Leases = append(plain.Leases, upgrade().Leases[0])
	out.Reset()
	require.NoError(t, SVG(&out, plain))
	assert.Contains(t, out.String(), ">ping<", "another Lease has pings")
}

func TestPicturesLookAsTheyDid(t *testing.T) {
	for name, tl := range map[string]Timeline{
		"upgrade.svg": upgrade(),
		"empty.svg":   {From: epoch, Until: after(5)},
	} {
		t.Run(name, func(t *testing.T) { isGolden(t, name, draw(t, tl)) })
	}
}

// elements parses a picture and returns its elements.
func elements(t *testing.T, picture []byte) (all []xml.StartElement, text string) {
	t.Helper()
	var words strings.Builder
	d := xml.NewDecoder(bytes.NewReader(picture))
	for {
		tok, err := d.Token()
		if err == io.EOF {
			return all, words.String()
		}
		require.NoError(t, err)
		switch tok := tok.(type) {
		case xml.StartElement:
			all = append(all, tok.Copy())
		case xml.CharData:
			words.Write(tok)
		}
	}
}

// hostile is a Timeline in which all texts are the same.
func hostile(text string) Timeline {
	return Timeline{
		From: epoch, Until: after(60),
		Leases: []Lease{{
			Namespace: text, Name: text, Strategy: text,
			Candidates: []Candidate{{Name: text, Offers: []Offer{
				{From: epoch, Until: after(9), BinaryVersion: text},
				{From: after(9), BinaryVersion: text, EmulationVersion: text, Strategy: text},
			}}},
			Spans: []Span{
				{Holder: text, From: epoch, Until: after(9), TakenUp: after(1), LastRenewed: after(2), Began: Beginning(text), Ended: Ending(text)},
				{Holder: text + "2", From: after(10), Began: Beginning(text)},
			},
			Marks: []Mark{
				{Time: after(3), Type: candidate.ElectionEventType(text), Candidate: text, Text: text},
				{Time: after(4), Type: candidate.Failed, Text: text},
				{Time: after(5), Type: candidate.ElectionEventType(text), Text: text},
			},
		}},
	}
}

func TestHostileTextsStayTexts(t *testing.T) {
	known := map[string]bool{"svg": true, "style": true, "rect": true, "text": true, "tspan": true, "g": true, "title": true, "circle": true, "path": true}
	for name, text := range map[string]string{
		"a script":          `<script>alert(1)</script>`,
		"the end of a tag":  `"/><image href="http://example.com/x.png"/>`,
		"an apostrophe":     `' onload='alert(1)`,
		"the end of CDATA":  `]]></style><style>*{display:none}`,
		"an entity":         `&lt;b&#x3c;`,
		"control signs":     "a\x1b[2J\x00\r\n\tb",
		"turned writing":    "a\u202eb\u2066c",
		"no UTF-8":          "a\xff\xfe\xc0\x80b",
		"percent signs":     `%s%d%!(EXTRA`,
		"a very long text":  strings.Repeat("long", 10000),
		"nothing but blank": "   ",
		"nothing":           "",
	} {
		t.Run(name, func(t *testing.T) {
			picture := draw(t, hostile(text))
			all, words := elements(t, picture)
			styles := 0
			for _, e := range all {
				assert.True(t, known[e.Name.Local], e.Name.Local)
				if e.Name.Local == "style" {
					styles++
				}
				for _, a := range e.Attr {
					assert.False(t, strings.HasPrefix(strings.ToLower(a.Name.Local), "on"), a.Name.Local)
					assert.NotContains(t, []string{"href", "src", "style"}, a.Name.Local)
				}
			}
			assert.Equal(t, 1, styles)
			assert.True(t, strings.Contains(words, clean(short(text, 8)[:min(len(text), 4)])), "it is shown")
			assert.Less(t, len(picture), 100_000)

			var table bytes.Buffer
			require.NoError(t, hostile(text).WriteText(&table))
			for _, out := range []string{string(picture), table.String()} {
				assert.False(t, strings.ContainsFunc(out, func(r rune) bool {
					return r < ' ' && r != '\n' || r == 0x7f || r == '\u202e' || r == '\u2066'
				}))
			}
		})
	}
}

func TestPictureIsBoundedAndSaysWhatIsMissing(t *testing.T) {
	many := crowd(40, 50)
	many.Leases = slices.Repeat(many.Leases, 1000)
	for name, row := range map[string]struct {
		tl   Timeline
		says string
	}{
		"few":                 {crowd(3, 5), "3 candidates"},
		"too many candidates": {crowd(3000, 3), "2970 of them not drawn"},
		"too many terms":      {crowd(30, 3000), "older items not drawn"},
		"too many leases":     {many, "980 more leases are not drawn"},
	} {
		t.Run(name, func(t *testing.T) {
			picture := draw(t, row.tl)
			_, words := elements(t, picture)
			assert.Less(t, len(picture), 4<<20)
			assert.Contains(t, words, row.says)
			assert.Equal(t, name != "few", strings.Contains(words, "not drawn"))
		})
	}
}

func TestOddTimesAreDrawn(t *testing.T) {
	for name, tl := range map[string]Timeline{
		"nothing at all": {},
		"no time passed": {From: epoch, Until: epoch, Leases: upgrade().Leases},
		"time went back": {From: after(9), Until: epoch, Leases: upgrade().Leases},
		"centuries":      {From: time.Time{}, Until: epoch, Leases: upgrade().Leases},
		"all was before": {From: after(1e6), Until: after(2e6), Leases: upgrade().Leases},
	} {
		t.Run(name, func(t *testing.T) {
			picture := draw(t, tl)
			elements(t, picture)
			assert.NotContains(t, string(picture), "NaN")
			assert.NotContains(t, string(picture), "Inf")
		})
	}
}

func TestTicksAreRoundTimes(t *testing.T) {
	for _, row := range []struct {
		lasts time.Duration
		want  []string
	}{
		{10 * time.Millisecond, []string{"09:26:50.000", "09:26:50.002", "09:26:50.004"}},
		{2 * time.Second, []string{"09:26:50.000", "09:26:50.500", "09:26:51.000"}},
		{time.Minute, []string{"09:26:50", "09:27:00", "09:27:10"}},
		{10 * time.Minute, []string{"09:28", "09:30", "09:32"}},
		{24 * time.Hour, []string{"12:00", "15:00", "18:00", "21:00", "Mar 15", "03:00"}},
		{7 * day, []string{"Mar 15", "Mar 16"}},
		{30 * day, []string{"Mar 16", "Mar 23", "Mar 30"}},
		{3 * 365 * day, []string{"Feb 2027", "Jan 2028"}},
	} {
		t.Run(row.lasts.String(), func(t *testing.T) {
			var got []string
			for _, tick := range ticks(epoch, epoch.Add(row.lasts)) {
				got = append(got, tick.label)
			}
			require.GreaterOrEqual(t, len(got), len(row.want), "%q", got)
			assert.Equal(t, row.want, got[:len(row.want)])
			assert.LessOrEqual(t, len(got), maxTicks+1)
		})
	}
}

type brokenWriter struct{}

var errBroken = errors.New("broken")

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }

func TestWriteErrorsAreReturned(t *testing.T) {
	assert.ErrorIs(t, SVG(brokenWriter{}, upgrade()), errBroken)
	assert.ErrorIs(t, upgrade().WriteText(brokenWriter{}), errBroken)
	assert.ErrorIs(t, Timeline{}.WriteText(brokenWriter{}), errBroken)
}
