/// A new plugin of the kind `filters` in Go: a section for each field that a setting names.
enum GoFiltersTemplate {
    /// What follows the start that ``GoTemplate`` has for each kind.
    static let body = ##"""
        import (
        	"fmt"
        	"strconv"
        	"strings"
        )

        // Field is a field of the container's items.
        type Field struct{ Name, Title string }

        // Plugin has the fields that sections are offered for. The worker keeps the sections, and what is selected.
        type Plugin struct{ offered []Field }

        func (plugin *Plugin) start(call struct {
        	Settings struct{ Fields []any }
        	Fields   []Field
        }) (Object, error) {
        	known := map[string]Field{}
        	for _, field := range call.Fields {
        		known[field.Name] = field
        	}
        	for _, setting := range call.Settings.Fields {
        		name, _ := setting.(string)
        		field, isKnown := known[name]
        		if !isKnown {
        			reason := fmt.Sprintf("the container has no field '%v', or it is named twice", setting)
        			return nil, SettingInvalid("fields", reason)
        		}
        		plugin.offered = append(plugin.offered, field)
        		delete(known, name)
        	}
        	return Object{"observe": call.Settings.Fields}, nil
        }

        func (plugin *Plugin) values(call struct {
        	Values map[string][]any
        	Cut    []string
        }) (Object, error) {
        	cut, sections := map[string]bool{}, []Object{}
        	for _, name := range call.Cut {
        		cut[name] = true
        	}
        	for _, field := range plugin.offered {
        		filters := []Object{}
        		for _, value := range call.Values[field.Name] {
        			// A value whose text is no id is left out.
        			if member, text := describe(value); 0 < len(text) && len(text) <= 200 {
        				match := Object{"field": field.Name, member: value}
        				filters = append(filters, Object{"id": text, "title": text, "all": []Object{match}})
        			}
        		}
        		section := Object{"id": strings.ReplaceAll(strings.ToLower(field.Name), "_", "-"), "title": field.Name}
        		if field.Title != "" {
        			section["title"] = field.Title
        		}
        		section["input"], section["filters"], section["more"] = "several", filters, cut[field.Name]
        		sections = append(sections, section)
        	}
        	return Object{"sections": sections}, nil
        }

        // Describes a value: the member of a match that it is, and its text.
        func describe(value any) (member, text string) {
        	switch value := value.(type) {
        	case string:
        		return "text", value
        	case float64:
        		return "number", strconv.FormatFloat(value, 'f', -1, 64)
        	}
        	return "boolean", fmt.Sprint(value)
        }

        func main() {
        	setting := Object{"name": "fields", "type": "list", "required": true, "summary": "the fields to offer"}
        	plugin := Plugin{}
        	Serve(Methods{
        		"Hello":  Always(Object{"protocol": 1, "settings": []Object{setting}}),
        		"Start":  On(plugin.start),
        		"Values": On(plugin.values),
        		// "Find" makes filters that are not offered, or returns &Failure{"FilterNotFound", ...}.
        		"Stop": Always(Object{}),
        	})
        }
        """##
}
