package migrate

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
)

// mistake is a mistake of code that uses a client of type C.
type mistake[C any] struct {
	what string
	// says is a part of the error here.
	says string
	// fault, if not nil, makes the API do what a real server may do at any time.
	fault func(*apitest.API)
	// run makes the mistake. It returns nil if nobody notices.
	run func(ctx context.Context, client C) error
}

// expect returns an error if got is not want.
func expect[T comparable](what string, got, want T) error {
	if got == want {
		return nil
	}
	return fmt.Errorf("%s is %#v", what, got)
}

// testMistakes runs each mistake on each fake of a module, where it must stay hidden, and on an API, which must report it. The table of
// docs/migrate.md has the mistakes by module: a row for the module, and a row for both modules.
func testMistakes[C any](t *testing.T, mistakes []mistake[C], module string, fakes map[string]func(*testing.T) C, open func(*testing.T, func(*apitest.API)) C) {
	t.Helper()
	var want []string
	for _, m := range mistakes {
		t.Run(m.what, func(t *testing.T) {
			for name, fake := range fakes {
				t.Run(name, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { assert.NoError(t, m.run(t.Context(), fake(t))) })
				})
			}
			synctest.Test(t, func(t *testing.T) {
				err := m.run(t.Context(), open(t, m.fault))
				require.ErrorContains(t, err, m.says)
			})
		})
		require.NotEmpty(t, m.says)
		want = append(want, m.what)
	}
	page, err := os.ReadFile("../../../../../docs/migrate.md")
	require.NoError(t, err)
	var rows []string
	for _, row := range regexp.MustCompile(`(?m)^\| (both|`+module+`) \| (.+) \|$`).FindAllStringSubmatch(string(page), -1) {
		rows = append(rows, strings.Split(row[2], "; ")...)
	}
	assert.ElementsMatch(t, want, rows, "the table of docs/migrate.md")
}
