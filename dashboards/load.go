package dashboards

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"

	"sigs.k8s.io/yaml"
)

//go:embed pages/*.yaml
var files embed.FS

const fragmentsFile = "pages/fragments.yaml"

// uids are the dashboards in the order of All. The file of a dashboard is named after its UID.
var uids = []string{FleetUID, OverviewUID, DetailUID, ControllersUID, LeaderElectionUID, ObjectsUID, APIClientUID, ClientsUID, ExporterUID}

// book is the content of the files.
type book struct {
	pages     []pageFile
	fragments map[string]string
}

var loaded = sync.OnceValue(func() book {
	b, err := load(files)
	if err != nil {
		panic(err) // a test loads the same files
	}
	return b
})

// load reads the files. Its error names every file, panel and field that is wrong.
func load(files fs.FS) (book, error) {
	var b book
	errs := []error{decode(files, fragmentsFile, &b.fragments)}
	for _, uid := range uids {
		p := pageFile{file: "pages/" + strings.TrimPrefix(uid, "informers-") + ".yaml"}
		if err := decode(files, p.file, &p); err != nil {
			errs = append(errs, err)
			continue
		}
		if p.UID != uid {
			errs = append(errs, fmt.Errorf("%s: uid: %q, want %s", p.file, p.UID, uid))
		}
		b.pages = append(b.pages, p)
	}
	if err := errors.Join(errs...); err != nil {
		return b, err
	}
	for _, p := range b.pages {
		_, err := b.page(p, Config{})
		errs = append(errs, err)
	}
	return b, errors.Join(errs...)
}

// decode reads a file in YAML without unknown fields.
func decode(files fs.FS, path string, to any) error {
	raw, err := fs.ReadFile(files, path)
	if err == nil {
		raw, err = yaml.YAMLToJSONStrict(raw)
	}
	if err == nil {
		d := json.NewDecoder(bytes.NewReader(raw))
		d.DisallowUnknownFields()
		err = d.Decode(to)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
