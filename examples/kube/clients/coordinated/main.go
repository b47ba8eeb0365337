package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"

	"k8s.io/klog/v2"

	"github.com/kubecoord/kubecoord/examples/kube/clients/internal/virtualtime"
	"github.com/kubecoord/kubecoord/internal/timeline"
)

// programName precedes errors.
const programName = "coordinated"

func main() {
	inRealTime := flag.Bool("real", false, "take real time, with a lease of 4s instead of 15s")
	picture := flag.String("svg", "", "`file` to write the timeline to, as an SVG")
	flag.Parse()
	silenceClients()

	out := os.Stdout
	if !*inRealTime {
		virtualtime.Exit(programName, func(ctx context.Context) error { return report(ctx, out, *picture, classic) })
	}
	if err := report(context.Background(), out, *picture, quick); err != nil {
		virtualtime.Fail(programName, err)
	}
}

// report runs the upgrade and writes its timeline as a table and, if a file is named,
// as a picture.
func report(ctx context.Context, out io.Writer, picture string, s settings) error {
	t, err := upgrade(ctx, s)
	err = errors.Join(err, t.WriteText(out))
	if picture != "" {
		err = errors.Join(err, draw(picture, t))
	}
	if err == nil {
		fmt.Fprintln(out, "\nno two led at once")
	}
	return err
}

func draw(file string, t timeline.Timeline) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	return errors.Join(timeline.SVG(f, t), f.Close())
}

// silenceClients drops the log of client-go.
func silenceClients() {
	klog.SetSlogLogger(slog.New(slog.DiscardHandler))
	virtualtime.HandleErrorsAtOnce()
}
