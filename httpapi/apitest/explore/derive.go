package explore

import (
	"cmp"
	"fmt"
	"slices"
)

// maxNth is how many equal requests get plans of their own: a Lease is renewed many times.
const (
	maxNth       = 12
	maxNthLeases = 2
)

// plans returns the plans to run, the likely ones first.
func (x *explorer) plans() ([]plan, error) {
	texts := x.o.Plans
	if *flags.plan != "" {
		texts = []string{*flags.plan}
	}
	if texts != nil {
		x.chosen = true
		var plans []plan
		for _, text := range texts {
			p, err := parsePlan(text)
			if err == nil {
				err = x.fits(p)
			}
			if err != nil {
				return nil, err
			}
			plans = append(plans, p)
		}
		return plans, nil
	}
	return x.derive(), nil
}

// fits returns an error if a plan is for another scenario.
func (x *explorer) fits(p plan) error {
	if p.step > len(x.s.Steps) {
		return fmt.Errorf("plan %q: got step %d, want one up to %d", p, p.step, len(x.s.Steps))
	}
	if p.controller == "" {
		return nil
	}
	if !slices.ContainsFunc(x.s.Controllers, func(c Controller) bool { return c.name() == p.controller }) {
		return fmt.Errorf("plan %q: there is no controller %q", p, p.controller)
	}
	return nil
}

// derive makes the plans from what the controllers did undisturbed. Kinds of plans take turns, so that a short exploration has some of each.
func (x *explorer) derive() []plan {
	ref := x.references[0]
	byAction := map[string][]plan{}
	add := func(controller int, p plan) {
		p = x.with(controller, p)
		byAction[p.action] = append(byAction[p.action], p)
	}
	read := make([]map[string]bool, len(x.s.Controllers)) // resources, by controller
	for i := range read {
		read[i] = map[string]bool{}
	}
	watched := make([][]string, len(x.s.Controllers))
	for _, r := range ref.requests {
		if !x.always(r) {
			continue
		}
		limit := maxNth
		if r.target.resource == "leases" {
			limit = maxNthLeases
		}
		if r.target.nth > limit || isEvent(r.target.resource) {
			continue
		}
		on := func(actions ...string) {
			for _, a := range actions {
				add(r.controller, plan{action: a, at: r.target})
			}
		}
		switch r.target.verb {
		case "create", "deletecollection":
			on(crashAfter, lostAnswer, crashBefore, crashTwice, answer500, answer504, answer504After, answer429)
		case "update", "patch", "apply", "delete":
			on(crashAfter, lostAnswer, crashBefore, crashTwice, answer500, answer504, answer504After, answer429, interfere)
			if r.target.verb == "update" {
				on(answer409)
			}
		case "get", "list":
			byAction[readError] = append(byAction[readError], x.with(r.controller, plan{action: answer500, at: r.target}))
			read[r.controller][r.target.resource] = true
		case "watch":
			read[r.controller][r.target.resource] = true
			if !slices.Contains(watched[r.controller], r.target.resource) {
				watched[r.controller] = append(watched[r.controller], r.target.resource)
			}
		}
		if x.s.Controllers[r.controller].replicas() > 1 && slices.Contains(writeVerbs(), r.target.verb) && r.target.resource != "leases" {
			on(takeover)
		}
	}
	for i := range x.s.Controllers {
		for step := range len(x.s.Steps) + 1 {
			add(i, plan{action: restart, step: step})
			for _, resource := range watched[i] {
				if step > 0 && ref.changesIn(step, resource) {
					add(i, plan{action: collapse, step: step, resource: resource})
				}
			}
			for _, c := range ref.changes {
				if c.step <= step && read[i][c.target.resource] && !isEvent(c.target.resource) && c.target.nth <= maxNth && c.target.resource != "leases" {
					add(i, plan{action: staleRestart, step: step, at: c.target})
				}
			}
		}
		for _, resource := range watched[i] {
			add(i, plan{action: slowEvents, resource: resource})
			add(i, plan{action: expireWatch, resource: resource})
		}
	}
	byAction[staleRestart] = spread(byAction[staleRestart])
	return takeTurns(byAction)
}

// always reports whether all undisturbed runs have a request.
func (x *explorer) always(r request) bool {
	for _, l := range x.references[1:] {
		if l.occur[occurrence(x.s.Controllers[r.controller].name(), r.target)] < r.target.nth {
			return false
		}
	}
	return true
}

// readError is the turn of reads that fail.
const readError = "read"

// with adds the controller of a plan, if there are several.
func (x *explorer) with(controller int, p plan) plan {
	if len(x.s.Controllers) > 1 {
		p.controller = x.s.Controllers[controller].name()
	}
	return p
}

// changesIn reports whether objects of a resource change in a step.
func (l *life) changesIn(step int, resource string) bool {
	return slices.ContainsFunc(l.changes, func(c change) bool { return c.step == step && c.target.resource == resource })
}

// spread changes an order so that each part of it has some of all.
func spread(plans []plan) []plan {
	type ranked struct {
		rank uint32
		plan plan
	}
	all := make([]ranked, len(plans))
	for i, p := range plans {
		all[i] = ranked{uint32(i) * 2654435769, p} // the golden ratio spreads evenly
	}
	slices.SortFunc(all, func(a, b ranked) int { return cmp.Compare(a.rank, b.rank) })
	out := make([]plan, len(plans))
	for i, r := range all {
		out[i] = r.plan
	}
	return out
}

// takeTurns returns all plans, one of each action after the other, and two of the likeliest.
func takeTurns(byAction map[string][]plan) (out []plan) {
	turns := []string{
		crashAfter, staleRestart, lostAnswer, collapse, crashBefore, staleRestart, takeover, interfere, crashAfter, restart, staleRestart,
		answer409, crashTwice, answer504After, slowEvents, expireWatch, answer500, readError, answer504, answer429,
	}
	for more := true; more; {
		more = false
		for _, a := range turns {
			if list := byAction[a]; len(list) > 0 {
				out, byAction[a], more = append(out, list[0]), list[1:], true
			}
		}
	}
	return out
}
