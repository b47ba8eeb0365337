package explore

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The text of a plan is read as the same plan.
func TestPlansPrintAndParse(t *testing.T) {
	onRequest, _, _ := actions()
	all := []plan{
		{action: restart, step: 3}, {action: staleRestart, step: 2, at: target{"update", "widgets", "default/a", 7}},
		{action: collapse, step: 1, resource: "pods"}, {action: slowEvents, resource: "events.events.k8s.io"}, {action: expireWatch, resource: "pods"},
		{action: random, seed: 9}, {action: restart, step: 0, controller: "second"}, {action: slowEvents, resource: "pods", controller: "by"},
		{action: staleRestart, step: 2, resource: "pods", at: target{"update", "pods", "default/a", 7}}, {action: down, step: 1},
		{action: down, step: 1, at: target{"create", "secrets", "default/a", 2}, controller: "x"}, {action: none}, {action: none, seed: 3},
	}
	for _, a := range onRequest {
		all = append(all, plan{action: a, at: target{"create", "pods/binding", "default/web-*", 1}}, plan{action: a, at: target{"list", "nodes", "*", 2}, controller: "x"})
	}
	for _, p := range all {
		got, err := parsePlan(p.String())
		require.NoError(t, err, p)
		assert.Equal(t, p, got)
	}
}

func TestPlansThatCannotBeParsed(t *testing.T) {
	for text, want := range map[string]string{
		"":                                    "got no action, want one of crash-before, ",
		"by x":                                `got the action "by"`,
		"crash":                               `got the action "crash", want one of crash-before, crash-after, `,
		"crash-after":                         `got "", want a request such as`,
		"crash-after create pods default/a":   `got "create pods default/a", want a request`,
		"crash-after create pods default/a 1": `got "1", want a number from 1 on, such as #1`,
		"lost-answer create pods a #0":        `got "#0", want a number`,
		"lost-answer create pods a #x":        `got "#x", want a number`,
		"restart":                             `got "", want the number of a step first`,
		"restart -1":                          `got "-1", want the number of a step first`,
		"restart 1 2":                         `got "2" after the step`,
		"collapse 1":                          `got "" after the step`,
		"stale-restart 1 create pods a #1":    `got "create pods a #1" after the step`,
		"stale-restart 1 before pods a #1":    `got "pods a #1", want a request`,
		"slow-events":                         `got "", want one resource, such as pods`,
		"slow-events a b":                     `got "a b", want one resource`,
		"down":                                `got "", want the number of a step first`,
		"down 0":                              `got "0", want the number of a step first`,
		"down 1 create pods a #1":             `got "create pods a #1" after the step`,
		"none x":                              `got "x" after none, want nothing or a number`,
		"random":                              `got "", want a seed from 1 on`,
		"random 0":                            `got "0", want a seed`,
		"random x":                            `got "x", want a seed`,
	} {
		_, err := parsePlan(text)
		if assert.Error(t, err, text) {
			assert.Contains(t, err.Error(), want)
			assert.Contains(t, err.Error(), "plan ")
		}
	}
}
