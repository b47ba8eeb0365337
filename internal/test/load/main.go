// Command load puts the loads on a server that the limits of docs/reliability.md are for. Each is
// bounded, stays on the loopback, and prints its figure.
//
//	go build -o /tmp/server ./examples/server
//	go run ./internal/test/load NAME -server /tmp/server [-- flags of the server]
//
// Without a name it lists the loads.
package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
)

// loads are the loads by name. They get the arguments after it.
func loads() map[string]func(args []string) error {
	return map[string]func(args []string) error{
		"bodies":      bodies,
		"browser":     browser,
		"conflicts":   conflicts,
		"connections": connections,
		"crash":       crash,
		"deaf":        deaf,
		"deliveries":  deliveries,
		"fixtures":    fixtures,
		"future":      future,
		"greedy":      greedy,
		"h2lists":     unreadLists,
		"history":     history,
		"large":       large,
		"leaders":     leaders,
		"lists":       lists,
		"inflight":    inflight,
		"quota":       quota,
		"ranges":      ranges,
		"selector":    selectors,
		"slowbodies":  slowBodies,
		"unread":      unread,
		"waiters":     waiters,
		"watchers":    watchers,
	}
}

func main() {
	if len(os.Args) < 2 || loads()[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: load NAME [flags]; the names:", slices.Sorted(maps.Keys(loads())))
		os.Exit(2)
	}
	if err := loads()[os.Args[1]](os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}
