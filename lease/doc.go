// Package lease is the kind Lease of the group coordination.k8s.io, version v1:
// a record of who holds something, since when, and for how long without a
// renewal. Leader election and the heartbeats of nodes are built on it.
//
// In gives the typed view of the leases in a store:
//
//	leases := lease.In(st)
//	l, err := leases.Create(&lease.Lease{...}, store.CreateOptions{})
//
// A store only keeps Leases: it takes no Lease away from a holder that fell silent,
// and lets everybody write. An election is safe because an update must name the
// resourceVersion that it was made from: if two reach for a Lease at once, one of
// them gets store.ErrConflict.
//
// # Contending
//
// A Contender acquires, renews and releases a Lease for a Go program, in the
// same way as the electors of client-go do for clients over HTTP, so that both
// kinds can contend for one Lease. Observe reports the holder.
//
//	c, err := lease.NewContender(leases, lease.ContenderOptions{
//		Namespace: "default", Name: "leader", Identity: "worker-1",
//	})
//	err = c.Run(ctx, func(ctx context.Context, h lease.Holding) {
//		// leads until ctx ends
//	})
//
// Each contender measures on its own clock how long it respects a holder, from when
// it saw the record change; see Observation. The clocks of others do not matter, and
// neither does renewTime.
//
// # What a lease does not guarantee
//
// Two never lead at once as long as each holder stops in time. A Contender cancels
// the context of its leader RenewDeadline after the last successful renewal, and
// others wait for LeaseDuration. The leader has the difference to stop, and nothing
// can force it:
//
//   - A process may be paused by its garbage collector, its scheduler or a
//     suspended machine. It goes on where it was, perhaps in the middle of a write,
//     before it notices that its time is over.
//   - A request that it has sent may arrive after another one has taken over.
//   - A clock that runs slower than those of the others lets the holder lead for too
//     long. A clock that is late or early does no harm.
//   - A leader that ignores its context leads on. Run waits for it, and does not
//     release the Lease meanwhile, but the others do not wait.
//   - A Lease is not locked. Any client that deletes it, or writes another holder
//     into it, takes it away at once.
//   - Electors of client-go with ReleaseOnCancel do so too (1.37): when stopped they
//     release the Lease even if, unnoticed by them, another has taken it over; and
//     when they could not renew it they release it before they tell their own
//     leader to stop.
//
// So a Lease alone makes it unlikely that two work at once. If that would do harm,
// the work has to be fenced.
//
// # Fencing
//
// Fencing lets the resource that leaders work on refuse a late leader. Each term
// gets a number that is greater than the numbers of all terms before. The leader sends
// it with each request. The resource remembers the greatest number it has seen, and
// refuses requests with a smaller one.
//
//   - Holding.ResourceVersion is such a number. It comes from the one counter of
//     the store, so it grows whatever happens to the Lease. Take it once, when the
//     term begins, and keep it: a later read may return the number of a later term.
//   - leaseTransitions is one too, with limits: it starts again at 0 when the Lease
//     is deleted, and a coordinator does not count it. The electors of client-go know
//     it without reading the Lease.
//   - Under a strategy, or with client-go in general, use any resourceVersion of the
//     Lease that was read while it named the leader.
//
// Both kinds of number lose their order when the store is made anew; see
// store.Options.FirstResourceVersion.
//
// If the work is on objects of the same store, their own resourceVersion fences.
// When its term begins, a leader puts the number of the term into each
// object, in an annotation, unless there is a greater one already; from then on it
// only updates what it got back. A late update of the one before names an older
// resourceVersion and gets store.ErrConflict. The number is needed for a leader
// that was paused before it had begun.
//
// # Coordinated leader election
//
// strategy and preferredHolder are kept as in a cluster that has the feature gate
// CoordinatedLeaderElection on. Package candidate has the coordinator that picks the
// holder of a Lease among its LeaseCandidates: candidate.Elector.
//
// A Contender is not coordinated. It may meet a coordinator all the same, because a
// coordinator takes over every Lease that has a candidate. Two never lead at once:
//
//   - A Contender respects a holder that the coordinator has elected, like any other,
//     until it sees the Lease expire.
//   - A Contender that holds the Lease keeps strategy and preferredHolder when it
//     renews, so the coordinator writes them once. It does not make way for a
//     preferredHolder: it leads until it stops or cannot renew. The coordinator does
//     not change the holder before the Lease expires or is released.
//   - A Contender that waits takes the Lease as soon as it is free. It is faster than
//     the coordinator, which may have to ping the candidates. So a candidate leads
//     once the last Contender is gone.
//
// The electors of client-go without Coordinated do the same, but remove strategy and
// preferredHolder at each renewal. To move a program to coordinated election, replace
// its replicas one after another, in any order. To move it back, do the same.
package lease
