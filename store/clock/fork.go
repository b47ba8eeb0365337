package clock

// Forker is a Clock that can be had a second time: a fork of a store goes by a
// Fork of its clock, and by the very same one where that is no Forker.
type Forker interface {
	Clock
	// Fork returns a clock that shows the same time and moves on its own.
	Fork() Clock
}

// Fork returns a Manual that shows the same time, with no timer set. From here on
// each of the two is moved by a FastForward of its own.
func (m *Manual) Fork() Clock { return NewManual(m.Now()) }
