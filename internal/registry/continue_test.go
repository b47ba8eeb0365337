package registry_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

// token returns a continue token of the given JSON text.
func token(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }

func tokenOf(version, start string) string {
	s, _ := json.Marshal(start)
	return token(`{"v":"meta.k8s.io/v1","rv":` + version + `,"start":` + string(s) + `}`)
}

func TestTokenNamesVersionAndKey(t *testing.T) {
	leases := leasesIn(newStore(t))
	createAll(t, leases, "a/x", "a/y", "b/x")
	for name, row := range map[string]struct {
		opts registry.ListOptions
		want string
	}{
		"across namespaces":  {registry.ListOptions{Limit: 2}, `{"v":"meta.k8s.io/v1","rv":1003,"start":"/a/y\u0000"}`},
		"in a namespace":     {registry.ListOptions{Limit: 1, Namespace: "a"}, `{"v":"meta.k8s.io/v1","rv":1003,"start":"/x\u0000"}`},
		"at an older state":  {registry.ListOptions{Limit: 1, ResourceVersion: "1002"}, `{"v":"meta.k8s.io/v1","rv":1002,"start":"/a/x\u0000"}`},
		"on from the latest": {registry.ListOptions{Limit: 1, Continue: tokenOf("-1", "/a/x\x00")}, `{"v":"meta.k8s.io/v1","rv":1003,"start":"/a/y\u0000"}`},
	} {
		t.Run(name, func(t *testing.T) {
			_, m := mustList(t, leases, row.opts)
			text, err := base64.RawURLEncoding.DecodeString(m.Continue)
			require.NoError(t, err)
			assert.Equal(t, row.want, string(text))
		})
	}
}

// A real server reads only the first page in the namespace that the selector
// names, and takes the key where it ended for one across all namespaces.
func TestSecondPageOfASelectedNamespaceStartsAgainOrEnds(t *testing.T) {
	leases := leasesIn(newStore(t))
	createAll(t, leases, "ns/a", "ns/b", "other/a", "zz/x", "zz/y")
	for namespace, want := range map[string][]string{"ns": {"ns/a", "ns/a", "ns/b"}, "zz": {"zz/x", "zz/x", "zz/y"}, "other": {"other/a"}} {
		var got []string
		opts := registry.ListOptions{Limit: 1, FieldSelector: "metadata.namespace=" + namespace}
		for more := true; more; more = opts.Continue != "" {
			items, m := mustList(t, leases, opts)
			got, opts.Continue = append(got, paths(items)...), m.Continue
		}
		assert.Equal(t, want, got)
	}
	createAll(t, leases, "b/c", "b/d")
	items, m := mustList(t, leases, registry.ListOptions{Limit: 1, FieldSelector: "metadata.namespace=b"})
	assert.Equal(t, []string{"b/c"}, paths(items))
	items, _ = mustList(t, leases, registry.ListOptions{Limit: 1, FieldSelector: "metadata.namespace=b", Continue: m.Continue})
	assert.Empty(t, items, "c is behind b")

	items, _ = mustList(t, leases, registry.ListOptions{FieldSelector: "metadata.namespace=ns,metadata.name=a", Continue: tokenOf("1003", "/ns/a")})
	assert.Equal(t, []string{"ns/a"}, paths(items))
}

func TestForgedTokensAreRefused(t *testing.T) {
	const invalid = "invalid continue token: continue key is not valid: "
	for name, row := range map[string]struct{ token, want string }{
		"no base64":               {"!", "illegal base64 data at input byte 0"},
		"padded base64":           {"e30=", "illegal base64 data at input byte 3"},
		"no JSON":                 {token("x"), "invalid character 'x' looking for beginning of value"},
		"a number":                {token(`123`), "json: cannot unmarshal number into Go value of type storage.continueToken"},
		"another type":            {token(`{"v":"meta.k8s.io/v1","rv":"5","start":"a"}`), "json: cannot unmarshal string into Go struct field continueToken.rv of type int64"},
		"another version":         {token(`{"v":"v2","rv":1003,"start":"a"}`), "server does not recognize this encoded version v2"},
		"nothing in it":           {token(`{}`), "server does not recognize this encoded version "},
		"version zero":            {tokenOf("0", "/a"), "incorrect encoded start resourceVersion (version meta.k8s.io/v1)"},
		"no key":                  {tokenOf("1003", ""), "encoded start key empty (version meta.k8s.io/v1)"},
		"a path that climbs":      {tokenOf("1003", "../x"), "../x"},
		"a rooted path to climb":  {tokenOf("1003", "/../x"), "/../x"},
		"a path up and down":      {tokenOf("1003", "/a/../b/x"), "/a/../b/x"},
		"a path with a dot":       {tokenOf("1003", "/./x"), "/./x"},
		"a path with two slashes": {tokenOf("1003", "//x"), "//x"},
		"a path to a folder":      {tokenOf("1003", "/a/"), "/a/"},
	} {
		t.Run(name, func(t *testing.T) {
			leases := leasesIn(newStore(t))
			createAll(t, leases, "a/x", "a/y", "b/x")
			_, _, err := leases.List(t.Context(), registry.ListOptions{Continue: row.token, Namespace: "a"})
			assertStatus(t, err, 400, store.ErrBadRequest, invalid+row.want)
		})
	}
}

// "b-c/x" comes before "b/x".
func TestTokenWithoutASlashStartsBeforeAllThatBeginsWithIt(t *testing.T) {
	leases := leasesIn(newStore(t))
	createAll(t, leases, "a/x", "b-c/x", "b/x", "c/x")
	items, _ := mustList(t, leases, registry.ListOptions{Continue: tokenOf("1004", "/b")})
	assert.Equal(t, []string{"b-c/x", "b/x", "c/x"}, paths(items))
}

func TestTokenFromTheFutureIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStore(t)
		leases := leasesIn(st)
		createAll(t, leases, "a/x")
		began := time.Now()
		opts := registry.ListOptions{Continue: tokenOf("1002", "/a/x\x00")}
		_, _, err := leases.List(t.Context(), opts)
		assertStatus(t, err, 504, store.ErrTimeout, "Timeout: Too large resource version: 1002, current: 1001")
		assert.Equal(t, 3*time.Second, time.Since(began))

		time.AfterFunc(time.Second, func() { createAll(t, leases, "a/y") })
		items, _ := mustList(t, leases, opts)
		assert.Equal(t, []string{"a/y"}, paths(items))
		assert.Equal(t, 4*time.Second, time.Since(began))
	})
}

// Every version below zero is the current state (upstream: apiserver, storage/interfaces.go, "If continueRV < 0").
func TestTokenOfANegativeVersionGoesOnInTheCurrentState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leases := leasesIn(newStore(t))
		createAll(t, leases, "a/x", "a/y", "a/z")
		began := time.Now()
		for _, version := range []string{"-1", "-2", "-1003", "-9223372036854775808"} {
			items, m := mustList(t, leases, registry.ListOptions{Limit: 1, Continue: tokenOf(version, "/a/x\x00")})
			assert.Equal(t, []string{"a/y"}, paths(items), version)
			assert.Equal(t, meta.ListMeta{ResourceVersion: "1003", Continue: tokenOf("1003", `/a/y`+"\x00"), RemainingItemCount: new(int64(1))}, m, version)
		}
		assert.Zero(t, time.Since(began), "none was waited for")
	})
}

// FuzzContinueToken demands that no token, whatever it is, does more than
// select where a list starts.
func FuzzContinueToken(f *testing.F) {
	for _, seed := range []string{"", "!", token("{}"), tokenOf("1003", "/a/x\x00"), tokenOf("-1", "b"), tokenOf("1", "/a"), tokenOf("9", "../x"),
		tokenOf("99999", "/"), tokenOf("99", "/"), tokenOf("-9223372036854775808", "/a"), tokenOf("1002", "/\xff"), token(`{"v":"meta.k8s.io/v1","rv":1e3,"start":"a"}`)} {
		f.Add(seed, int64(1))
	}
	st := newStore(f)
	leases := leasesIn(st)
	createAll(f, leases, "a/x", "a/y", "b/x", "c/x")
	ctx, cancel := context.WithCancel(f.Context())
	cancel() // nothing is waited for
	f.Fuzz(func(t *testing.T, token string, limit int64) {
		for _, namespace := range []string{"", "a"} {
			items, m, err := leases.List(ctx, registry.ListOptions{Namespace: namespace, Continue: token, Limit: limit})
			if err != nil {
				if !errors.Is(err, store.ErrBadRequest) && !errors.Is(err, store.ErrExpired) && !errors.Is(err, context.Canceled) {
					t.Fatalf("token %q: got %v, want a 400 or 410", token, err)
				}
				first := tokenOf("-1", "") // of the key "/", whose slash it lacks: see expiredContinue
				if status, ok := errors.AsType[*meta.StatusError](err); ok && status.Status.Continue != "" && status.Status.Continue != first {
					if _, _, err := leases.List(ctx, registry.ListOptions{Namespace: namespace, Continue: status.Status.Continue}); err != nil {
						t.Fatalf("token %q: the one to go on with is refused: %v", token, err)
					}
				}
				continue
			}
			got := paths(items)
			if !slices.IsSorted(got) || limit > 0 && int64(len(got)) > limit {
				t.Fatalf("token %q, limit %d: got %q", token, limit, got)
			}
			for _, l := range items {
				if namespace != "" && l.Namespace != namespace {
					t.Fatalf("token %q: got %q in a list of %q", token, got, namespace)
				}
			}
			if m.Continue != "" {
				if _, _, err := leases.List(ctx, registry.ListOptions{Namespace: namespace, Continue: m.Continue}); err != nil {
					t.Fatalf("token %q: the next one is refused: %v", token, err)
				}
			}
		}
	})
}
