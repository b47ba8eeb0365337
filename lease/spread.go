package lease

import (
	"encoding/binary"
	"hash/fnv"
	"time"
)

// jitter is the part of RetryPeriod by which pauses differ at most. It is less than jitterFactor
// allows, so that RenewDeadline has room for the retries that it had.
const jitter = 0.1

// next returns when to renew, or to try again, after a time: RetryPeriod later and a little more,
// so that leaders that began at once do not renew at once for ever.
func (c *Contender) next(tried time.Time) time.Time { return c.after(tried, c.opts.RetryPeriod) }

// after returns a time which is that long after another one, or up to a tenth later.
func (c *Contender) after(at time.Time, d time.Duration) time.Time {
	return at.Add(d + time.Duration(jitter*c.chance(at)*float64(d)))
}

// Times after which Contenders try to take a Lease that has become free. A thousand of them need
// some 20 ms to see who was first. One in a hundred does not wait, so that a crowd has a new holder
// before the others write.
const (
	firstTurn = 20 * time.Millisecond
	lastTurn  = 30 * time.Millisecond
	eager     = 0.01
)

// turn returns when the Contender may try to take the Lease that it has observed.
func (c *Contender) turn() time.Time {
	now := c.clock.Now()
	free := c.observed.Expires()
	if free.Before(now) {
		free = now
	}
	chance := c.chance(now)
	if chance < eager {
		return free
	}
	return free.Add(firstTurn + time.Duration(chance*float64(lastTurn-firstTurn)))
}

// chanceOf returns the chances of an identity: a number from 0 to less than 1 that is different for
// each identity and time. So tests in virtual time repeat themselves.
func chanceOf(identity string) func(at time.Time) float64 {
	return func(at time.Time) float64 {
		h := fnv.New64a()
		h.Write([]byte(identity))
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(at.UnixNano())))
		return float64(h.Sum64()>>11) / (1 << 53)
	}
}
