package memory

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/endpoints"
	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/httpapi/apitest/explore"
	"github.com/kubecoord/kubecoord/httpapi/client"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
	"github.com/kubecoord/kubecoord/watch"
)

var pictures = flag.String("pictures", "", "write the pictures of the pages to this `directory`")

// user sends requests as one client.
type user struct {
	tester
	agent string
}

func (u user) send(method, path, body string, want int) {
	u.t.Helper()
	code, _, text := u.do(method, path, body, "User-Agent", u.agent+" (linux/amd64) kubernetes/$Format")
	require.Equal(u.t, want, code, "%s %s: %s", method, path, text)
}

// hold writes a Lease as its holder does.
func (u user) hold(name, holder string, want int) {
	u.t.Helper()
	var now struct{ Now string }
	u.must(200, "GET", "/debug/clock", "", &now)
	spec := fmt.Sprintf(`{"spec":{"holderIdentity":%q,"leaseDurationSeconds":15,"renewTime":%q}}`, holder, strings.TrimSuffix(now.Now, "Z")+".000000Z")
	u.send("PATCH", leases+"/"+name, spec, want)
}

// playElections plays three electors of one Lease and two of another one, by the clock of the server.
func playElections(t *testing.T, d tester) {
	forward := func(seconds int) {
		d.must(200, "POST", "/debug/clock", fmt.Sprintf(`{"forward":"%ds"}`, seconds), nil)
	}
	as := func(name string) user { return user{d, name + "/v1.4.0"} }
	for _, name := range []string{"backup-operator", "ingress-controller"} {
		as("setup").send("POST", leases, named(name), 201)
	}
	// hold renews each two seconds, as client-go does.
	hold := func(name, holder string, seconds int) {
		for range seconds / 2 {
			as(holder).hold(name, holder, 200)
			forward(2)
		}
	}
	hold("backup-operator", "backup-operator-7d4b", 10)
	for range 12 {
		as("backup-operator-7d4b").hold("backup-operator", "backup-operator-7d4b", 200)
		as("ingress-controller-a").hold("ingress-controller", "ingress-controller-a", 200)
		forward(2)
	}
	as("ingress-controller-a").hold("ingress-controller", "", 200) // released
	forward(1)
	for range 5 { // the holder of the first one is dead
		as("ingress-controller-b").hold("ingress-controller", "ingress-controller-b", 200)
		forward(3)
	}
	both := func(times, want int) {
		for range times {
			as("ingress-controller-b").hold("ingress-controller", "ingress-controller-b", 200)
			as("backup-operator-x9k2").hold("backup-operator", "backup-operator-x9k2", want)
			forward(2)
		}
	}
	both(14, 200)
	d.must(201, "POST", "/debug/faults", `{"verb":"patch","resource":"leases","name":"backup-operator","first":3,"answer":{"code":503}}`, nil)
	d.must(201, "POST", "/debug/faults", `{"verb":"watch","userAgent":"ingress-controller","tear":{"after":10}}`, nil)
	both(3, 503)
	as("kubectl").send("GET", "/apis/coordination.k8s.io/v1/leases?limit=500", "", 200)
	as("ingress-controller-c").send("GET", leases+"/gateway", "", 404)
	both(1, 200)
}

// startElections returns a server on which playElections was played.
func startElections(t *testing.T) tester {
	d := startDebug(t, func(c *config) { c.clock, c.History = "2026-01-01T09:00:00Z", 1000 })
	playElections(t, d)
	return d
}

// writePicture writes a picture if -pictures asks for it.
func writePicture(t *testing.T, name string, data []byte) {
	assert.Less(t, len(data), 200<<10, name)
	if *pictures != "" {
		require.NoError(t, os.WriteFile(filepath.Join(*pictures, name), data, 0o644))
	}
}

// The pictures of docs/pictures are made by
//
//	go test ./examples/internal/memory -run Pictures -pictures "$PWD/docs/pictures"

func TestPicturesOfTheElectionAreOfToday(t *testing.T) {
	d := startElections(t)
	code, _, svg := d.do("GET", "/debug/elections.svg", "")
	require.Equal(t, 200, code)
	for _, text := range []string{"acquired, 16 renewals, then expired", "then released", "2 terms, backup-operator-x9k2 leads"} {
		assert.Contains(t, svg, text)
	}
	writePicture(t, "election.svg", []byte(svg))
	kept, err := os.ReadFile("../../../docs/pictures/election.svg")
	require.NoError(t, err)
	assert.True(t, svg == string(kept), "docs/pictures/election.svg is old: make the pictures again, and look at them")
}

func TestPicturesOfThePagesCanBeMade(t *testing.T) {
	b := startBrowser(t)
	d := startElections(t)
	d.must(201, "POST", "/debug/forks", `{"name":"before-upgrade"}`, nil)
	shot := func(name string) {
		b.must("Emulation.setDeviceMetricsOverride", object{"width": 1180, "height": 860, "deviceScaleFactor": 1, "mobile": false}, nil)
		b.must("Emulation.setScrollbarsHidden", object{"hidden": true}, nil)
		b.wait(textOf("#state") + ` === "live"`)
		var picture struct{ Data []byte }
		b.must("Page.captureScreenshot", object{"format": "png"}, &picture)
		writePicture(t, name, picture.Data)
	}
	b.open(d.url + "/debug/")
	b.wait(textOf("#requests") + `.includes("patch leases default/backup-operator 503")`)
	shot("debug.png")
	b.open(d.url + "/debug/elections")
	b.wait(textOf("#tables") + `.includes("then expired")`)
	shot("elections.png")
	b.clean(d.url)
}

// mirror makes an Endpoints of the name of each Lease, and deletes it with the Lease. It sees events only: what happens while it is down is lost.
func mirror(ctx context.Context, c explore.Conn) error {
	api, err := client.New(client.Config{Server: c.Host, Transport: c.Transport, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	leases, children := client.In(api, lease.Kind()), client.In(api, endpoints.Kind())
	for e, err := range leases.Follow(ctx, store.WatchOptions{Namespace: "default"}) {
		switch {
		case err != nil:
			return err
		case e.Type == watch.Deleted:
			_, err = children.Delete(ctx, "default", e.Object.Name, store.DeleteOptions{})
		case e.Object != nil:
			child := &endpoints.Endpoints{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: e.Object.Name, Labels: map[string]string{"app": "shop"}}}
			_, err = children.Create(ctx, child, store.CreateOptions{})
		}
		if err != nil && !errors.Is(err, store.ErrNotFound) && !errors.Is(err, store.ErrAlreadyExists) {
			return err
		}
	}
	return nil
}

// shop is a step that creates or deletes the Lease shop.
func shop(name string, do func(ctx context.Context, leases *client.Collection[lease.Lease]) error) explore.Step {
	return explore.Step{Name: name, Do: func(ctx context.Context, c explore.Conn) error {
		api, err := client.New(client.Config{Server: c.Host, Transport: c.Transport, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			return err
		}
		return do(ctx, client.In(api, lease.Kind()))
	}}
}

func TestPicturesOfAFindingCanBeMade(t *testing.T) {
	b := startBrowser(t)
	report, err := explore.Explore(t, explore.Scenario{
		API:         apitest.New(t),
		Controllers: []explore.Controller{{Name: "mirror", Run: mirror}},
		Steps: []explore.Step{
			shop("create shop", func(ctx context.Context, leases *client.Collection[lease.Lease]) error {
				_, err := leases.Create(ctx, &lease.Lease{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "shop"}}, store.CreateOptions{})
				return err
			}),
			shop("delete shop", func(ctx context.Context, leases *client.Collection[lease.Lease]) error {
				_, err := leases.Delete(ctx, "default", "shop", store.DeleteOptions{})
				return err
			}),
		},
	}, explore.Options{Dir: t.TempDir(), Plans: []string{"crash-before delete endpoints default/shop #1"}})
	require.NoError(t, err)
	require.Len(t, report.Findings, 1)
	page, err := os.ReadFile(report.Findings[0].Page)
	require.NoError(t, err)
	d := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Write(page)
	}))
	defer d.Close()
	b.must("Emulation.setScrollbarsHidden", object{"hidden": true}, nil)
	b.open(d.URL + "/debug/")
	b.wait(textOf("h1") + ` === "endpoints default/shop exists, in the undisturbed run it does not"`)
	b.must("Emulation.setDeviceMetricsOverride", object{"width": 1180, "height": 860, "deviceScaleFactor": 1, "mobile": false}, nil)
	var picture struct{ Data []byte }
	b.must("Page.captureScreenshot", object{"format": "png"}, &picture)
	writePicture(t, "finding.png", picture.Data)
	b.clean(d.URL)
}
