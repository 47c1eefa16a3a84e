//go:build unix

package agent

import (
	"os"
	"syscall"
)

// lock says whether nobody else has the file open as a journal. Closing it gives it up.
func lock(file *os.File) (bool, error) {
	err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == syscall.EWOULDBLOCK {
		return false, nil
	}
	return err == nil, err
}
