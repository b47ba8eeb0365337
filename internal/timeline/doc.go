// Package timeline records the elections of a store and draws them: leaders, pings and
// answers, hand-overs, and gaps without a leader. Package httpapi/debug shows them, and examples write them to files.
//
//	rec := timeline.NewRecorder(st)
//	elector, err := candidate.NewCoordinator(st, candidate.CoordinatorOptions{Log: rec.Log})
//	go rec.Run(ctx) // until the context ends; it starts no goroutine that outlives it
//	...
//	t := rec.Timeline()       // a value: encode it as JSON, or
//	err = t.WriteText(os.Stdout) // a table for a terminal, or
//	err = timeline.SVG(file, t)  // one picture that needs nothing else
//
// A Recorder has two sources. It watches Leases and LeaseCandidates for holders and
// offers. The Coordinator calls Log for pings, answers and failures. Each source works
// without the other. A Lease without a strategy and candidates is an election too, such as one of client-go's electors or of
// lease.Contender, as soon as it has a holder. Heartbeats are left out: the Leases of nodes and of API servers.
//
// A Lease expires by the rule of the Coordinator; see lease.Observation. Times begin with
// the store's clock when the Recorder is made and continue by Store.Clock, so they never
// go back. In a testing/synctest bubble they are virtual.
//
// Memory is bounded by the content of the store and a number of records: the oldest are
// forgotten first, and counted. Pictures are bounded too. Names and texts may be anything;
// pictures and tables replace characters that do not print.
package timeline
