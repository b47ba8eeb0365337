package candidate

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store/meta"
)

// named returns a candidate with the fields that a choice depends on.
func named(name, binary string, strategy lease.CoordinatedLeaseStrategy, list ...lease.CoordinatedLeaseStrategy) *LeaseCandidate {
	return &LeaseCandidate{
		ObjectMeta: meta.ObjectMeta{Name: name},
		Spec:       LeaseCandidateSpec{BinaryVersion: binary, Strategy: strategy, PreferredStrategies: list},
	}
}

func TestLatestBinaryVersionDecidesTheStrategy(t *testing.T) {
	type all = []*LeaseCandidate
	for name, row := range map[string]struct {
		candidates all
		want       lease.CoordinatedLeaseStrategy
		err        string
	}{
		"one":                            {all{named("a", "1.0.0", x)}, x, ""},
		"all of one mind":                {all{named("a", "1.0.0", x), named("b", "2.0.0", x)}, x, ""},
		"the latest":                     {all{named("a", "1.0.0", x), named("b", "2.0.0", y)}, y, ""},
		"in any order":                   {all{named("a", "2.0.0", y), named("b", "1.0.0", x)}, y, ""},
		"not by text":                    {all{named("a", "1.9.0", x), named("b", "1.10.0", y)}, y, ""},
		"a release after its candidates": {all{named("a", "1.0.0-rc.1", x), named("b", "1.0.0", y)}, y, ""},
		"loosely written":                {all{named("a", "v1.10", x), named("b", "1.9.0", y)}, x, ""},
		"unreadable is 0.0.0":            {all{named("a", "latest", x), named("b", "0.0.1", y)}, y, ""},
		"missing is 0.0.0":               {all{named("a", "", x), named("b", "0.0.1", y)}, y, ""},
		"older ones may differ":          {all{named("a", "1.0.0", x), named("b", "1.0.0", y), named("c", "2.0.0", x)}, x, ""},
		"two of the latest differ":       {all{named("a", "2.0.0", x), named("b", "2.0.0", y)}, "", `conflicting strategies: candidates "a", "b" at same binary version but received differing strategies example.com/x, example.com/y`},
		"three of the latest differ":     {all{named("a", "2.0.0", x), named("b", "2.0.0", y), named("c", "2.0.0", y)}, "", `conflicting strategies: candidates "a", "b" at same binary version but received differing strategies example.com/x, example.com/y`},
		"build metadata is no part":      {all{named("a", "2.0.0+1", x), named("b", "2.0.0+2", y)}, "", `conflicting strategies: candidates "a", "b" at same binary version but received differing strategies example.com/x, example.com/y`},
		"the third one differs":          {all{named("a", "2.0.0", x), named("b", "2.0.0", x), named("c", "2.0.0", y)}, "", `conflicting strategies: candidates "a", "c" at same binary version but received differing strategies example.com/x, example.com/y`},
		"nobody":                         {nil, "", "no available candidates"},
		"a list among others":            {all{named("a", "2.0.0", x, x, y), named("b", "1.0.0", y)}, x, ""},
	} {
		t.Run(name, func(t *testing.T) { checkChoice(t, row.candidates, row.want, row.err) })
	}
}

func TestStrategyIsChosenFromAllLists(t *testing.T) {
	const z = "example.com/z"
	lists := func(lists ...strategies) (all []*LeaseCandidate) {
		for i, list := range lists {
			all = append(all, named(string(rune('a'+i)), "1.0.0", list[0], list...))
		}
		return all
	}
	for name, row := range map[string]struct {
		candidates []*LeaseCandidate
		want       lease.CoordinatedLeaseStrategy
		err        string
	}{
		"one":                          {lists(strategies{x}), x, ""},
		"[X] and [Y, X] give Y":        {lists(strategies{x}, strategies{y, x}), y, ""},
		"all begin with X":             {lists(strategies{x, y}, strategies{x, z}, strategies{x}), x, ""},
		"[X, Y] against [Y, X]":        {lists(strategies{x, y}, strategies{y, x}), "", `conflicting strategies: invalid strategy: of the lists in preferredStrategies exactly one strategy must come first, not []`},
		"[X] against [Y]":              {lists(strategies{x}, strategies{y}), "", `conflicting strategies: invalid strategy: of the lists in preferredStrategies exactly one strategy must come first, not ["example.com/x" "example.com/y"]`},
		"a circle behind the first":    {lists(strategies{x, y, z}, strategies{z, y}), "", `conflicting strategies: invalid strategy: the lists in preferredStrategies contradict each other`},
		"a strategy twice in one list": {lists(strategies{x, y, y}), "", `conflicting strategies: invalid strategy: the lists in preferredStrategies contradict each other`},
		"a chain through three":        {lists(strategies{y, z}, strategies{x, y}, strategies{z}), x, ""},
		"five against each other":      {lists(strategies{"e.io/e"}, strategies{"e.io/c"}, strategies{"e.io/a"}, strategies{"e.io/d"}, strategies{"e.io/b"}), "", `conflicting strategies: invalid strategy: of the lists in preferredStrategies exactly one strategy must come first, not ["e.io/a" "e.io/b" "e.io/c" "e.io/d" "e.io/e"]`},
	} {
		t.Run(name, func(t *testing.T) { checkChoice(t, row.candidates, row.want, row.err) })
	}
}

func checkChoice(t *testing.T, candidates []*LeaseCandidate, want lease.CoordinatedLeaseStrategy, text string) {
	got, err := ChooseStrategy(candidates)
	assert.Equal(t, want, got)
	switch {
	case text == "":
		assert.NoError(t, err)
	case len(candidates) == 0:
		assert.ErrorIs(t, err, ErrNoCandidates)
		assert.EqualError(t, err, text)
	default:
		assert.ErrorIs(t, err, ErrConflictingStrategies)
		assert.EqualError(t, err, text)
	}
}

func TestOldestEmulationVersion(t *testing.T) {
	c := func(name, binary, emulation string, created int64) *LeaseCandidate {
		c := named(name, binary, oldest)
		c.Spec.EmulationVersion = emulation
		c.CreationTimestamp.Time = c.CreationTimestamp.Add(0).AddDate(2000, 0, int(created))
		return c
	}
	type all = []*LeaseCandidate
	for name, row := range map[string]struct {
		candidates all
		want       string
	}{
		"the lowest emulation version":     {all{c("a", "1.2.0", "1.2.0", 1), c("b", "1.2.0", "1.1.0", 2)}, "b"},
		"not by text":                      {all{c("a", "1.20.0", "1.10.0", 1), c("b", "1.20.0", "1.9.0", 2)}, "b"},
		"a candidate before its release":   {all{c("a", "1.2.0", "1.1.0", 1), c("b", "1.2.0", "1.1.0-rc.1", 2)}, "b"},
		"then the lowest binary version":   {all{c("a", "1.3.0", "1.1.0", 1), c("b", "1.2.0", "1.1.0", 2)}, "b"},
		"then the oldest":                  {all{c("a", "1.2.0", "1.1.0", 2), c("b", "1.2.0", "1.1.0", 1)}, "b"},
		"then the name":                    {all{c("b", "1.2.0", "1.1.0", 1), c("a", "1.2.0", "1.1.0", 1)}, "a"},
		"one that cannot be read":          {all{c("a", "1.2.0", "old", 1), c("b", "1.2.0", "1.1.0", 1)}, "b"},
		"one without an emulation version": {all{c("a", "1.2.0", "", 1), c("b", "1.2.0", "1.1.0", 1)}, "b"},
		"one without a binary version":     {all{c("a", "", "1.0.0", 1), c("b", "1.2.0", "1.1.0", 1)}, "b"},
		"loosely written":                  {all{c("a", "v1.2", "1.1.0", 1), c("b", "1.2", " v1.01 ", 2), c("c", "1.2", "v1", 3)}, "c"},
		"none that can be read":            {all{c("a", "x", "y", 1)}, ""},
		"nobody":                           {nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := OldestEmulationVersion(row.candidates)
			if row.want == "" {
				assert.Nil(t, got)
				return
			}
			assert.Equal(t, row.want, got.Name)
		})
	}
}

func TestBallotChangesTheLease(t *testing.T) {
	now, before := meta.NewMicroTime(time.Unix(100, 0)), meta.NewMicroTime(time.Unix(50, 0))
	elect, third := &ballot{oldest, "a"}, &ballot{strategy: y}
	spec := func(holder, preferred string, strategy lease.CoordinatedLeaseStrategy) lease.LeaseSpec {
		s := lease.LeaseSpec{
			HolderIdentity: &holder, LeaseDurationSeconds: new(int32(15)), AcquireTime: &before, RenewTime: &before,
			LeaseTransitions: new(int32(3)), Strategy: &strategy,
		}
		if preferred != "" {
			s.PreferredHolder = &preferred
		}
		return s
	}
	elected := lease.LeaseSpec{
		HolderIdentity: new("a"), LeaseDurationSeconds: new(int32(5)), RenewTime: &now, LeaseTransitions: new(int32(3)), Strategy: &elect.strategy,
	}
	for name, row := range map[string]struct {
		b      *ballot
		vacant bool
		was    lease.LeaseSpec
		done   ElectionEventType
		want   lease.LeaseSpec
	}{
		"vacant":                                  {elect, true, spec("x", "b", y), Elected, elected},
		"held by another":                         {elect, false, spec("x", "", oldest), Preferred, spec("x", "a", oldest)},
		"held by another, with another strategy":  {elect, false, spec("x", "", y), Preferred, spec("x", "a", oldest)},
		"held by another, which was asked for it": {elect, false, spec("x", "a", oldest), "", spec("x", "a", oldest)},
		"held by another, which was asked for it by another strategy": {elect, false, spec("x", "a", y), StrategySet, spec("x", "a", oldest)},
		"held by another, which was asked for b":                      {elect, false, spec("x", "b", oldest), Preferred, spec("x", "a", oldest)},
		"held by the best":                                            {elect, false, spec("a", "", oldest), "", spec("a", "", oldest)},
		"held by the best, with another strategy":                     {elect, false, spec("a", "", y), StrategySet, spec("a", "", oldest)},
		"held by the best, which was asked for b":                     {elect, false, spec("a", "b", oldest), PreferenceCleared, spec("a", "", oldest)},
		"a third party picks":                                         {third, true, spec("x", "b", oldest), StrategySet, spec("x", "b", y)},
		"a third party picks already":                                 {third, true, spec("x", "b", y), "", spec("x", "b", y)},
		"the request is taken back":                                   {nil, false, spec("x", "a", y), PreferenceCleared, spec("x", "", y)},
		"there is no request to take back":                            {nil, false, spec("x", "", y), "", spec("x", "", y)},
	} {
		assert.Equal(t, row.done, row.b.carryOut(&row.was, row.vacant, now, 5), name)
		assert.Equal(t, row.want, row.was, name)
	}
	var s lease.LeaseSpec
	assert.Equal(t, Elected, elect.carryOut(&s, true, now, 5), "without any field")
}
