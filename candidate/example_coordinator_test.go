package candidate_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kubecoord/kubecoord/candidate"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

// A Coordinator finds a holder as soon as there is a candidate.
func ExampleCoordinator() {
	st := store.New(store.Options{})
	defer st.Close()
	ctx, cancel := context.WithCancel(context.Background())
	elector, err := candidate.NewCoordinator(st, candidate.CoordinatorOptions{
		Log: func(ev candidate.ElectionEvent) {
			fmt.Println(ev.Type, ev.Candidate, "for", ev.Lease)
			cancel() // one event is enough for this example
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = candidate.In(st).Create(context.Background(), offer("worker-1", "1.37.0", "1.36.0"), store.CreateOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	elector.Run(ctx)
	// Output: Elected worker-1 for leader
}

// ChooseStrategy and OldestEmulationVersion work without a Coordinator.
func ExampleOldestEmulationVersion() {
	candidates := []*candidate.LeaseCandidate{
		offer("new", "1.37.0", "1.37.0"),
		offer("compatible", "1.37.0", "1.36.0"),
		offer("old", "1.36.2", "1.36.0"),
	}
	strategy, err := candidate.ChooseStrategy(candidates)
	fmt.Println(strategy, err)
	fmt.Println(candidate.OldestEmulationVersion(candidates).Name)
	// Output:
	// OldestEmulationVersion <nil>
	// old
}

func ExampleChooseStrategy() {
	a, b := offer("a", "1.37.0", ""), offer("b", "1.37.0", "")
	a.Spec.Strategy, b.Spec.Strategy = "example.com/first", "example.com/last"
	_, err := candidate.ChooseStrategy([]*candidate.LeaseCandidate{a, b})
	fmt.Println(errors.Is(err, candidate.ErrConflictingStrategies), err)

	b.Spec.BinaryVersion = "1.38.0" // the latest decides
	strategy, _ := candidate.ChooseStrategy([]*candidate.LeaseCandidate{a, b})
	fmt.Println(strategy)

	_, err = candidate.ChooseStrategy(nil)
	fmt.Println(errors.Is(err, candidate.ErrNoCandidates))
	// Output:
	// true conflicting strategies: candidates "a", "b" at same binary version but received differing strategies example.com/first, example.com/last
	// example.com/last
	// true
}

// offer returns a candidate for the Lease "leader".
func offer(name, binary, emulation string) *candidate.LeaseCandidate {
	return &candidate.LeaseCandidate{
		ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: name},
		Spec: candidate.LeaseCandidateSpec{
			LeaseName: "leader", BinaryVersion: binary, EmulationVersion: emulation,
			Strategy: lease.OldestEmulationVersion, RenewTime: new(meta.NewMicroTime(time.Now())),
		},
	}
}
