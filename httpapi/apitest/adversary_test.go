package apitest_test

import (
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
)

// played returns what each of two clients meets that send the same requests, in turn or one after the other.
func played(t *testing.T, adv apitest.Adversary, inTurn bool) (met map[string][]string) {
	synctest.Test(t, func(t *testing.T) {
		api := apitest.New(t)
		api.Adversary(adv)
		met = map[string][]string{}
		ask := func(name string, i int) {
			d := doorFor(api, name)
			start := time.Now()
			a := d.do(t, "GET", fmt.Sprint(leases, "/", i%3), "")
			met[name] = append(met[name], fmt.Sprint(a.code, a.err != nil, time.Since(start)))
		}
		for i := range 200 {
			ask("a", i)
			if inTurn {
				ask("b", i)
			}
		}
		for i := range 200 {
			if !inTurn {
				ask("b", i)
			}
		}
	})
	return met
}

func TestAdversaryDoesTheSameAgainWithTheSameSeed(t *testing.T) {
	first := played(t, apitest.Adversary{Seed: 42, Percent: 50}, true)
	assert.Equal(t, first, played(t, apitest.Adversary{Seed: 42, Percent: 50}, false), "whoever comes between")
	assert.NotEqual(t, first, played(t, apitest.Adversary{Seed: 43, Percent: 50}, true))
	assert.NotEqual(t, first["a"], first["b"], "each client has a fate of its own")
	kinds := map[string]bool{}
	for _, outcome := range first["a"] {
		kinds[outcome[:4]] = true
	}
	assert.Greater(t, len(kinds), 4, "%v", kinds)
}

func TestAdversaryHitsSoManyOfAHundred(t *testing.T) {
	for percent, want := range map[int]int{0: 100, 30: 300, 100: 1000} {
		synctest.Test(t, func(t *testing.T) {
			d := newDoor(t)
			f := d.Adversary(apitest.Adversary{Seed: 7, Percent: percent, MaxDelay: time.Minute, Resource: "leases"})
			for range 1000 {
				d.do(t, "GET", leases, "")
			}
			assert.InDelta(t, want, f.Hits(), 40)
			d.do(t, "GET", "/version", "")
			assert.Equal(t, 1000, f.Matches(), "it is after leases alone")
			f.Remove()
			assert.Equal(t, http.StatusOK, d.do(t, "GET", leases, "").code)
		})
	}
}

func TestAdversaryIsRefusedNonsense(t *testing.T) {
	for want, adv := range map[string]apitest.Adversary{
		"apitest.Adversary: Percent: got 101, want 0 to 100":                                      {Percent: 101},
		"apitest.Adversary: Percent: got -1, want 0 to 100":                                       {Percent: -1},
		"apitest.Adversary: MaxDelay: got -1ns, want 0 or more":                                   {MaxDelay: -1},
		`apitest.Adversary: Resource: got "pods", want one of leases, leasecandidates, endpoints`: {Resource: "pods"},
	} {
		assert.Equal(t, want, failure(t, func(t testing.TB) { apitest.New(t).Adversary(adv) }))
	}
}

// failed is a test that has failed, or not, when its end comes.
type failed struct {
	ending
	is  bool
	log []string
}

// Failed tells which.
func (f *failed) Failed() bool { return f.is }

// Logf remembers the text.
func (f *failed) Logf(format string, args ...any) {
	f.log = append(f.log, fmt.Sprintf(format, args...))
}

func TestSeedIsLoggedWhereTheTestFails(t *testing.T) {
	for _, is := range []bool{true, false} {
		f := &failed{ending: ending{TB: t}, is: is}
		in := apitest.New(f).Adversary(apitest.Adversary{})
		f.end()
		if !is {
			assert.Empty(t, f.log)
			continue
		}
		require.Len(t, f.log, 1)
		var seed uint64
		_, err := fmt.Sscanf(f.log[0], "apitest.Adversary: give it Seed %d", &seed)
		require.NoError(t, err, f.log[0])
		assert.NotZero(t, seed)
		assert.Equal(t, fmt.Sprintf("any *: adversary, 10%%, seed %d", seed), in.String())
	}
}
