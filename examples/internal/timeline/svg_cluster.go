package timeline

// cluster is a shape from x0 to x1 in a row. It shows one item, or several that are close
// together.
type cluster struct {
	x0, x1 float64
	items  []int // indices
}

// wide is the width from which an item is drawn alone, as a multiple of the distance
// below which items are drawn as one.
const wide = 3

// clusters joins narrow items that are closer to each other than distance. bounds returns
// the two ends of item i of n. Items are in the order of their x0.
func clusters(n int, distance float64, bounds func(i int) (x0, x1 float64)) []cluster {
	var all []cluster
	open := false // the last cluster may get more items
	for i := range n {
		x0, x1 := bounds(i)
		narrow := x1-x0 < wide*distance
		if last := len(all) - 1; open && narrow && x0-all[last].x1 < distance {
			all[last].x1 = max(all[last].x1, x1)
			all[last].items = append(all[last].items, i)
			continue
		}
		all = append(all, cluster{x0, x1, []int{i}})
		open = narrow
	}
	return all
}
