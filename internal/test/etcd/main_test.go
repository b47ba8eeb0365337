package etcd_test

import (
	"flag"
	"os"
	"testing"
)

// TestMain runs all tests at once, however few processors there are: they spend their time waiting for watches to stay quiet.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "3"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
