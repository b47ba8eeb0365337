// Package printers has the columns and cells of the Tables that kube-apiserver returns for built-in kinds: what kubectl get and
// kubectl get -o wide print.
//
// The column definitions are in columns.txt, which program gen records from a real server:
//
//	go run ./gen -server http://127.0.0.1:8099
//
// The cells are functions of the Go types of k8s.io/api. They follow pkg/printers/internalversion/printers.go of
// Kubernetes, where the server always asks for wide output. Program gen also records the rows that the server prints for the
// objects in testdata/objects, and the tests compare the cells with them.
package printers
