// Package wiretest replays recorded HTTP exchanges against a server that speaks the Kubernetes wire protocol, and reports
// where its answers differ from the recorded ones.
//
// A Golden is a scenario, which is a list of steps, with the answers that a real API server gave. LoadGolden reads them;
// Runner.Check sends the same requests again, in namespaces of their own, and compares:
//
//	goldens, err := wiretest.LoadGolden("testdata/wire")
//	...
//	for _, g := range goldens {
//		t.Run(g.Scenario.Name, func(t *testing.T) {
//			runner := &wiretest.Runner{Transport: api.Transport(), BaseURL: "http://test"}
//			for _, d := range runner.Check(t.Context(), g).Differences {
//				t.Error(d)
//			}
//		})
//	}
//
// Runner.Record sends them too, and returns the answers that it got. A File holds the scenario of several kinds, and writes
// it back as text. The README of the folder of recorded answers explains that text.
//
// # What is compared
//
// Status, the headers Content-Type, Warning and Retry-After, whether the body is indented, the body or the events of a
// stream, and whether the server ended the stream. Before that, each value that may differ between two correct runs is replaced
// by a symbol: resource versions, uids, generated names, timestamps of the server and a few more. A symbol is numbered by
// the first appearance of its value, so that equal values stay equal and different ones different. The order of all
// versions of a scenario is compared as well, so nothing else may write to the server at the same time.
//
// # Time
//
// Steps wait with timers and channels only, and Check ends every goroutine that it started before it returns. So it can run
// inside a bubble of testing/synctest, in virtual time, if Runner.Transport uses no socket: the time of a bubble stands still
// while a goroutine waits for a socket.
package wiretest
