package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"k8s.io/klog/v2"

	"github.com/kubecoord/kubecoord/examples/kube/clients/internal/virtualtime"
	"github.com/kubecoord/kubecoord/internal/timeline"
	"github.com/kubecoord/kubecoord/lease"
)

// programName precedes errors.
const programName = "leaderelection"

func main() {
	s := settings{timing: classicTiming}
	inRealTime := flag.Bool("real", false, "take real time, with a lease of 3s instead of 15s")
	flag.IntVar(&s.electors, "electors", 3, "`number` of electors that contend for the Lease")
	flag.IntVar(&s.kills, "kills", 3, "`number` of times the leader is killed")
	picture := flag.String("svg", "", "`file` to write the timeline to, as an SVG")
	flag.Parse()
	silenceKlog()
	if *picture != "" {
		s.recorded = func(t timeline.Timeline) {
			if err := draw(*picture, t); err != nil {
				fmt.Fprintln(os.Stderr, programName+":", err)
			}
		}
	}

	out := os.Stdout
	if !*inRealTime {
		virtualtime.Exit(programName, func(ctx context.Context) error { return report(ctx, out, s) })
	}
	s.timing = quickTiming
	if err := report(context.Background(), out, s); err != nil {
		virtualtime.Fail(programName, err)
	}
}

// report plays and writes each change of the leader. It returns an error if two led at once.
func report(ctx context.Context, out io.Writer, s settings) error {
	if s.electors < 1 || s.kills < 0 {
		return fmt.Errorf("%d electors and %d kills: at least 1 and 0 are needed", s.electors, s.kills)
	}
	fmt.Fprintf(out, "%d electors, %d kills; %s\n\n", s.electors, s.kills, s.timing)
	err := play(ctx, s, func(h lease.Holding) {
		what := "nobody leads"
		if h.Holder != "" {
			what = fmt.Sprintf("%s leads, leaseTransitions %d", h.Holder, h.LeaseTransitions)
		}
		fmt.Fprintln(out, time.Now().UTC().Format("15:04:05.000"), what)
	})
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "\nno two led at once")
	return nil
}

func draw(file string, t timeline.Timeline) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	return errors.Join(timeline.SVG(f, t), f.Close())
}

// silenceKlog drops the log lines of client-go.
func silenceKlog() { klog.SetSlogLogger(slog.New(slog.DiscardHandler)) }
