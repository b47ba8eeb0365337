package explore

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A page in a browser: both lanes are there, what differs has a color, by day and by night, and nothing is wider than the window or narrower than
// can be read.
func TestPageInABrowser(t *testing.T) {
	browser := os.Getenv("CHROMIUM")
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "headless-shell"} {
		if path, err := exec.LookPath(name); err == nil && browser == "" {
			browser = path
		}
	}
	if browser == "" {
		t.Skip("no browser: looked for $CHROMIUM, chromium, chromium-browser and google-chrome")
	}
	s := Scenario{Steps: []Step{create("a"), {"delete a", func(ctx context.Context, c Conn) error {
		_, _, err := ask(ctx, c, "DELETE", leases+"/a", "")
		return err
	}}}, Controllers: once(func(ctx context.Context, c Conn) error {
		_, body, err := ask(ctx, c, "GET", leases+"/a", "")
		if err != nil || strings.Contains(body, `"done"`) {
			return err
		}
		if _, _, err := ask(ctx, c, "POST", endpoints, `{"metadata":{"generateName":"a-child-with-a-name-that-is-very-long-indeed-and-must-be-broken-somewhere-"}}`); err != nil {
			return err
		}
		_, _, err = ask(ctx, c, "PATCH", leases+"/a", `{"metadata":{"labels":{"done":"yes"}}}`)
		return err
	})}
	dir := t.TempDir()
	r := exploring(t, s, Options{Dir: dir, Plans: []string{"crash-before patch leases default/a #1"}})
	require.Len(t, r.Findings, 1)
	page, err := os.ReadFile(r.Findings[0].Page)
	require.NoError(t, err)
	const look = `<script>
const color = selector => { const e = document.querySelector(selector); return e ? getComputedStyle(e).backgroundColor : "none" };
const texts = [...document.querySelectorAll(".lanes td.text, .diff td.got, .diff td.want")].filter(e => e.offsetWidth > 0);
document.body.dataset.seen = [
	document.querySelector("h1").textContent, document.querySelectorAll(".lanes tbody tr").length, color("tr.mark td.got"), color("tr.only td.got"), color("body"),
	document.documentElement.scrollWidth <= innerWidth ? "fits" : "too wide", Math.min(...texts.map(e => e.offsetWidth)) >= 200 ? "can be read" : "too narrow",
	document.querySelectorAll(".diff .only td.got").length > 0 ? "a diff" : "no diff",
].join(" | ");
</script>`
	looking := filepath.Join(dir, "looking.html")
	require.NoError(t, os.WriteFile(looking, append(page, look...), 0o600))
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for name, c := range map[string]struct {
		width  int
		scheme string
		colors string
	}{
		"day": {1400, "1", "rgb(249, 217, 214) | rgb(253, 240, 213) | rgb(255, 255, 255)"}, "tablet": {900, "1", "rgb(249, 217, 214) | rgb(253, 240, 213) | rgb(255, 255, 255)"},
		"telephone": {500, "1", "rgb(249, 217, 214) | rgb(253, 240, 213) | rgb(255, 255, 255)"}, "night": {500, "0", "rgb(90, 35, 32) | rgb(74, 58, 18) | rgb(20, 25, 30)"},
	} {
		cmd := exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage", "--disable-background-networking",
			"--blink-settings=preferredColorScheme="+c.scheme, fmt.Sprintf("--window-size=%d,900", c.width), "--user-data-dir="+filepath.Join(dir, "profile"), "--dump-dom", "file://"+looking)
		cmd.WaitDelay = 20 * time.Second
		out, err := cmd.Output()
		require.NoError(t, err)
		_, seen, _ := strings.Cut(string(out), `data-seen="`)
		seen, _, _ = strings.Cut(seen, `"`)
		const headline = "there are 2 endpoints default/a-child-with-a-name-that-is-very-long-indeed-and-must-be-b*, in the undisturbed run 1"
		assert.Equal(t, fmt.Sprintf("%s | %d | %s | fits | can be read | a diff", headline, len(r.Findings[0].lines), c.colors), seen, name)
	}
	if keep := os.Getenv("EXPLORE_PAGE"); keep != "" {
		require.NoError(t, os.WriteFile(keep, page, 0o644))
	}
}
