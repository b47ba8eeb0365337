// Package explore finds faults of a controller by itself. It runs a scenario undisturbed, derives plans from what the controller did, and runs the
// scenario once for each plan with something going wrong: a crash just before or after a write, a lost answer, a restart that reads an old
// state, events that were never seen. It compares each run with the undisturbed one, and reports where they come to rest in
// different states.
//
//	func TestWidgets(t *testing.T) {
//		explore.Run(t, explore.Scenario{
//			API:         apitest.New(t),
//			Controllers: []explore.Controller{{Run: runController}},
//			Steps: []explore.Step{
//				{Name: "create", Do: createWidget},
//				{Name: "delete", Do: deleteWidget},
//			},
//		})
//	}
//
// Each run has a fork of the API and a testing/synctest bubble, in which time is virtual, so that hundreds of runs take seconds. A finding has the plan that
// led to it, which repeats it: go test -run TestWidgets -explore.plan='crash-after create configmaps default/a #1'.
//
// # Programs
//
// A Controller may be a Command: a program of any language, in a process of its own. Then runs are in real time. Each has a fork of the API behind a port
// of the loopback that stays the same for all starts of the program. A crash cuts its connections and refuses new ones, and then kills the process and all that it has
// started, so that nothing that it sends later is carried out. A run is at rest when nothing was written for Options.Quiet, while each program runs and watches what it
// watches in all undisturbed runs; a finding is confirmed by runs that rest for longer. Search does the same outside of a test, Manifests reads steps from files, and
// the command httpapi/kube/explore needs no Go code.
//
// # What is compared
//
// A rest is a state in which nothing was written for Options.Quiet. At each rest the objects must be equal to the objects of the
// undisturbed runs, lists by their keys, but for what differs from run to run by itself: uids, versions, times, generated names, addresses of Services,
// and each member on which the undisturbed runs do not agree. Such a member must not change once more after it was set. Objects must be created and deleted as
// often as in the undisturbed runs, except while events are hidden from the controller, and except for one that is made and deleted again before the next rest.
// On the way to a rest, a member of a spec must take no value that it did not take undisturbed, and must not go back to one. A restart at the
// end must write nothing. What a controller that reads an old state makes for an owner that is gone is not counted if the garbage collector deletes it.
//
// If the undisturbed runs differ in which objects a controller makes, that is the first finding. If they differ in what the steps or the World make, the scenario is at
// fault. A finding that does not come again when its plan is repeated is in Report.Once.
//
// # What it cannot find
//
// A fault that all undisturbed runs have, too, is not seen, unless Scenario.Check finds it. Code that waits for real time or for a
// socket does not work in a bubble, and neither does a goroutine of a controller that does not end with its context. A loop without requests lets no time go on: the
// search names it after two minutes, and ends.
package explore
