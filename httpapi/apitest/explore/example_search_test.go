package explore_test

import (
	"context"
	"fmt"
	"os"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/httpapi/apitest/explore"
)

// testBench is a TB for a program that is no test.
type testBench struct{ apitest.TB }

// A program of any language is tested by another program, which prints what each process has written beside a finding.
func ExampleSearch() {
	steps, err := explore.Manifests("testdata/steps") // 1-apply-shop.yaml, 2-delete-shop.yaml
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	report, err := explore.Search(context.Background(), explore.Scenario{
		API: apitest.New(testBench{}),
		Controllers: []explore.Controller{{
			Command: []string{"python3", "controller.py", "--metrics=127.0.0.1:{port}"},
			Env:     []string{"LOG_LEVEL=debug"},
			Dir:     ".",
		}},
		Steps: steps,
	}, explore.Options{Progress: func(p explore.Progress) {
		if p.Found != "" {
			fmt.Fprintln(os.Stderr, p.Runs, "runs:", p.Found)
		}
	}})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	for _, f := range report.Findings {
		fmt.Println(f.Text, f.Plans)
		printOutputs(f.Outputs)
	}
}

func printOutputs(all []explore.Output) {
	for _, o := range all {
		fmt.Println(o.Name, "has written:", o.Text)
	}
}
