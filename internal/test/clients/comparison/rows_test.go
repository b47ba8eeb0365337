package comparison

// rows are the rows of the table, in its order.
var rows = []row{
	conflicts, created, refused, dryRun, patches, apply, finalizers,
	selectors, lists, history, following, unread, expiry,
	clients, wire, kinds,
	trouble, before, after, virtual,
}
