package timeline

import (
	"time"

	"github.com/kubecoord/kubecoord/candidate"
)

// epoch is when the timelines of tests begin.
var epoch = time.Date(2026, 3, 14, 9, 26, 50, 0, time.UTC)

// after returns a time some seconds after epoch.
func after(seconds float64) time.Time {
	return epoch.Add(time.Duration(seconds * float64(time.Second)))
}

// upgrade is an upgrade of three candidates as client-go's behave: the oldest
// leads, is drained, the next one leads, crashes, and the third follows; then one
// comes back and is preferred.
func upgrade() Timeline {
	const oldest = "OldestEmulationVersion"
	return Timeline{
		From: epoch, Until: after(240),
		Leases: []Lease{{
			Namespace: "kube-system", Name: "scheduler", Strategy: oldest,
			Candidates: []Candidate{
				{Name: "scheduler-a-7d4b", Offers: []Offer{
					{From: after(4), Until: after(70), BinaryVersion: "1.35.0", EmulationVersion: "1.35.0", Strategy: oldest},
					{From: after(165), BinaryVersion: "1.35.1", EmulationVersion: "1.35.0", Strategy: oldest},
				}},
				{Name: "scheduler-b-x9k2", Offers: []Offer{
					{From: after(20), Until: after(95), BinaryVersion: "1.36.0", EmulationVersion: "1.36.0", Strategy: oldest},
					{From: after(95), BinaryVersion: "1.37.0", EmulationVersion: "1.36.0", Strategy: oldest},
				}},
				{Name: "scheduler-c-p0q1", Offers: []Offer{{From: after(31), BinaryVersion: "1.37.0", EmulationVersion: "1.37.0", Strategy: oldest}}},
			},
			Spans: []Span{
				{Holder: "scheduler-a-7d4b", From: after(4), TakenUp: after(5.2), LastRenewed: after(69), Until: after(70), Renewals: 32, Began: Elected, Ended: Released},
				{Holder: "scheduler-b-x9k2", From: after(70.6), TakenUp: after(72), LastRenewed: after(110), Until: after(125), Renewals: 19, Began: Elected, Ended: Expired},
				{Holder: "scheduler-c-p0q1", From: after(130), TakenUp: after(131.5), LastRenewed: after(166), Until: after(181), Renewals: 17, Began: Elected, Ended: HandedOver},
				{Holder: "scheduler-a-7d4b", From: after(181.4), TakenUp: after(183), LastRenewed: after(239), Renewals: 28, Began: Preferred},
			},
			Gaps: []Gap{{From: after(70), Until: after(70.6)}, {From: after(125), Until: after(130)}, {From: after(181), Until: after(181.4)}},
			Marks: []Mark{
				{Time: after(4), Type: candidate.Elected, Candidate: "scheduler-a-7d4b"},
				{Time: after(70.1), Type: candidate.Pinged, Candidate: "scheduler-b-x9k2"},
				{Time: after(70.1), Type: candidate.Pinged, Candidate: "scheduler-c-p0q1"},
				{Time: after(70.4), Type: candidate.Answered, Candidate: "scheduler-b-x9k2"},
				{Time: after(70.6), Type: candidate.Answered, Candidate: "scheduler-c-p0q1"},
				{Time: after(70.6), Type: candidate.Elected, Candidate: "scheduler-b-x9k2"},
				{Time: after(125), Type: candidate.Pinged, Candidate: "scheduler-b-x9k2"},
				{Time: after(125), Type: candidate.Pinged, Candidate: "scheduler-c-p0q1"},
				{Time: after(125.3), Type: candidate.Answered, Candidate: "scheduler-c-p0q1"},
				{Time: after(130), Type: candidate.Silent, Candidate: "scheduler-b-x9k2"},
				{Time: after(130), Type: candidate.Elected, Candidate: "scheduler-c-p0q1"},
				{Time: after(165.1), Type: candidate.Pinged, Candidate: "scheduler-c-p0q1"},
				{Time: after(165.3), Type: candidate.Answered, Candidate: "scheduler-c-p0q1"},
				{Time: after(165.4), Type: candidate.Preferred, Candidate: "scheduler-a-7d4b"},
				{Time: after(181.4), Type: candidate.Elected, Candidate: "scheduler-a-7d4b"},
				{Time: after(222), Type: candidate.Collected, Candidate: "scheduler-b-x9k2"},
			},
		}, {
			Namespace: "default", Name: `<script>alert("x")</script>`, Strategy: "example.com/newest",
			Candidates: []Candidate{
				{Name: `"><image href="http://example.com/a.png"/>`, Offers: []Offer{{From: after(60), BinaryVersion: "1.0.0"}}},
				{Name: "two\x1b[31m\u202elines\nof\x00it&amp;", Offers: []Offer{{From: after(62), BinaryVersion: "1.0.0"}}},
			},
			Spans: []Span{
				{Holder: "an outsider", From: epoch, TakenUp: epoch, LastRenewed: after(45), Until: after(60), Renewals: 22, Began: Found, Ended: Expired},
				{Holder: "two\x1b[31m\u202elines\nof\x00it&amp;", From: after(64), Until: after(69), Began: Elected, Ended: Expired},
				{Holder: "another", From: after(210), TakenUp: after(210), LastRenewed: after(238), Renewals: 14, Began: Acquired},
			},
			Gaps: []Gap{{From: after(60), Until: after(64)}, {From: after(69), Until: after(210)}},
			Marks: []Mark{
				{Time: after(69), Type: candidate.Missed, Candidate: "two\x1b[31m\u202elines\nof\x00it&amp;"},
				{Time: after(80), Type: candidate.Failed, Text: "conflicting strategies: </title><script>alert(1)</script>"},
				{Time: after(150), Type: candidate.StrategySet},
				{Time: after(170), Type: candidate.PreferenceCleared},
			},
			Forgotten: 3,
		}},
		Forgotten: 12,
	}
}
