/// A new plugin of the kind `filters` in Rust: a section for each field that a setting names.
enum RustFiltersTemplate {
    /// What follows the start that ``RustTemplate`` has for each kind.
    static let body = ##"""
        use atrium::{Failure, Reply};
        use json::{object, Json};

        #[derive(Default)]
        struct Plugin {
            /// The fields that sections are offered for.
            offered: Vec<Json>,
        }

        impl Plugin {
            /// The parameters of the reply to a call. The worker keeps the sections, and what is selected.
            fn reply(&mut self, method: &str, call: &Json) -> Reply {
                match method {
                    "Hello" => {
                        let setting =
                            object! {"name": "fields", "type": "list", "required": true, "summary": "the fields to offer"};
                        Ok(object! {"protocol": 1, "settings": vec![setting]})
                    }
                    "Start" => {
                        for name in call["settings"]["fields"].items() {
                            let known = call["fields"].items().iter().find(|field| field["name"] == *name);
                            match known.filter(|field| !self.offered.contains(field)) {
                                Some(field) => self.offered.push(field.clone()),
                                None => {
                                    let reason = format!("the container has no field {name}, or it is named twice");
                                    return Err(Failure::setting("fields", &reason));
                                }
                            }
                        }
                        let names: Vec<Json> = self.offered.iter().map(|field| field["name"].clone()).collect();
                        Ok(object! {"observe": names})
                    }
                    "Values" => {
                        let sections: Vec<Json> = self.offered.iter().map(|field| section(field, call)).collect();
                        Ok(object! {"sections": sections})
                    }
                    // "Find" makes filters that are not offered, and may reply Err(Failure::Error("FilterNotFound", ...)).
                    "Stop" => Ok(object! {}),
                    _ => Err(Failure::Unknown),
                }
            }
        }

        fn section(field: &Json, call: &Json) -> Json {
            let name = field["name"].text().unwrap_or_default();
            let values = call["values"][name].items().iter();
            let filters: Vec<Json> = values.filter_map(|value| filter(name, value)).collect();
            object! {
                "id": name.to_lowercase().replace('_', "-"), "title": field["title"].text().unwrap_or(name),
                "input": "several", "filters": filters, "more": call["cut"].items().contains(&name.into()),
            }
        }

        /// Lets items through that have a value, or have it in their list. `None` where its text is no id.
        fn filter(field: &str, value: &Json) -> Option<Json> {
            let (member, text) = match value {
                Json::Text(text) => ("text", text.clone()),
                Json::Number(_) => ("number", value.to_string()),
                _ => ("boolean", value.to_string()),
            };
            let all = vec![object! {"field": field, member: value.clone()}];
            (1..=200).contains(&text.len()).then(|| object! {"id": &*text, "title": &*text, "all": all})
        }

        fn main() {
            let mut plugin = Plugin::default();
            atrium::serve(|method, call| plugin.reply(method, call));
        }
        """##
}
