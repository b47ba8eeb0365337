package comparison

// rows are the rows of the table, in its order.
var rows = []row{
	kinds,
	conflicts, created, refused, dryRun, patches, apply, finalizers,
	selectors, lists, history, following, unread, expiry,
	clients, wire,
	trouble, before, after, virtual,
}
