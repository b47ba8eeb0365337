package apitest_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
)

// played lets two clients send the same requests, in turn or one after the other, and returns their answers.
func played(t *testing.T, adv apitest.AdversaryOptions, inTurn bool) (met map[string][]string) {
	synctest.Test(t, func(t *testing.T) {
		api := apitest.New(t)
		api.Fault(apitest.Adversary(adv))
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

func TestAdversaryRepeatsItselfWithTheSameSeed(t *testing.T) {
	first := played(t, apitest.AdversaryOptions{Seed: 42, Percent: 50}, true)
	assert.Equal(t, first, played(t, apitest.AdversaryOptions{Seed: 42, Percent: 50}, false), "whoever comes between")
	assert.NotEqual(t, first, played(t, apitest.AdversaryOptions{Seed: 43, Percent: 50}, true))
	assert.NotEqual(t, first["a"], first["b"], "each client has a fate of its own")
	kinds := map[string]bool{}
	for _, outcome := range first["a"] {
		kinds[outcome[:4]] = true
	}
	assert.Greater(t, len(kinds), 4, "%v", kinds)
}

func TestWrongAdversariesAreRefused(t *testing.T) {
	for want, o := range map[string]apitest.AdversaryOptions{
		"Adversary.Percent: got 101, want 0 to 100":    {Percent: 101},
		"Adversary.Percent: got -1, want 0 to 100":     {Percent: -1},
		"Adversary.MaxDelay: got -1ns, want 0 or more": {MaxDelay: -1},
	} {
		assert.Equal(t, "apitest.Fault: "+want, failure(t, func(t testing.TB) { apitest.New(t).Fault(apitest.Adversary(o)) }))
	}
}

// logging is a test that keeps its log.
type logging struct {
	testing.TB
	log []string
}

func (l *logging) Logf(format string, args ...any) {
	l.log = append(l.log, fmt.Sprintf(format, args...))
}

func TestRandomSeedIsLogged(t *testing.T) {
	l := &logging{TB: t}
	api := apitest.New(l)
	api.Fault(apitest.Adversary(apitest.AdversaryOptions{Seed: 42}))
	assert.Empty(t, l.log)
	in := api.Fault(apitest.Adversary(apitest.AdversaryOptions{}))
	require.Len(t, l.log, 1)
	var seed uint64
	_, err := fmt.Sscanf(l.log[0], "apitest: to repeat this adversary, set Seed to %d", &seed)
	require.NoError(t, err, l.log[0])
	assert.Equal(t, fmt.Sprintf("any *: adversary, 10%%, seed %d", seed), in.String())
	assert.Less(t, seed, uint64(1)<<53, "exact in JavaScript")
}
