package timeline

// stretch is something between two places of a row, which may stand for many.
type stretch struct {
	x0, x1 float64
	// items are the indices of what it stands for.
	items []int
}

// wide is how long something has to be to be drawn by itself, in terms of the
// distance at which things are drawn as one.
const wide = 3

// gather makes one stretch of all that are short and nearer to each other than a
// distance. bounds returns the ends of the i-th of n, ordered by the first.
func gather(n int, distance float64, bounds func(i int) (x0, x1 float64)) []stretch {
	var all []stretch
	open := false // the last one takes more
	for i := range n {
		x0, x1 := bounds(i)
		narrow := x1-x0 < wide*distance
		if last := len(all) - 1; open && narrow && x0-all[last].x1 < distance {
			all[last].x1 = max(all[last].x1, x1)
			all[last].items = append(all[last].items, i)
			continue
		}
		all = append(all, stretch{x0, x1, []int{i}})
		open = narrow
	}
	return all
}
