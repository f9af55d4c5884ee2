package schema2

import (
	"encoding/json"
	"fmt"
)

var (
	refreshes = []string{"never", "onDashboardLoad", "onTimeRangeChanged"}
	hides     = []string{"dontHide", "hideLabel", "hideVariable"}
	sorts     = []string{
		"disabled", "alphabeticalAsc", "alphabeticalDesc", "numericalAsc", "numericalDesc",
		"alphabeticalCaseInsensitiveAsc", "alphabeticalCaseInsensitiveDesc", "naturalAsc", "naturalDesc",
	}
)

func (d classic) variables() ([]object, error) {
	list := make([]object, len(d.Templating.List))
	for i, v := range d.Templating.List {
		spec := object{
			"name": v.Name, "label": v.Label, "hide": hides[v.Hide], "skipUrlSync": v.SkipURLSync, "regex": "", "options": []object{},
			"current": v.current(), "multi": v.Multi, "includeAll": v.IncludeAll, "allowCustomValue": v.AllowCustomValue,
			"refresh": refreshes[v.Refresh],
		}
		if v.AllValue != "" {
			spec["allValue"] = v.AllValue
		}
		switch v.Type {
		case "datasource":
			if err := json.Unmarshal(v.Query, new(string)); err != nil {
				return nil, fmt.Errorf("variable %s: %w", v.Name, err)
			}
			spec["pluginId"], spec["refresh"] = v.Query, refreshes[1]
			list[i] = kind("DatasourceVariable", spec)
		case "query":
			var asked map[string]any
			if err := json.Unmarshal(v.Query, &asked); err != nil {
				return nil, fmt.Errorf("variable %s: %w", v.Name, err)
			}
			spec["sort"], spec["definition"] = sorts[v.Sort], v.Definition
			q := query(v.Datasource, nil)
			q["spec"] = asked
			spec["query"] = q
			list[i] = kind("QueryVariable", spec)
		default:
			return nil, fmt.Errorf("variable %s: unknown type %q", v.Name, v.Type)
		}
	}
	return list, nil
}

func (v classicVariable) current() any {
	if v.Current == nil {
		return object{"text": "", "value": ""}
	}
	return v.Current
}

func (d classic) annotations() []object {
	list := make([]object, len(d.Annotations.List))
	for i, a := range d.Annotations.List {
		legacy := object{"titleFormat": a.TitleFormat, "textFormat": a.TextFormat}
		for key, value := range map[string]string{"tagKeys": a.TagKeys, "step": a.Step, "useValueForTime": a.UseValueForTime} {
			if value != "" {
				legacy[key] = value
			}
		}
		list[i] = kind("AnnotationQuery", object{
			"name": a.Name, "enable": a.Enable, "hide": a.Hide, "iconColor": a.IconColor, "builtIn": a.BuiltIn != 0,
			"query": query(a.Datasource, a.Target), "legacyOptions": legacy,
		})
	}
	return list
}

// links returns links without a placement, which is the default anyway.
func links(classic []map[string]any) []object {
	list := make([]object, len(classic))
	for i, l := range classic {
		list[i] = object{}
		for key, value := range l {
			if key != "placement" {
				list[i][key] = value
			}
		}
	}
	return list
}
