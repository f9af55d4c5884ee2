package schema2

import "encoding/json"

type classic struct {
	UID, Title, Description, Timezone, Refresh string
	Editable                                   bool
	FiscalYearStartMonth, GraphTooltip         int
	SchemaVersion                              int
	Inputs                                     []any `json:"__inputs"`   // only for importing
	Requires                                   []any `json:"__requires"` // the same
	Tags                                       []string
	Time                                       struct{ From, To string }
	Links                                      []map[string]any
	Panels                                     []classicPanel
	Templating                                 struct{ List []classicVariable }
	Annotations                                struct{ List []classicAnnotation }
}

type source struct{ Type, UID string }

// classicPanel is a panel or, with the type row, a heading. A collapsed row holds its panels.
type classicPanel struct {
	ID                       int
	Type, Title, Description string
	Transparent              bool
	Collapsed                bool
	Datasource               source
	GridPos                  struct{ X, Y, W, H int }
	Options                  any
	FieldConfig              any
	Targets                  []map[string]any
	Transformations          []struct {
		ID      string
		Options any
	}
	// RepeatDirection has no effect without a repeated variable.
	RepeatDirection string
	Panels          []classicPanel
	Links           []map[string]any
}

type classicVariable struct {
	Type, Name, Label, Definition, AllValue string
	Datasource                              source
	Query                                   json.RawMessage
	Current                                 any
	Hide, Refresh, Sort                     int
	IncludeAll, Multi, SkipURLSync          bool
	AllowCustomValue                        bool
	// Auto, AutoCount and AutoMin apply only to interval variables.
	Auto      bool
	AutoCount int    `json:"auto_count"`
	AutoMin   string `json:"auto_min"`
}

type classicAnnotation struct {
	Name, IconColor, Expr, TitleFormat, TextFormat, TagKeys, Placement string
	BuiltIn                                                            int
	Enable, Hide                                                       bool
	Datasource                                                         source
	Target                                                             map[string]any
	Step                                                               string
	UseValueForTime                                                    string
}
