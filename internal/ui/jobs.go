package ui

import (
	"bytes"
	"context"
	"net/http"
	"sync"
)

// Kinds of jobs. One of each kind runs at a time.
const (
	explaining = "explain"
	fitting    = "fit"
)

// A job is a command running in the background.
type job struct {
	cancel context.CancelFunc
	ended  chan struct{}

	mu     sync.Mutex
	status status
	stdout bytes.Buffer
	stderr bytes.Buffer
}

// status is the state of a job for the page.
type status struct {
	ID    int    `json:"job"`
	Kind  string `json:"kind"`
	Ended bool   `json:"ended"`
	Done  int    `json:"done"` // number of completed steps
	Total int    `json:"total"`
	What  string `json:"what"` // name of the current step
	// Passed lists the completed steps, for a job whose steps have names.
	Passed []string `json:"passed"`
	output
}

// output is the output of a command and its exit code.
type output struct {
	Code int    `json:"code"`
	Out  string `json:"out"`
	Err  string `json:"err"`
}

// jobs are the jobs of a server.
type jobs struct {
	mu   sync.Mutex
	all  []*job
	last int
}

// mostJobs is the maximum number of jobs kept.
const mostJobs = 16

// startJob starts a job. It cancels a running explanation, but not a run of fit.
func (s *Server) startJob(
	kind string,
	args []string,
	clean func(),
) (any, error) {
	s.jobs.mu.Lock()
	defer s.jobs.mu.Unlock()
	for _, j := range s.jobs.all {
		if st := j.currentStatus(); st.Kind == kind && !st.Ended {
			if kind == fitting {
				clean()
				return nil,
					refusef(http.StatusConflict, "a run is in progress: wait until it ends, or stop it")
			}
			j.cancel()
		}
	}
	s.jobs.last++
	ctx, cancel := context.WithCancel(context.Background())
	j := &job{
		cancel: cancel,
		ended:  make(chan struct{}),
		status: status{ID: s.jobs.last, Kind: kind},
	}
	s.jobs.all = append(s.jobs.all, j)
	if first := s.jobs.all[0]; len(s.jobs.all) > mostJobs && first.currentStatus().Ended {
		s.jobs.all = s.jobs.all[1:]
	}
	go func() {
		defer close(j.ended)
		defer cancel()
		defer clean()
		code := s.o.Run(ctx,
			Call{
				Args:     args,
				Stdout:   j.lockedWriter(&j.stdout),
				Stderr:   j.lockedWriter(&j.stderr),
				Progress: j.setProgress,
			})
		j.mu.Lock()
		defer j.mu.Unlock()
		j.status.Ended = true
		j.status.output = output{code, s.shortenPaths(j.stdout.String()),
			s.shortenPaths(j.stderr.String())}
	}()
	return j.currentStatus(), nil
}

func (j *job) setProgress(done, total int, what string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.status.What != what {
		j.status.Passed = append(j.status.Passed, what)
	}
	j.status.Done = done
	j.status.Total = total
	j.status.What = what
}

func (j *job) currentStatus() status {
	j.mu.Lock()
	defer j.mu.Unlock()
	out := j.status
	out.Passed = append([]string{}, out.Passed...)
	return out
}

// lockedWriter returns a writer that is safe for concurrent use.
func (j *job) lockedWriter(to *bytes.Buffer) writer {
	return func(p []byte) (int, error) {
		j.mu.Lock()
		defer j.mu.Unlock()
		return to.Write(p)
	}
}

type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) {
	return w(p)
}

// findJob returns a job by its number.
func (s *Server) findJob(id int) (*job, error) {
	s.jobs.mu.Lock()
	defer s.jobs.mu.Unlock()
	for _, j := range s.jobs.all {
		if j.status.ID == id {
			return j, nil
		}
	}
	return nil, refusef(http.StatusNotFound, "unknown job")
}

// answerJob returns the progress of a job.
func (s *Server) answerJob(_ *http.Request, a *request) (any, error) {
	j, err := s.findJob(a.Job)
	if err != nil {
		return nil, err
	}
	return j.currentStatus(), nil
}

// answerCancel interrupts a job, as Ctrl-C does.
func (s *Server) answerCancel(r *http.Request, a *request) (any, error) {
	j, err := s.findJob(a.Job)
	if err != nil {
		return nil, err
	}
	j.cancel()
	select {
	case <-j.ended:
	case <-r.Context().Done():
	}
	return j.currentStatus(), nil
}

// stopAll stops all jobs and waits for them to end.
func (x *jobs) stopAll() {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, j := range x.all {
		j.cancel()
		<-j.ended
	}
}
