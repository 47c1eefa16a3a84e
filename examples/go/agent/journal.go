package agent

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
)

// journal is a session's log in a file, and beside it, in a file that ends in .runs, which runs of
// tools have begun: an effect's id a line. The Python package has the same files, and goes on from
// them. One process writes them at a time, which a lock sees to. Without a journal nothing is kept.
type journal struct {
	path      string
	log, runs *os.File
	begun     map[uint64]bool
	// The bytes of the newest snapshot, and of those before it.
	newest, spare int64
}

var snapshot = []byte(`{"snapshot":`)

func openJournal(path string) (*journal, error) {
	if path == "" {
		return nil, nil
	}
	runs, err := openToAppend(path + ".runs")
	if err != nil {
		return nil, err
	}
	if free, err := lock(runs); err != nil || !free {
		if err == nil {
			err = fmt.Errorf("another process goes on with %s", path)
		}
		return nil, errors.Join(err, runs.Close())
	}
	noted, err := os.ReadFile(path + ".runs")
	if err != nil {
		return nil, err
	}
	j := &journal{path: path, runs: runs, begun: make(map[uint64]bool)}
	// Of a line that was cut nothing is known: its run had not begun.
	whole := noted[:bytes.LastIndexByte(noted, '\n')+1]
	for line := range bytes.Lines(whole) {
		if id, err := strconv.ParseUint(string(bytes.TrimSpace(line)), 10, 64); err == nil {
			j.begun[id] = true
		}
	}
	return j, nil
}

// isEmpty says whether nothing was ever said in a log: of a first line that was cut nothing has
// followed.
func isEmpty(log []byte) bool {
	beginning := []byte(`{"format":"innerloop-log"`)
	beginning = beginning[:min(len(log), len(beginning))]
	return bytes.HasPrefix(log, beginning) && !bytes.Contains(log, []byte("\n"))
}

// begin begins a log, of which there is none yet.
func (j *journal) begin() (err error) {
	if j == nil {
		return nil
	}
	if j.log, err = openToAppend(j.path); err != nil {
		return err
	}
	log, err := os.ReadFile(j.path)
	if err != nil || !isEmpty(log) {
		return errors.Join(err, fmt.Errorf("%s has a session already", j.path))
	}
	return errors.Join(j.log.Truncate(0), j.forget())
}

// replace puts lines in the place of what the log holds: all of them or none.
func (j *journal) replace(lines [][]byte) (err error) {
	fresh := j.path + ".new"
	// A link that somebody has put there would lead to another file.
	_ = os.Remove(fresh)
	if err := os.WriteFile(fresh, nil, 0o600); err != nil {
		return err
	}
	if j.log, err = openToAppend(fresh); err != nil {
		return err
	}
	if err := j.write(lines, true); err != nil {
		return err
	}
	return os.Rename(fresh, j.path)
}

// append writes lines; what is durable outlives a power cut, too.
func (j *journal) append(lines [][]byte, durable bool) error {
	if j == nil || len(lines) == 0 {
		return nil
	}
	if err := j.write(lines, durable); err != nil {
		return err
	}
	if last := lines[len(lines)-1]; bytes.HasPrefix(last, snapshot) {
		// The session is idle: no run is under way.
		return errors.Join(j.forget(), j.dropOlder(int64(len(last)+1)))
	}
	return nil
}

// dropOlder drops the snapshots before the newest, of that many bytes, once they are a third of the
// log: with all of them it would grow with the square of the conversation. One behind the header
// may stand for inputs that are in no line.
func (j *journal) dropOlder(newest int64) error {
	j.spare, j.newest = j.spare+j.newest, newest
	about, err := j.log.Stat()
	if err != nil || j.spare <= max(64<<10, (about.Size()-j.spare)/2) {
		return err
	}
	log, err := os.ReadFile(j.path)
	if err != nil {
		return err
	}
	lines := bytes.Split(bytes.TrimSuffix(log, []byte("\n")), []byte("\n"))
	var kept [][]byte
	for number, line := range lines {
		if number < 2 || number == len(lines)-1 || !bytes.HasPrefix(line, snapshot) {
			kept = append(kept, line)
		}
	}
	old := j.log
	if err := j.replace(kept); err != nil {
		j.log = old // As it stands it is whole, too.
		return nil
	}
	j.spare = 0
	return old.Close()
}

func (j *journal) write(lines [][]byte, durable bool) error {
	_, err := j.log.Write(append(bytes.Join(lines, []byte("\n")), '\n'))
	if err == nil && durable {
		err = j.log.Sync()
	}
	return err
}

// runBegins notes that a run begins, before it does.
func (j *journal) runBegins(id uint64) error {
	if j == nil {
		return nil
	}
	j.begun[id] = true
	if _, err := fmt.Fprintln(j.runs, id); err != nil {
		return err
	}
	return j.runs.Sync()
}

// hasBegun says whether a run may have taken effect.
func (j *journal) hasBegun(id uint64) bool { return j != nil && j.begun[id] }

func (j *journal) close() error {
	if j == nil {
		return nil
	}
	err := j.runs.Close()
	if j.log != nil {
		err = errors.Join(err, j.log.Close())
	}
	return err
}

func (j *journal) forget() error {
	clear(j.begun)
	return j.runs.Truncate(0)
}

func openToAppend(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
}
