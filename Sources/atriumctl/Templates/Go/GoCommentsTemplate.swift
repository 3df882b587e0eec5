/// A new plugin of the kind `comments` in Go: comments with links wait for a moderator.
enum GoCommentsTemplate {
    /// What follows the start that ``GoTemplate`` has for each kind.
    static let body = ##"""
        import (
        	"strings"
        	"unicode"
        )

        // Plugin judges comments. The worker keeps them; nothing is to be kept here.
        type Plugin struct{ links int }

        // Takes the settings: at the start, and when a setting that is live gets another value.
        func (plugin *Plugin) settings(call struct{ Settings struct{ Links int } }) (Object, error) {
        	plugin.links = call.Settings.Links
        	return Object{"maxLength": 5000}, nil
        }

        // Decides whether a new comment waits for a moderator.
        func (plugin *Plugin) post(call struct {
        	Draft struct {
        		Text      string
        		Moderator bool
        	}
        }) (Object, error) {
        	letters, capitals := 0, 0
        	for _, character := range call.Draft.Text {
        		if unicode.IsLetter(character) {
        			letters++
        		}
        		if unicode.IsUpper(character) {
        			capitals++
        		}
        	}
        	if letters >= 20 && capitals == letters {
        		return nil, Refused("This is all in capitals: please write it without shouting.")
        	}
        	links := strings.Count(call.Draft.Text, "http://") + strings.Count(call.Draft.Text, "https://")
        	return Object{"waits": links > plugin.links && !call.Draft.Moderator}, nil
        }

        func main() {
        	setting := Object{"name": "links", "type": "integer", "least": 0, "live": true, "summary": "links that need no moderator"}
        	plugin := Plugin{}
        	Serve(Methods{
        		"Hello": Always(Object{"protocol": 1, "settings": []Object{setting}, "defaults": Object{"links": 0}}),
        		"Start": On(plugin.settings), "ChangeSettings": On(plugin.settings),
        		"Post": On(plugin.post),
        		// "Edit" judges edits; without it, Post does.
        		"Stop": Always(Object{}),
        	})
        }
        """##
}
