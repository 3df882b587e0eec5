/// A new plugin of the kind `contents` in Rust: the files of a folder.
enum RustContentsTemplate {
    /// What follows the start that ``RustTemplate`` has for each kind.
    static let body = ##"""
        use atrium::{Failure, Reply};
        use json::{object, time_text, Json};
        use std::fs::{self, DirEntry};
        use std::io;

        #[derive(Default)]
        struct Plugin {
            folder: String,
            /// The fields of the container's items.
            fields: Vec<Json>,
            /// The items that were read and not sent yet.
            unsent: Vec<Json>,
        }

        impl Plugin {
            /// The parameters of the reply to a call. The worker keeps the items, and finds out which are new, changed or gone.
            fn reply(&mut self, method: &str, call: &Json) -> Reply {
                match method {
                    "Hello" => {
                        // The manifest names it under "paths", too, so that the program may read the folder.
                        let setting =
                            object! {"name": "folder", "type": "path", "required": true, "summary": "the folder to list"};
                        Ok(object! {"protocol": 1, "settings": vec![setting]})
                    }
                    "Start" => {
                        self.folder = call["settings"]["folder"].text().unwrap_or_default().into();
                        self.fields = call["fields"].items().iter().map(|field| field["name"].clone()).collect();
                        Ok(object! {"listen": 10})
                    }
                    "Listen" => Ok(self.listen().unwrap_or_else(|error| {
                        object! {"problem": format!("{} can't be read: {error}.", self.folder)}
                    })),
                    "Stop" => Ok(object! {}),
                    _ => Err(Failure::Unknown),
                }
            }

            /// The files, 300 a reply: it is at most 1 MiB.
            fn listen(&mut self) -> io::Result<Json> {
                if self.unsent.is_empty() {
                    let items = fs::read_dir(&self.folder)?.map(|entry| self.item(entry?)).filter_map(Result::transpose);
                    // One that can't be read is not gone: nothing is listed then.
                    self.unsent = items.collect::<io::Result<_>>()?;
                }
                let items = self.unsent.split_off(self.unsent.len().saturating_sub(300));
                Ok(object! {"items": items, "more": !self.unsent.is_empty(), "all": self.unsent.is_empty()})
            }

            /// `None` where it is no file, is gone meanwhile, or has a name that is no id.
            fn item(&self, entry: DirEntry) -> io::Result<Option<Json>> {
                let file = match fs::metadata(entry.path()) {
                    Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                    file => file?,
                };
                // One that is no text is empty.
                let name = entry.file_name().into_string().unwrap_or_default();
                if !file.is_file() || name.is_empty() || name.len() > 200 || name.contains(char::is_control) {
                    return Ok(None);
                }
                let changed = file.modified().ok().and_then(time_text);
                let values = [("title", name.clone().into()), ("size", file.len().into()), ("changed", changed.into())];
                let known = values.into_iter().filter(|value: &(&str, Json)| self.fields.contains(&value.0.into()));
                let fields = known.map(|(field, value)| (field.into(), value)).collect();
                Ok(Some(object! {"id": name, "fields": Json::Object(fields)}))
            }
        }

        fn main() {
            let mut plugin = Plugin::default();
            atrium::serve(|method, call| plugin.reply(method, call));
        }
        """##
}
