// Package timeline remembers what happens in the elections of a store, and draws
// it: who led when, who was asked and answered, hand-overs, and the gaps in which
// nobody led.
//
//	rec := timeline.NewRecorder(st, timeline.Options{})
//	elector, err := candidate.NewElector(st, candidate.ElectorOptions{Log: rec.Log})
//	go rec.Run(ctx) // until the context ends; it starts no goroutine that outlives it
//	...
//	t := rec.Timeline()       // a value: encode it as JSON, or
//	err = t.WriteText(os.Stdout) // a table for a terminal, or
//	err = timeline.SVG(file, t)  // one picture that needs nothing else
//
// A Recorder has two sources. A watch of the Leases and LeaseCandidates tells who
// held what when and who was there; what the Elector tells through Log are the
// marks: pings, answers, failures. Either works without the other. Leases that
// have neither a strategy nor candidates are left out.
//
// Who holds a Lease is judged as the Elector does it, by the moments at which the
// record was seen to change: see lease.Observation. All times are those of the
// store's clock when the Recorder was made and of Store.Clock since then, so that
// they never go back. In a testing/synctest bubble they are virtual.
//
// Memory is bounded by Options, and by what is in the store now: the oldest is
// forgotten first, and counted. Pictures are bounded too: what would lie too close
// together is drawn as one, and the picture says so. Names and texts may be
// anything; in pictures and tables what does not print is replaced.
package timeline
