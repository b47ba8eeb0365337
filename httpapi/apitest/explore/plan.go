package explore

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// plan is what goes wrong in one run. Its text can be parsed again; see parsePlan.
type plan struct {
	action string
	// step is the rest after which a restart comes, or the step in which events are hidden or the process is down.
	step int
	// resource is whose watches are disturbed, and for stale-restart the only one that lags, or "" for all.
	resource string
	// at is the request that meets the perturbation, or for stale-restart the first change that the controller does not see. For down it is the
	// request at which the process ends, or nothing.
	at   target
	seed uint64
	// controller has the name of the Controller, or "" if there is only one.
	controller string
	// late makes another client add something at the next rest, and not just before the request.
	late bool
}

// The actions of plans.
const (
	crashBefore    = "crash-before"     // the process ends before the request is carried out
	crashAfter     = "crash-after"      // the process ends after the request was carried out, without its answer
	crashTwice     = "crash-twice"      // crash-after, and again after the next write
	lostAnswer     = "lost-answer"      // the request is carried out, and the connection breaks
	answer409      = "answer-409"       // a conflict
	answer429      = "answer-429"       // the server has too many requests
	answer500      = "answer-500"       // an error of the server, once
	answer504      = "answer-504"       // a deadline; nothing was carried out
	answer504After = "answer-504-after" // a deadline; the request was carried out
	interfere      = "interfere"        // another client changes the object just before the request: it adds an annotation
	addFinalizer   = "interfere-finalizer"
	addOwner       = "interfere-owner"
	addCondition   = "interfere-condition"
	addEntry       = "interfere-entry" // an item in each list with keys that the request names
	takeover       = "takeover"        // the leader loses its connection with the request in flight, which arrives after another leads
	down           = "down"            // the process does not run while a step happens
	restart        = "restart"         // the process ends at rest and starts again
	terminate      = "terminate"       // a program gets SIGTERM at rest and starts again
	staleRestart   = "stale-restart"   // the process ends at rest, and reads an old state when it starts again
	slowEvents     = "slow-events"     // events of one resource come late
	expireWatch    = "expire-watch"    // watches of one resource end with 410, and list again
	collapse       = "collapse"        // the controller sees only the last state of each object after a step
	random         = "random"          // the Adversary of package apitest
	none           = "none"            // nothing goes wrong
)

// simplest compares two plans: what a reader understands sooner comes first.
func simplest(a, b plan) int {
	order := []string{none, restart, terminate, crashAfter, crashBefore, lostAnswer, down, answer500, answer504, answer504After, answer429, answer409, interfere, addFinalizer, addOwner, addCondition, addEntry, takeover, crashTwice, collapse, staleRestart, expireWatch, slowEvents, random}
	return cmp.Or(cmp.Compare(slices.Index(order, a.action), slices.Index(order, b.action)), cmp.Compare(a.step, b.step), strings.Compare(a.String(), b.String()))
}

// actions are the actions by what follows them in a plan.
func actions() (onRequest, onRest, onResource []string) {
	return []string{crashBefore, crashAfter, crashTwice, lostAnswer, answer409, answer429, answer500, answer504, answer504After, interfere, addFinalizer, addOwner, addCondition, addEntry, takeover},
		[]string{down, restart, terminate, staleRestart, collapse}, []string{slowEvents, expireWatch}
}

// target names a request of a controller, or a change, by what does not depend on the order of goroutines.
type target struct {
	verb     string
	resource string // with a subresource: "widgets/status"
	object   string // "default/a", or "*" for all
	nth      int    // from 1
}

// String returns the target as in a plan.
func (t target) String() string {
	return fmt.Sprintf("%s %s %s #%d", t.verb, t.resource, t.object, t.nth)
}

// parseTarget parses the words of a target.
func parseTarget(words []string) (target, error) {
	if len(words) != 4 {
		return target{}, fmt.Errorf("got %q, want a request such as \"create secrets default/a #1\"", strings.Join(words, " "))
	}
	nth, err := strconv.Atoi(strings.TrimPrefix(words[3], "#"))
	if err != nil || nth < 1 || !strings.HasPrefix(words[3], "#") {
		return target{}, fmt.Errorf("got %q, want a number from 1 on, such as #1", words[3])
	}
	return target{words[0], words[1], words[2], nth}, nil
}

// String returns the plan in a form that parsePlan reads.
func (p plan) String() string {
	words := []string{p.action}
	switch p.action {
	case restart, terminate:
		words = append(words, strconv.Itoa(p.step))
	case none:
		if p.seed > 0 {
			words = append(words, strconv.FormatUint(p.seed, 10))
		}
	case down:
		words = append(words, strconv.Itoa(p.step))
		if p.at != (target{}) {
			words = append(words, "after", p.at.String())
		}
	case staleRestart:
		words = append(words, strconv.Itoa(p.step))
		if p.resource != "" {
			words = append(words, p.resource)
		}
		words = append(words, "before", p.at.String())
	case collapse:
		words = append(words, strconv.Itoa(p.step), p.resource)
	case slowEvents, expireWatch:
		words = append(words, p.resource)
	case random:
		words = append(words, strconv.FormatUint(p.seed, 10))
	default:
		words = append(words, p.at.String())
	}
	if p.controller != "" {
		words = append(words, "by", p.controller)
	}
	return strings.Join(words, " ")
}

// parsePlan parses the text of a plan, such as "crash-after create secrets default/a #1", "restart 2", "terminate 2", "stale-restart 3 before update widgets
// default/a #2", "stale-restart 3 widgets before update widgets default/a #2", "down 2", "down 2 after create secrets default/a #1", "collapse 1 pods",
// "slow-events pods", "random 7" or "none", each with "by NAME" after it if there are several controllers.
func parsePlan(text string) (plan, error) {
	p, err := parseWords(strings.Fields(text))
	if err != nil {
		return plan{}, fmt.Errorf("plan %q: %w", text, err)
	}
	return p, nil
}

func parseWords(words []string) (p plan, err error) {
	onRequest, onRest, onResource := actions()
	all := strings.Join(slices.Concat(onRequest, onRest, onResource, []string{random, none}), ", ")
	if n := len(words); n > 2 && words[n-2] == "by" {
		p.controller, words = words[n-1], words[:n-2]
	}
	if len(words) == 0 {
		return p, fmt.Errorf("got no action, want one of %s", all)
	}
	p.action = words[0]
	rest := words[1:]
	switch {
	case slices.Contains(onRequest, p.action):
		p.at, err = parseTarget(rest)
		return p, err
	case slices.Contains(onResource, p.action):
		if len(rest) != 1 {
			return p, fmt.Errorf("got %q, want one resource, such as pods", strings.Join(rest, " "))
		}
		p.resource = rest[0]
		return p, nil
	case slices.Contains(onRest, p.action):
		err = p.parseRest(rest)
		return p, err
	case p.action == none && len(rest) == 0:
		return p, nil
	case p.action == none:
		if p.seed, err = strconv.ParseUint(strings.Join(rest, " "), 10, 32); err != nil {
			err = fmt.Errorf("got %q after none, want nothing or a number", strings.Join(rest, " "))
		}
		return p, err
	case p.action == random:
		if len(rest) == 1 {
			if p.seed, err = strconv.ParseUint(rest[0], 10, 64); err == nil && p.seed > 0 {
				return p, nil
			}
		}
		return p, fmt.Errorf("got %q, want a seed from 1 on", strings.Join(rest, " "))
	}
	return p, fmt.Errorf("got the action %q, want one of %s", p.action, all)
}

// parseRest parses what follows an action at a rest.
func (p *plan) parseRest(words []string) (err error) {
	if len(words) > 0 {
		p.step, err = strconv.Atoi(words[0])
	}
	if len(words) == 0 || err != nil || p.step < 0 || p.action == down && p.step == 0 {
		return fmt.Errorf("got %q, want the number of a step first", strings.Join(words, " "))
	}
	words = words[1:]
	switch {
	case len(words) == 0 && slices.Contains([]string{restart, terminate, down}, p.action):
		return nil
	case p.action == collapse && len(words) == 1:
		p.resource = words[0]
		return nil
	case p.action == down && words[0] == "after", p.action == staleRestart && len(words) > 0 && words[0] == "before":
		p.at, err = parseTarget(words[1:])
		return err
	case p.action == staleRestart && len(words) > 1 && words[1] == "before":
		p.resource = words[0]
		p.at, err = parseTarget(words[2:])
		return err
	}
	return fmt.Errorf("got %q after the step, want nothing for restart and terminate, nothing or \"after\" and a request for down, a resource for collapse, \"before\" and a change for stale-restart", strings.Join(words, " "))
}

// hides reports whether the plan hides events of a step from the controller, so that counts of the step say nothing.
func (p plan) hides(step int) bool {
	return p.action == random || p.action == collapse && p.step == step
}

// adds reports whether another client adds something to the object of a request. Then only what the controller does with it is judged.
func (p plan) adds() bool {
	return slices.Contains([]string{addFinalizer, addOwner, addCondition, addEntry}, p.action)
}

// isWord reports whether s can stand in a plan.
func isWord(s string) bool {
	return s != "" && len(strings.Fields(s)) == 1 && strings.TrimSpace(s) == s
}
