package candidate_test

import (
	"context"
	"fmt"
	"time"

	"github.com/kubecoord/kubecoord/candidate"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

// A candidate offers itself, and later answers a ping.
func Example() {
	candidates := candidate.In(store.New(store.Options{}))

	_, err := candidates.Create(context.Background(), &candidate.LeaseCandidate{
		ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "worker-1"},
		Spec: candidate.LeaseCandidateSpec{
			LeaseName:        "leader",
			BinaryVersion:    "1.37.0",
			EmulationVersion: "1.36.0",
			Strategy:         lease.OldestEmulationVersion,
			RenewTime:        new(meta.NewMicroTime(time.Now())),
		},
	}, store.CreateOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}

	c, err := candidates.Modify(context.Background(), "default", "worker-1", func(c *candidate.LeaseCandidate) error {
		c.Spec.RenewTime = new(meta.NewMicroTime(time.Now()))
		return nil
	}, store.UpdateOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c.Name, "would hold", c.Spec.LeaseName)

	// A candidate cannot move to another Lease.
	_, err = candidates.Modify(context.Background(), "default", "worker-1", func(c *candidate.LeaseCandidate) error {
		c.Spec.LeaseName = "other"
		return nil
	}, store.UpdateOptions{})
	fmt.Println(err)

	// Output:
	// worker-1 would hold leader
	// LeaseCandidate.coordination.k8s.io "worker-1" is invalid: spec.leaseName: Invalid value: "other": field is immutable
}
