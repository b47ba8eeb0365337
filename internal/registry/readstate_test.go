package registry

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A row says which state a list with some options is served from.
func TestListsChooseTheirState(t *testing.T) {
	token := encodeContinue(7, "b\x00")
	rest := encodeContinue(latest, "b\x00")
	rows := map[string]struct {
		opts   ListOptions
		single bool
		want   readState
	}{
		"no version is the current state":            {ListOptions{}, false, readState{choice: currentState}},
		"a limit keeps it":                           {ListOptions{Limit: 3}, false, readState{choice: currentState, limit: 3}},
		"a negative limit is none":                   {ListOptions{Limit: -1}, false, readState{choice: currentState}},
		"version 0 is any state, without a limit":    {ListOptions{ResourceVersion: "0", Limit: 3}, false, readState{choice: anyState}},
		"zeros are version 0":                        {ListOptions{ResourceVersion: "00"}, false, readState{choice: anyState}},
		"beside which a limit counts":                {ListOptions{ResourceVersion: "00", Limit: 3}, false, readState{choice: anyState, limit: 3}},
		"a version alone is a lower bound":           {ListOptions{ResourceVersion: "9"}, false, readState{choice: atLeastState, version: 9}},
		"with a limit it is exact":                   {ListOptions{ResourceVersion: "9", Limit: 3}, false, readState{choice: exactState, version: 9, limit: 3}},
		"Exact is exact":                             {ListOptions{ResourceVersion: "9", ResourceVersionMatch: MatchExact}, false, readState{choice: exactState, version: 9}},
		"NotOlderThan is a lower bound with a limit": {ListOptions{ResourceVersion: "9", ResourceVersionMatch: MatchNotOlderThan, Limit: 3}, false, readState{choice: atLeastState, version: 9, limit: 3}},
		"one object by its key is read from storage": {ListOptions{ResourceVersion: "9", Limit: 3}, true, readState{choice: storedState, version: 9, limit: 3}},
		"and at a version if that is said":           {ListOptions{ResourceVersion: "9", ResourceVersionMatch: MatchExact}, true, readState{choice: storedExactState, version: 9}},
		"one object with a lower bound waits":        {ListOptions{ResourceVersion: "9"}, true, readState{choice: atLeastState, version: 9}},
		"a token goes on at its version":             {ListOptions{Continue: token, Limit: 3}, false, readState{choice: exactState, version: 7, start: "b\x00", limit: 3, paged: true}},
		"version 0 takes the limit off a page":       {ListOptions{Continue: token, Limit: 3, ResourceVersion: "0"}, false, readState{choice: exactState, version: 7, start: "b\x00", paged: true}},
		"a token without consistency goes on now":    {ListOptions{Continue: rest}, false, readState{choice: currentState, start: "b\x00", paged: true}},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			got, err := chooseList(row.opts, row.single)
			require.NoError(t, err)
			assert.Equal(t, row.want, got)
		})
	}
}

func TestListsRefuseVersionsThatCannotBe(t *testing.T) {
	for name, row := range map[string]struct {
		opts ListOptions
		want string
	}{
		"a word":                        {ListOptions{ResourceVersion: "x"}, `invalid resource version: resourceVersion: Invalid value: "x": strconv.ParseUint: parsing "x": invalid syntax`},
		"a version beside a token":      {ListOptions{Continue: encodeContinue(7, "b"), ResourceVersion: "9"}, "specifying resource version is not allowed when using continue"},
		"a token that is not base64url": {ListOptions{Continue: "%"}, "invalid continue token: continue key is not valid: illegal base64 data at input byte 0"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := chooseList(row.opts, false)
			assert.EqualError(t, err, row.want)
		})
	}
}

func TestGetsChooseTheirState(t *testing.T) {
	for resourceVersion, want := range map[string]readState{
		"":  {choice: storedState},
		"0": {choice: anyState},
		"9": {choice: atLeastState, version: 9},
	} {
		got, err := chooseGet(resourceVersion)
		require.NoError(t, err)
		assert.Equal(t, want, got, "resourceVersion %q", resourceVersion)
	}
	_, err := chooseGet("x")
	assert.ErrorContains(t, err, `Invalid value: "x"`)
}
