package prom

import (
	"fmt"
	"strings"
)

// Marks fills in the marks of a text: <<name>>, or <<name `argument` word>>. A mark is a call of a function or stands for a fragment, in
// which <<1>>, <<2>> stand for its arguments. Further lines are indented like the line of the mark.
type Marks struct {
	// Fragment returns the text of a name, and false if there is none. It may have marks, but not of itself.
	Fragment func(name string) (text string, ok bool)
	// Call returns the text of a mark that is not a fragment, and false if there is none.
	Call func(name string, arguments []string) (text string, ok bool)
}

// deepest is the number of fragments within each other above which they must be a circle.
const deepest = 10

// Fill fills in a text. The error names the mark.
func (m Marks) Fill(text string) (string, error) { return m.fill(text, nil, 0) }

func (m Marks) fill(text string, outer []string, depth int) (string, error) {
	if depth > deepest {
		return "", fmt.Errorf("%q: fragments form a circle", text)
	}
	var b strings.Builder
	whole := text
	for {
		before, rest, found := strings.Cut(text, "<<")
		if strings.Contains(before, ">>") {
			return "", fmt.Errorf(">> without << in %q", before)
		}
		b.WriteString(before)
		if !found {
			return b.String(), nil
		}
		inside := upTo(rest, ">>")
		if inside < 0 {
			return "", fmt.Errorf("<< without >> in %q", rest)
		}
		name, list, err := arguments(rest[:inside])
		if err != nil {
			return "", err
		}
		for i := range list {
			if list[i], err = m.fill(list[i], outer, depth+1); err != nil {
				return "", err
			}
		}
		filled, err := m.call(name, list, outer, depth)
		if err != nil {
			return "", err
		}
		b.WriteString(strings.ReplaceAll(filled, "\n", "\n"+indent(whole[:len(whole)-len(rest)-len("<<")])))
		text = rest[inside+len(">>"):]
	}
}

// indent returns the spaces at the beginning of the last line.
func indent(text string) string {
	line := text[strings.LastIndexByte(text, '\n')+1:]
	return line[:len(line)-len(strings.TrimLeft(line, " "))]
}

// upTo returns the position of the end of a text, apart from marks in it, or -1.
func upTo(text, end string) int {
	open := 0
	for i := 0; i < len(text); i++ {
		switch at := text[i:]; {
		case open == 0 && strings.HasPrefix(at, end):
			return i
		case strings.HasPrefix(at, "<<"):
			open++
			i++
		case strings.HasPrefix(at, ">>"):
			open--
			i++
		}
	}
	return -1
}

// arguments splits the inside of a mark at spaces outside of quotes and of marks.
func arguments(inside string) (name string, list []string, err error) {
	name, rest, _ := strings.Cut(inside, " ")
	for rest != "" {
		end, length := " ", 0
		if rest[0] == '`' {
			rest, end = rest[1:], "`"
		}
		if length = upTo(rest, end); length < 0 && end == "`" {
			return "", nil, fmt.Errorf("<<%s>>: an argument is not closed", inside)
		} else if length < 0 {
			length = len(rest)
		}
		list = append(list, rest[:length])
		rest = strings.TrimPrefix(strings.TrimPrefix(rest[length:], "`"), " ")
	}
	return name, list, nil
}

func (m Marks) call(name string, arguments, outer []string, depth int) (string, error) {
	if len(name) == 1 && name[0] >= '1' && name[0] <= '9' {
		if n := int(name[0] - '0'); n <= len(outer) {
			return outer[n-1], nil
		}
		return "", fmt.Errorf("<<%s>>: the fragment has %d arguments", name, len(outer))
	}
	if fragment, ok := m.Fragment(name); ok {
		if arguments == nil {
			arguments = []string{}
		}
		for n := 1; n <= 9; n++ {
			if used := strings.Contains(fragment, fmt.Sprintf("<<%d>>", n)); used != (n <= len(arguments)) {
				return "", fmt.Errorf("<<%s>>: wrong number of arguments, %d", name, len(arguments))
			}
		}
		return m.fill(fragment, arguments, depth+1)
	}
	if text, ok := m.Call(name, arguments); ok {
		return text, nil
	}
	return "", fmt.Errorf("<<%s>> with %d arguments is neither a function nor a fragment", name, len(arguments))
}
