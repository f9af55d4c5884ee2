package dashboards

// pageFile is a file of the folder pages. Texts may have marks.
type pageFile struct {
	UID         string `json:"uid"`
	Title       string `json:"title"`
	Description string `json:"description"`
	// Alerts is a regular expression of the alerts to mark on the graphs, empty for none.
	Alerts string `json:"alerts"`
	// Leaders also marks leader transitions.
	Leaders   bool           `json:"leaders"`
	Variables []variableFile `json:"variables"`
	Rows      []rowFile      `json:"rows"`

	file string
}

type variableFile struct {
	Name   string `json:"name"`
	Title  string `json:"title"`
	Series string `json:"series"`
	Label  string `json:"label"`
	Single bool   `json:"single"`
	All    string `json:"all"`
}

type rowFile struct {
	ID        uint32     `json:"id"`
	Title     string     `json:"title"`
	Collapsed bool       `json:"collapsed"`
	Lines     []lineFile `json:"lines"`
}

type lineFile struct {
	Height uint32      `json:"height"`
	Panels []panelFile `json:"panels"`
}

// panelFile is a panel of any kind: stat, timeseries, table or timeline. Each kind reads some of the fields.
type panelFile struct {
	ID          uint32 `json:"id"`
	Title       string `json:"title"`
	Kind        string `json:"kind"`
	Description string `json:"description"`
	Unit        string `json:"unit"`
	// Width is in 24ths of the page. Without widths, the panels of a line are equally wide.
	Width uint32 `json:"width"`
	Empty string `json:"empty"`
	Zero  string `json:"zero"`
	goalFile

	Queries []queryFile `json:"queries"`
	Ceiling float64     `json:"ceiling"`
	Stacked bool        `json:"stacked"`
	Top     bool        `json:"top"`

	Query string    `json:"query"`
	Idle  string    `json:"idle"`
	Link  *linkFile `json:"link"`

	Labels   []columnFile `json:"labels"`
	Columns  []columnFile `json:"columns"`
	Sort     []string     `json:"sort"`
	Clusters bool         `json:"clusters"`
	Positive string       `json:"positive"`
	Rows     string       `json:"rows"`

	// Names are the texts for the values of a timeline, 0 and 1, and Color is the color of 0.
	Names map[string]string `json:"names"`
	Color string            `json:"color"`
}

// goalFile is the limit of good values.
type goalFile struct {
	// Objective is the ID of an objective of the catalog, and Budget the ID of one with the share of events that may miss it as limit.
	Objective string `json:"objective"`
	Budget    string `json:"budget"`
	// Red is the lowest bad value without an objective: a number, or a text with a mark for one.
	Red any `json:"red"`
}

type queryFile struct {
	Legend string `json:"legend"`
	Expr   string `json:"expr"`
	// Traced requests exemplars.
	Traced bool `json:"traced"`
}

type columnFile struct {
	Title  string `json:"title"`
	Label  string `json:"label"`
	Query  string `json:"query"`
	Unit   string `json:"unit"`
	Hidden bool   `json:"hidden"`
	Below  bool   `json:"below"`
	Narrow bool   `json:"narrow"`
	goalFile
	Names map[string]string `json:"names"`
	Link  *linkFile         `json:"link"`
}

type linkFile struct {
	Title     string   `json:"title"`
	Dashboard string   `json:"dashboard"`
	URL       string   `json:"url"`
	Sets      []string `json:"sets"`
}
