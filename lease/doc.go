// Package lease is the kind Lease of the group coordination.k8s.io, version v1.
// A Lease records its holder, when the holder took it, and how long it stays valid
// without a renewal. Leader election and the heartbeats of nodes use Leases.
//
// In returns the Leases of a store:
//
//	leases := lease.In(st)
//	l, err := leases.Create(ctx, &lease.Lease{...}, store.CreateOptions{})
//
// A store only keeps Leases: it takes none from a silent holder, and every client may write
// them. An election is safe because an update names the resourceVersion that it is based on: if
// two clients try to take a Lease at once, one of them gets store.ErrConflict.
//
// # Contending
//
// A Contender acquires, renews and releases a Lease for a Go program. It follows the rules of
// client-go's electors, so both can contend for one Lease. Observe reports the holder.
//
//	c, err := lease.NewContender(leases, lease.ContenderOptions{
//		Namespace: "default", Name: "leader", Identity: "worker-1",
//	})
//	err = c.Run(ctx, func(ctx context.Context, h lease.Holding) {
//		// leads until ctx ends
//	})
//
// The Leases are in a store, or on a server elsewhere: package httpapi/client. There a Contender
// needs the permission to get, list, watch, create and update Leases. docs/operations.md has
// such a server on three machines.
//
// Each contender respects a holder for leaseDurationSeconds after it saw the record change, by
// its own clock; see Observation. Other clocks and renewTime do not matter.
//
// # A crowd
//
// If all Contenders that wait for a Lease wrote as soon as it is free, all writes but one would
// be conflicts. So one in a hundred writes immediately. The others wait 20 to 30 ms, and write only
// if their watch shows that the Lease is still free. They write with the resourceVersion that the
// watch showed, without a read.
//
// # What a Contender reports
//
// ContenderOptions.Logger, OnNewLeader and OnContact report the holders, and the loss of contact
// and its cause. Contender.Healthy is a health check for a leader that does not stop.
//
// # What a lease does not guarantee
//
// Two leaders never work at once if each one stops in time. A Contender cancels the context of its
// leader RenewDeadline after the last successful renewal, and others wait for LeaseDuration. The
// leader must stop within the difference, and nothing can force it to:
//
//   - A process may be paused by its garbage collector, its scheduler or a suspended machine, and
//     then continue in the middle of a write before it notices that its time is over.
//   - A request may arrive after another leader has taken over.
//   - A clock that runs slower than the others lets the holder lead for too long. A clock that
//     shows a wrong time does no harm.
//   - A leader may ignore its context. Run waits for it, but the other contenders do not.
//   - A Lease is not locked. Any client may delete it or write another holder.
//   - Electors of client-go 0.37 with ReleaseOnCancel may release a Lease that another one
//     holds: they do not read it first when they are stopped. After a failed renewal they
//     release the Lease before they stop their own leader.
//
// So a Lease alone makes it unlikely, but not impossible, that two leaders work at once. If that
// would do harm, the work must be fenced.
//
// # Fencing
//
// With fencing, the resource that leaders work on refuses a late leader. Each term gets a greater
// number than all terms before. The leader sends it with each request. The resource remembers the
// greatest number and refuses smaller ones.
//
//   - Holding.FencingToken is such a number: the resourceVersion of the Lease when the Holding
//     began. It comes from the one counter of the store, so it grows even if the Lease is deleted.
//     Read it once, when the term begins: a later read may return the number of a later term.
//   - leaseTransitions is another, with limits: it starts again at 0 after the Lease is deleted,
//     and a coordinator does not count it. Electors of client-go know it without a read.
//   - Under a strategy, or with client-go, any resourceVersion of the Lease works that was read
//     while the Lease named the leader.
//
// A new store begins with small numbers again; see store.Options.FirstResourceVersion.
//
// If the work is on objects of the same store, their own resourceVersion fences. When its term
// begins, the leader writes its FencingToken into an annotation of each object, unless a greater
// one is there, and from then on updates only the objects that it got back. A late update by an
// earlier leader names an older resourceVersion and gets store.ErrConflict. Without the
// annotation, a leader that is paused before its first write would not be refused.
//
// # Coordinated leader election
//
// candidate.Coordinator picks the holder of a Lease among its LeaseCandidates. A Contender takes no part, but may share a Lease
// with candidates: it keeps strategy and preferredHolder and ignores them, and two never lead at once. So a program moves to
// coordinated election, or back, one replica after another. docs/elections.md has the details.
package lease
