package alerts

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"sigs.k8s.io/yaml"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

//go:embed rules runbooks fragments.yaml inhibitions.yaml
var files embed.FS

// definition is a rule of a file of the folder rules, as Prometheus reads it apart from calls, and with a few more fields.
type definition struct {
	Rule
	// Objective is the ID of the objective of an alert. A recording rule has the objective of the first alert that reads it.
	Objective string `json:"objective"`
	// BurnRate is the index of the burn rate of the objective that the rule is for.
	BurnRate *int `json:"burn_rate"`
	// OptIn reports whether only controllers with a threshold of their own have the alert.
	OptIn bool `json:"opt_in"`

	group string
}

// book is the content of the files.
type book struct {
	alerts []Alert
	// groups have no rules.
	groups []Group
	// records are the recording rules in the order of the files: a rule reads only earlier ones, and itself.
	records     []definition
	fragments   map[string]string
	inhibitions []inhibition
}

var loaded = sync.OnceValue(func() book {
	b, err := load(files)
	if err != nil {
		panic(err) // a test loads the same files
	}
	return b
})

// load reads the files. Its error names every file, rule and field that is wrong.
func load(files fs.FS) (book, error) {
	var b book
	errs := []error{decode(files, "fragments.yaml", &b.fragments), decode(files, "inhibitions.yaml", &b.inhibitions)}
	for name, fragment := range b.fragments {
		if err := check(strings.ReplaceAll(fragment, "<<1>>", ""), b.fragments); err != nil {
			errs = append(errs, fmt.Errorf("fragments.yaml: %s: %w", name, err))
		}
	}
	paths, _ := fs.Glob(files, "rules/*.yaml")
	slices.SortFunc(paths, func(x, y string) int { return cmp.Compare(position(x), position(y)) })
	for _, p := range paths {
		errs = append(errs, b.readRules(files, p))
	}
	if err := errors.Join(errs...); err != nil { // runbooks of wrong rules would be errors, too
		return b, err
	}
	return b, b.readRunbooks(files)
}

// position returns the position of the family of a file with rules in reading order. The group fleet is the last.
func position(p string) int {
	i := slices.IndexFunc(catalog.Families(), func(f catalog.Family) bool { return groupName(f) == strings.TrimSuffix(path.Base(p), ".yaml") })
	if i < 0 {
		return len(catalog.Families())
	}
	return i
}

// readRules reads a file with groups of rules. All have the name of the file, apart from a suffix.
func (b *book) readRules(files fs.FS, p string) error {
	var file struct {
		Groups []struct {
			Name     string            `json:"name"`
			Interval string            `json:"interval"`
			Rules    []json.RawMessage `json:"rules"`
		} `json:"groups"`
	}
	if err := decode(files, p, &file); err != nil {
		return err
	}
	var errs []error
	for _, g := range file.Groups {
		if family(g.Name) != strings.TrimSuffix(path.Base(p), ".yaml") {
			errs = append(errs, fmt.Errorf("%s: group %q does not have the name of the file", p, g.Name))
		}
		b.groups = append(b.groups, Group{Name: g.Name, Interval: g.Interval})
		for i, raw := range g.Rules {
			d := definition{group: g.Name}
			err := strict(raw, &d)
			if err == nil {
				err = b.add(d)
			}
			if err != nil {
				errs = append(errs, fmt.Errorf("%s: rule %s: %w", p, cmp.Or(d.Alert, d.Record, fmt.Sprint(i+1)), err))
			}
		}
	}
	return errors.Join(errs...)
}

// family returns the name of the family of a group: lag for lag.long.
func family(group string) string {
	name, _, _ := strings.Cut(group, ".")
	return name
}

// add adds a rule.
func (b *book) add(d definition) error {
	texts := map[string]string{"record": d.Record, "alert": d.Alert, "expr": d.Expr, "for": d.For, "keep_firing_for": d.KeepFiringFor}
	for name, value := range d.Labels {
		texts["labels."+name] = value
	}
	for name, value := range d.Annotations {
		texts["annotations."+name] = value
	}
	for _, field := range slices.Sorted(maps.Keys(texts)) {
		if err := check(texts[field], b.fragments); err != nil {
			return fmt.Errorf("%s: %w", field, err)
		}
	}
	switch {
	case (d.Alert == "") == (d.Record == ""):
		return errors.New("alert, record: want one of them")
	case d.Expr == "":
		return errors.New("expr: is missing")
	case d.Record != "":
		if d.Objective != "" || d.Labels != nil || d.Annotations != nil || d.For != "" || d.KeepFiringFor != "" {
			return errors.New("record: has fields of an alert")
		}
		b.records = append(b.records, d)
		return nil
	}
	all := catalog.Objectives.All()
	i := slices.IndexFunc(all, func(o catalog.Objective) bool { return o.ID == d.Objective })
	if i < 0 {
		return fmt.Errorf("objective: %q is not the ID of an objective of the catalog", d.Objective)
	}
	o := all[i]
	if n := len(o.BurnRates); (d.BurnRate != nil) != (n > 0) || d.BurnRate != nil && (*d.BurnRate < 0 || *d.BurnRate >= n) {
		return fmt.Errorf("burn_rate: want one of the %d of %s", n, o.ID)
	}
	if want := groupName(o.Metric.Family); d.group != want {
		return fmt.Errorf("objective: %s is about a metric of the group %s", o.ID, want)
	}
	for _, name := range []string{SummaryAnnotation, DescriptionAnnotation} {
		if d.Annotations[name] == "" {
			return fmt.Errorf("annotations.%s: is missing", name)
		}
	}
	if i := slices.IndexFunc(b.alerts, func(a Alert) bool { return a.Name == d.Alert }); i >= 0 {
		if b.alerts[i].Objective.ID != o.ID {
			return fmt.Errorf("objective: an earlier rule of the alert has %s", b.alerts[i].Objective.ID)
		}
		b.alerts[i].rules = append(b.alerts[i].rules, d)
		return nil
	}
	b.alerts = append(b.alerts, Alert{Name: d.Alert, Objective: o, group: d.group, rules: []definition{d}})
	return nil
}

// decode reads a file in YAML.
func decode(files fs.FS, p string, to any) error {
	raw, err := fs.ReadFile(files, p)
	if err == nil {
		raw, err = yaml.YAMLToJSONStrict(raw)
	}
	if err == nil {
		err = strict(raw, to)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", p, err)
	}
	return nil
}

// strict decodes JSON without unknown fields.
func strict(raw []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	return d.Decode(to)
}
