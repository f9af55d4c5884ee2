package follow

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// position is where a File continues after a restart.
type position struct {
	Offset int64 `json:"offset"`
	Head   head  `json:"head"`
}

// load reads a position. It reports whether there is one; a damaged file has none, as after a crash of the machine.
func load(path string) (p position, found bool, err error) {
	if path == "" {
		return p, false, nil
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return p, false, nil
	}
	if err != nil {
		return p, false, fmt.Errorf("read the position: %w", err)
	}
	if json.Unmarshal(text, &p) != nil || p.Offset < 0 || p.Head.Size <= 0 {
		return position{}, false, nil
	}
	return p, true, nil
}

// save writes the position if it changed. The file is replaced, so that a crash leaves the old or the new one.
func (f *File) save() error {
	now := position{Offset: f.offset, Head: f.head}
	if f.options.Position == "" || f.file == nil || now == f.saved {
		return nil
	}
	if now.Head.Size == 0 {
		now.Head = identify(f.file)
		if now.Head.Size == 0 { // an empty file cannot be told from others
			return nil
		}
		f.head = now.Head
	}
	text, err := json.Marshal(now)
	if err != nil {
		return err
	}
	temporary, err := os.CreateTemp(filepath.Dir(f.options.Position), ".position-*")
	if err != nil {
		return fmt.Errorf("write the position: %w", err)
	}
	_, err = temporary.Write(text)
	err = errors.Join(err, temporary.Close())
	if err == nil {
		err = os.Rename(temporary.Name(), f.options.Position)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write the position: %w", err), os.Remove(temporary.Name()))
	}
	f.saved = now
	return nil
}
