package schema2

import (
	"fmt"
	"strconv"
)

// tabs returns all panels by name, one tab for each row, and the variables of the tabs' rules.
func (d classic) tabs() (elements object, tabs, variables []object, err error) {
	elements = object{}
	for i := 0; i < len(d.Panels); i++ {
		row := d.Panels[i]
		if row.Type != "row" {
			return nil, nil, nil, fmt.Errorf("panel %q is in no row", row.Title)
		}
		panels := row.Panels
		for !row.Collapsed && i+1 < len(d.Panels) && d.Panels[i+1].Type != "row" {
			i++
			panels = append(panels, d.Panels[i])
		}
		for _, p := range panels {
			if elements[p.name()] != nil {
				return nil, nil, nil, fmt.Errorf("two panels have the id %d", p.ID)
			}
			elements[p.name()] = p.element()
		}
		tab := object{"title": row.Title, "layout": grid(panels)}
		if row.Collapsed {
			tab["layout"] = autoGrid(panels)
			if variable, rule := row.presence(panels[0].Datasource); variable != nil {
				variables, tab["conditionalRendering"] = append(variables, variable), rule
			}
		}
		tabs = append(tabs, kind("TabsLayoutTab", tab))
	}
	return elements, tabs, variables, nil
}

func (p classicPanel) name() string { return "panel-" + strconv.Itoa(p.ID) }

func (p classicPanel) reference() object { return object{"kind": "ElementReference", "name": p.name()} }

// grid keeps the positions that panels have in their row.
func grid(panels []classicPanel) object {
	items := make([]object, len(panels))
	for i, p := range panels {
		items[i] = kind("GridLayoutItem", object{
			"x": p.GridPos.X, "y": p.GridPos.Y - panels[0].GridPos.Y, "width": p.GridPos.W, "height": p.GridPos.H, "element": p.reference(),
		})
	}
	return kind("GridLayout", object{"items": items})
}

// autoGrid returns panels that close up when one without data is hidden.
func autoGrid(panels []classicPanel) object {
	items := make([]object, len(panels))
	for i, p := range panels {
		items[i] = kind("AutoGridLayoutItem", object{"element": p.reference(), "conditionalRendering": hasData})
	}
	return kind("AutoGridLayout", object{"maxColumnCount": 2, "columnWidthMode": "standard", "rowHeightMode": "standard", "items": items})
}

func (p classicPanel) element() object {
	queries := make([]object, len(p.Targets))
	for i, target := range p.Targets {
		queries[i] = kind("PanelQuery", object{"refId": target["refId"], "hidden": target["hide"] == true, "query": query(p.Datasource, target)})
	}
	transformations := make([]object, len(p.Transformations))
	for i, t := range p.Transformations {
		transformations[i] = object{"kind": "Transformation", "group": t.ID, "spec": object{"options": t.Options}}
	}
	return kind("Panel", object{
		"id": p.ID, "title": p.Title, "description": p.Description, "transparent": p.Transparent, "links": p.dataLinks(),
		"data": kind("QueryGroup", object{"queries": queries, "transformations": transformations, "queryOptions": object{}}),
		"vizConfig": object{
			"kind": "VizConfig", "group": p.Type, "version": "",
			"spec": object{"options": p.Options, "fieldConfig": p.FieldConfig},
		},
	})
}

// query returns a query, without the fields that the schema keeps elsewhere.
func query(from source, target map[string]any) object {
	spec := object{}
	for key, value := range target {
		switch key {
		case "refId", "datasource", "hide":
		default:
			spec[key] = value
		}
	}
	return object{"kind": "DataQuery", "group": from.Type, "version": "v0", "datasource": object{"name": from.UID}, "spec": spec}
}

// dataLinks returns the links of the panel, which have fewer fields than links of a dashboard.
func (p classicPanel) dataLinks() []object {
	list := make([]object, len(p.Links))
	for i, l := range p.Links {
		list[i] = object{"title": l["title"], "url": l["url"], "targetBlank": l["targetBlank"] == true}
	}
	return list
}
