package explore

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// maxNth is how many equal requests get plans of their own: a Lease is renewed many times.
const (
	maxNth       = 12
	maxNthLeases = 2
)

// parsePlans parses the plans that were given.
func (x *explorer) parsePlans() error {
	texts := x.o.Plans
	x.chosen = texts != nil
	for _, text := range texts {
		p, err := parsePlan(text)
		if err != nil {
			return err
		}
		x.given = append(x.given, p)
	}
	return nil
}

// plans returns the plans to run, the likely ones first.
func (x *explorer) plans() ([]plan, error) {
	if !x.chosen {
		return x.derive(), nil
	}
	for _, p := range x.given {
		if err := x.fits(p); err != nil {
			return nil, err
		}
	}
	return x.given, nil
}

// fits returns an error if a plan is for another scenario.
func (x *explorer) fits(p plan) error {
	if p.step > len(x.s.Steps) {
		return fmt.Errorf("plan %q: got step %d, want one up to %d", p, p.step, len(x.s.Steps))
	}
	if p.controller != "" && !slices.ContainsFunc(x.s.Controllers, func(c Controller) bool { return c.name() == p.controller }) {
		return fmt.Errorf("plan %q: there is no controller %q", p, p.controller)
	}
	for _, name := range []string{p.resource, p.at.resource} {
		if name, _, _ = strings.Cut(name, "/"); name != "" && !x.serves(name) {
			return fmt.Errorf("plan %q: the server has no resource %q", p, name)
		}
	}
	if onRequest, _, _ := actions(); (slices.Contains(onRequest, p.action) || p.action == down && p.at != target{}) && !x.sends(p.at) {
		return fmt.Errorf("plan %q hits nothing: the controllers do not send \"%s %s %s\" in an undisturbed run", p, p.at.verb, p.at.resource, p.at.object)
	}
	return nil
}

// serves reports whether there is a resource, or was in an undisturbed run.
func (x *explorer) serves(name string) bool {
	return x.resources[name] || slices.ContainsFunc(x.references[0].changes, func(c change) bool { return c.target.resource == name })
}

// sends reports whether a controller sends a request in an undisturbed run, its number aside.
func (x *explorer) sends(t target) bool {
	for _, l := range x.references {
		for i := range x.s.Controllers {
			if l.occur[occurrence(x.s.Controllers[i].name(), t)] > 0 {
				return true
			}
		}
	}
	return false
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
		if slices.Contains(writeVerbs(), r.target.verb) && r.step < len(x.s.Steps) && x.s.Controllers[r.controller].replicas() == 1 {
			byAction[downAfter] = append(byAction[downAfter], x.with(r.controller, plan{action: down, step: r.step + 1, at: r.target}))
		}
		on(slices.DeleteFunc(slices.Clone(r.adds), func(a string) bool { return a == addCondition && !ref.othersReport(r.target.resource) })...)
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
		several := ref.changedOf(read[i]) > 1
		for step := range len(x.s.Steps) + 1 {
			add(i, plan{action: restart, step: step})
			if x.s.Controllers[i].Command != nil {
				add(i, plan{action: terminate, step: step})
			}
			if step > 0 {
				add(i, plan{action: down, step: step})
			}
			for _, resource := range watched[i] {
				if step > 0 && ref.changesIn(step, resource) {
					add(i, plan{action: collapse, step: step, resource: resource})
				}
			}
			for _, c := range ref.changes {
				if c.step <= step && read[i][c.target.resource] && !isEvent(c.target.resource) && c.target.nth <= maxNth && c.target.resource != "leases" {
					add(i, plan{action: staleRestart, step: step, at: c.target})
					if several {
						byAction[staleOne] = append(byAction[staleOne], x.with(i, plan{action: staleRestart, step: step, resource: c.target.resource, at: c.target}))
					}
				}
			}
		}
		for _, resource := range watched[i] {
			add(i, plan{action: slowEvents, resource: resource})
			add(i, plan{action: expireWatch, resource: resource})
		}
	}
	byAction[staleRestart], byAction[staleOne] = spread(byAction[staleRestart]), spread(byAction[staleOne])
	for n := range undisturbedMore {
		byAction[none] = append(byAction[none], plan{action: none, seed: uint64(n)})
	}
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

// Turns of plans that are not the only ones of their action.
const (
	readError = "read"       // reads that fail
	staleOne  = "stale-one"  // one resource lags
	downAfter = "down-after" // the process ends at a request, and is down in the next step
)

// undisturbedMore is how many of the plans are none.
const undisturbedMore = 10

// othersReport reports whether others than the controllers write the status of objects of a resource. A controller that is alone with it loses nothing.
func (l *life) othersReport(resource string) bool {
	resource, _, _ = strings.Cut(resource, "/")
	reported := func(m move) bool {
		return strings.HasPrefix(m.path, ".status") && m.path != ".status.observedGeneration" // it is behind after each change
	}
	return slices.ContainsFunc(l.changes, func(c change) bool {
		return c.target.resource == resource && !c.isControllers() && c.Old != nil && slices.ContainsFunc(c.moved, reported)
	})
}

// changedOf counts the resources of a set that change in the run.
func (l *life) changedOf(read map[string]bool) int {
	seen := map[string]bool{}
	for _, c := range l.changes {
		if r := c.target.resource; read[r] && !isEvent(r) && r != "leases" {
			seen[r] = true
		}
	}
	return len(seen)
}

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
		crashAfter, staleRestart, lostAnswer, collapse, staleOne, crashBefore, down, addFinalizer, staleRestart, takeover, interfere, addEntry, crashAfter, restart, terminate,
		staleRestart, staleOne, downAfter, addCondition, answer409, crashTwice, answer504After, slowEvents, expireWatch, addOwner, answer500, readError, none, answer504, answer429,
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
