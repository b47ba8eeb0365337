package main

import (
	"errors"
	"flag"
)

// refuseOthers adds the flags of examples/server that make no sense on etcd, and refuses
// them with a reason.
func refuseOthers(f *flag.FlagSet) {
	for name, reason := range map[string]string{
		"load":       "etcd gives the versions: to move objects here, apply them with kubectl; to move etcd's own, restore a backup of etcd",
		"dump":       "etcd has all objects already: to keep a copy, take a snapshot of etcd",
		"dump-every": "etcd has all objects already: to keep a copy, take a snapshot of etcd",
		"debug":      "faults and forks are for tests: use examples/server",
		"clock":      "replicas need clocks that go on by themselves: use examples/server for tests",
	} {
		f.Func(name, "refused: "+reason, func(string) error { return errors.New(reason) })
	}
}
