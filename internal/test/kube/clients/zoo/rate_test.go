package zoo

import (
	"context"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/httpapi/apitest/explore"
)

// BenchmarkExplore measures runs of scenarios: managers with few and many requests, informers, electors, and a World that polls. An operation is a run.
// The CPU time of a run says more than its rate if other programs use the machine.
//
//	go test ./zoo -run - -bench Explore -benchtime 200x -cpu 1,2
func BenchmarkExplore(b *testing.B) {
	all := animals()
	named := func(name string) animal {
		return all[slices.IndexFunc(all, func(a animal) bool { return a.name == name })]
	}
	steps := func(a animal, more ...explore.Step) animal {
		a.steps = append(slices.Clone(a.steps), more...)
		return a
	}
	x, y, z := aWidget("x", "x"), aWidget("y", "y"), aWidget("z", "z")
	leak := steps(named("leak"), create(x), create(y), create(z), remove(y))
	b.Run("manager", func(b *testing.B) { benchmark(b, leak, nil) })
	b.Run("informers", func(b *testing.B) { benchmark(b, named("missed"), nil) })
	b.Run("electors", func(b *testing.B) { benchmark(b, named("leaders"), nil) })
	b.Run("manager that elects", func(b *testing.B) { benchmark(b, electedLeak(leak), nil) })
	b.Run("world that polls", func(b *testing.B) { benchmark(b, leak, poll()) })
}

// electedLeak returns two replicas of leak.
func electedLeak(a animal) animal {
	a.replicas = 2
	a.make = func(wrong bool) run {
		return elected(func(mgr ctrl.Manager) error {
			l := &leaking{mgr.GetClient(), mgr.GetAPIReader(), wrong}
			return ctrl.NewControllerManagedBy(mgr).For(&widget{}).Complete(reconciler(l.reconcile))
		})
	}
	return a
}

// poll returns a World that lists the Pods and ConfigMaps each second. It makes a new client each time, as a step does.
func poll() func(context.Context, explore.Conn) error {
	look := step("look", func(ctx context.Context, c client.Client) error {
		if err := c.List(ctx, &corev1.PodList{}); err != nil {
			return err
		}
		return c.List(ctx, &corev1.ConfigMapList{})
	})
	return func(ctx context.Context, c explore.Conn) error {
		for ctx.Err() == nil {
			if err := look.Do(ctx, c); err != nil {
				return err
			}
			wait(ctx, time.Second)
		}
		return nil
	}
}

func benchmark(b *testing.B, a animal, world func(context.Context, explore.Conn) error) {
	var report *explore.Report
	measure := func(t *testing.T) {
		api := prepared(t)
		report = a.measured(t, api, world, 1) // what is made once
		runtime.GC()
		b.ResetTimer()
		before := cpu()
		report = a.measured(t, api, world, b.N)
		spent := cpu() - before
		b.StopTimer()
		b.ReportMetric(float64(spent.Microseconds())/1000/float64(b.N), "cpu-ms/run")
		b.ReportMetric(float64(report.Runs)/report.Elapsed.Seconds(), "runs/s")
		b.ReportMetric(float64(report.Requests), "requests")
	}
	// Explore needs a test.
	if !testing.RunTests(func(string, string) (bool, error) { return true, nil }, []testing.InternalTest{{Name: "Explore", F: measure}}) {
		b.Fatal("the exploration fails")
	}
}

// measured explores the mended animal.
func (a *animal) measured(t *testing.T, api *apitest.API, world func(context.Context, explore.Conn) error, runs int) *explore.Report {
	r, err := explore.Explore(t, explore.Scenario{
		API: api, Controllers: []explore.Controller{{Name: a.name, Run: a.make(false), Replicas: a.replicas}}, Steps: a.steps, World: world,
	}, explore.Options{Runs: runs, Budget: time.Hour, Parallel: runtime.GOMAXPROCS(0), Logf: func(string, ...any) {}})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Findings {
		t.Logf("%s", f)
	}
	return r
}

// cpu returns the processor time of the process.
func cpu() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
