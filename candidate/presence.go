package candidate

import "time"

// noteSilence finds the entrants that did not answer their ping in time.
func (c *contest) noteSilence(v *verdict, now time.Time, o *ElectorOptions) {
	for _, t := range c.entrants {
		if t.silent || t.pings == 0 {
			continue
		}
		if end := t.pinged.Add(o.PingWindow); now.Before(end) {
			c.wakeAt(end)
			continue
		}
		t.fallSilent(now, o)
		c.offers++
		v.silent = append(v.silent, t)
	}
}

// sweep pings entrants that gave no sign of life for half of Validity, and
// collects those that gave none for the whole of it.
func (c *contest) sweep(v *verdict, now time.Time, o *ElectorOptions) {
	for _, t := range c.entrants {
		age, ask := t.age(now), o.Validity/2
		switch {
		case age < ask:
			c.wakeAt(now.Add(ask - age))
		case t.pings == 0 || age >= o.Validity && !t.asked:
			v.ping = append(v.ping, t)
		case age < o.Validity:
			c.wakeAt(now.Add(o.Validity - age))
		case now.Before(t.pinged.Add(o.PingWindow)):
			c.wakeAt(t.pinged.Add(o.PingWindow))
		default:
			v.collect = append(v.collect, t)
		}
	}
}

// noteMissed notes it if the elected candidate has let the Lease run out without
// ever renewing it.
func (c *contest) noteMissed(v *verdict, now time.Time, o *ElectorOptions) {
	if c.appointed == "" || !c.observed.Expired(now) {
		return
	}
	if t := c.entrant(c.appointed); t != nil {
		v.missed = c.appointed
		if t.miss(now, o) {
			c.offers++
		}
	}
	c.appointed = ""
}
