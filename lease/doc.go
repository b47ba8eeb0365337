// Package lease is the kind Lease of the group coordination.k8s.io, version v1:
// a record of who holds something, since when, and for how long without a
// renewal. Leader election and the heartbeats of nodes are built on it.
//
// In gives the typed view of the leases in a store:
//
//	leases := lease.In(st)
//	l, err := leases.Create(&lease.Lease{...}, store.CreateOptions{})
//
// A store only keeps what it is told: it takes no lease away from a holder
// that fell silent, and lets everybody write. What makes an election safe is
// that an update must name the resourceVersion it was made from, so that of
// two who reach for a lease at once one gets store.ErrConflict.
//
// # Contending
//
// A Contender acquires, renews and releases a Lease for a Go program, in the
// same way as the electors of client-go do for clients over HTTP, so that both
// kinds can contend for one Lease. Observe tells who holds it.
//
//	c, err := lease.NewContender(leases, lease.ContenderOptions{
//		Namespace: "default", Name: "leader", Identity: "worker-1",
//	})
//	err = c.Run(ctx, func(ctx context.Context, h lease.Holding) {
//		// leads until ctx ends
//	})
//
// How long a holder is respected is measured by each contender on its own
// clock, from when it saw the record change; see Observation. What the clocks of
// others say, and what renewTime says, does not matter.
//
// # What a lease does not guarantee
//
// That two never lead at once holds as long as each holder stops in time. A
// Contender cancels the context of its leader RenewDeadline after the last
// successful renewal, and others wait for LeaseDuration: what lies between is
// all the time that the leader has to stop. Nothing can make it:
//
//   - A process that is paused, by its garbage collector, its scheduler, a
//     suspended machine, does not notice that its time is over until it runs
//     again, and then goes on where it was, perhaps in the middle of a write.
//   - What it has sent may arrive after another one has taken over.
//   - A clock that runs slower than those of the others makes the holder believe
//     for too long. How late or early it is does no harm.
//   - A leader that ignores its context leads on. Run waits for it, and does not
//     release the Lease meanwhile, but the others do not wait.
//   - A Lease is not locked. Whoever deletes it, or puts another holder into it,
//     takes it away from one moment to the next.
//   - Electors of client-go with ReleaseOnCancel do so too (1.37): when stopped they
//     release the Lease even if, unnoticed by them, another has taken it over; and
//     when they could not renew it they release it before they tell their own
//     leader to stop.
//
// So a lease alone makes it unlikely that two work at once. Where that would do
// harm the work has to be fenced.
//
// # Fencing
//
// Fencing lets the thing that is worked on refuse who is late. Each term gets a
// number that is greater than that of all terms before; the leader sends it
// along with everything it does; whatever it works on remembers the greatest
// number it has seen, and refuses what comes with a smaller one.
//
//   - Holding.ResourceVersion is such a number. It comes from the one counter of
//     the store, so it grows whatever happens to the Lease. Take it once, when the
//     term begins, and keep it: asked for later it may be that of a later term.
//   - leaseTransitions is one too, with limits: it starts again at 0 when the Lease
//     is deleted, and the coordinator of a Lease with a strategy does not count it.
//     It is what the electors of client-go can tell without a look at the Lease.
//   - Under a strategy, or with client-go in general, any resourceVersion of the
//     Lease will do that was read while it named the leader.
//
// Both kinds of number lose their order when the store is made anew; see
// store.Options.FirstVersion.
//
// Where the work is on objects of the same store their own resourceVersion
// fences. When its term begins, a leader puts the number of the term into each
// object, in an annotation, unless there is a greater one already; from then on it
// only updates what it got back. A late update of the one before names an older
// resourceVersion and gets store.ErrConflict. The number is needed for a leader
// that was paused before it had begun.
//
// # Coordinated leader election
//
// Of the features that real clusters guard by CoordinatedLeaderElection,
// strategy and preferredHolder are kept as if it were on. A Contender leaves
// both as they are. It respects the holder whoever put it there, but takes the
// Lease as soon as it is free, without waiting for a coordinator, and does not
// step aside for a preferredHolder. (Electors of client-go that are not
// Coordinated do the same, and remove both.) That is safe, but not what a
// coordinator is there for: let only candidates contend for such a Lease.
package lease
