// Command mutate checks that the tests see small mistakes. It plants the mutations of mutations.txt, one at a time, and runs the tests
// that must fail.
//
//	go run ./internal/test/mutate              # all, about half an hour
//	go run ./internal/test/mutate -run 'hub'   # those whose name matches
//
// The files of the work tree do not change: the compiler takes the mutated file through -overlay. A mutation in mutations.txt is
//
//	== name: the mistake in words
//	file internal/hub/reader.go
//	test ./internal/hub
//	- the text that is replaced, which is once in the file
//	+ the text in its place
//
// The packages of a test line, of any module of go.work, are tested one after the other, until one fails. Before them may be flags of go test, as -race. Lines of
// both texts may repeat. The line "alive REASON" says why no test can see the mutation; then the tests must pass.
package main
