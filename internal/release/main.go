// Command release makes the commits and tags of a release. It pushes nothing.
//
//	go run ./internal/release v0.1.0
//
// The branch gets one commit, with the date of the release in CHANGELOG.md, and the tag of the root module. A second commit,
// which is on no branch, has the tags of the nested modules that users take: all but those in a folder internal. There each requires the
// other modules of the repository in this version, has their hashes in its go.sum, and replaces nothing. The branch itself keeps its
// replace directives: a module could not be tidied or built without go.work while a version that it requires is not published. The root
// module is the same in both commits. Its tag is on the branch so that later commits have later pseudo-versions.
//
// The command refuses a version that is no canonical semantic version, that is a tag already or is not later than the last tag, and a
// version that promises an API which the last tag had and this tree has not; the API of examples is not compared. It refuses a work tree
// that is not clean, a CHANGELOG.md without entries, and nested modules with replace or exclude directives that would not hold for their
// users. It then says what to do, and the repository is as before.
package main

import (
	"flag"
	"fmt"
	"os"
	"time"
)

func main() {
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: go run ./internal/release VERSION\n\nMakes the commits and tags of a release such as v0.1.0, and prints the command that publishes them.")
	}
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	r, err := prepare(".", flag.Arg(0), time.Now())
	if err != nil {
		fmt.Fprintf(os.Stderr, "release %s: %v\n", flag.Arg(0), err)
		os.Exit(1)
	}
	r.print(os.Stdout)
}
