package defaults

import flowcontrolv1 "k8s.io/api/flowcontrol/v1"

func addFlowcontrol(r rules) {
	on(r, func(s *flowcontrolv1.FlowSchemaSpec) { value(&s.MatchingPrecedence, 1000) })
	on(r, func(c *flowcontrolv1.ExemptPriorityLevelConfiguration) {
		pointer(&c.NominalConcurrencyShares, 0)
		pointer(&c.LendablePercent, 0)
	})
	on(r, func(c *flowcontrolv1.LimitedPriorityLevelConfiguration) {
		pointer(&c.NominalConcurrencyShares, 30)
		pointer(&c.LendablePercent, 0)
	})
	on(r, func(c *flowcontrolv1.QueuingConfiguration) {
		value(&c.HandSize, 8)
		value(&c.Queues, 64)
		value(&c.QueueLengthLimit, 50)
	})
}
