/// A new plugin of the kind `contents` in Go: the files of a folder.
enum GoContentsTemplate {
    /// What follows the start that ``GoTemplate`` has for each kind.
    static let body = ##"""
        import (
        	"errors"
        	"fmt"
        	"os"
        	"path/filepath"
        	"strings"
        	"time"
        	"unicode"
        	"unicode/utf8"
        )

        // Plugin lists a folder. The worker keeps the items, and finds out which are new, changed or gone.
        type Plugin struct {
        	folder string
        	fields map[string]bool // those of the container
        	unsent []Object        // the items that were read and not sent yet
        }

        func (plugin *Plugin) start(call struct {
        	Settings struct{ Folder string }
        	Fields   []struct{ Name string }
        }) (Object, error) {
        	plugin.folder, plugin.fields = call.Settings.Folder, map[string]bool{}
        	for _, field := range call.Fields {
        		plugin.fields[field.Name] = true
        	}
        	return Object{"listen": 10}, nil
        }

        // Replies the files, 300 at a time: a reply is at most 1 MiB.
        func (plugin *Plugin) listen(struct{}) (Object, error) {
        	if len(plugin.unsent) == 0 {
        		items, err := plugin.items()
        		if err != nil {
        			return Object{"problem": fmt.Sprintf("the folder can't be read: %v.", err)}, nil
        		}
        		plugin.unsent = items
        	}
        	count := len(plugin.unsent)
        	if count > 300 {
        		count = 300
        	}
        	items := plugin.unsent[:count]
        	plugin.unsent = plugin.unsent[count:]
        	more := len(plugin.unsent) > 0
        	return Object{"items": items, "more": more, "all": !more}, nil
        }

        // Reads all items, or none: a file that can't be read is not gone.
        func (plugin *Plugin) items() ([]Object, error) {
        	files, err := os.ReadDir(plugin.folder)
        	items := []Object{}
        	for _, file := range files {
        		item, err := plugin.item(file.Name())
        		if err != nil {
        			return nil, err
        		}
        		if item != nil {
        			items = append(items, item)
        		}
        	}
        	return items, err
        }

        // The item of a file; nil where it is no file, is gone meanwhile, or has a name that is no id.
        func (plugin *Plugin) item(name string) (Object, error) {
        	file, err := os.Stat(filepath.Join(plugin.folder, name))
        	if errors.Is(err, os.ErrNotExist) {
        		return nil, nil
        	}
        	if err != nil {
        		return nil, err
        	}
        	if !file.Mode().IsRegular() || len(name) > 200 || !utf8.ValidString(name) || strings.IndexFunc(name, unicode.IsControl) >= 0 {
        		return nil, nil
        	}
        	changed := file.ModTime().UTC().Format(time.RFC3339)
        	fields := Object{"title": name, "size": file.Size(), "changed": changed}
        	for field := range fields {
        		if !plugin.fields[field] {
        			delete(fields, field)
        		}
        	}
        	return Object{"id": name, "fields": fields}, nil
        }

        func main() {
        	// The manifest names it under "paths", too, so that the program may read the folder.
        	setting := Object{"name": "folder", "type": "path", "required": true, "summary": "the folder to list"}
        	plugin := Plugin{}
        	Serve(Methods{
        		"Hello":  Always(Object{"protocol": 1, "settings": []Object{setting}}),
        		"Start":  On(plugin.start),
        		"Listen": On(plugin.listen),
        		"Stop":   Always(Object{}),
        	})
        }
        """##
}
