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
