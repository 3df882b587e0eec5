/// A new plugin of the kind `comments` in Rust: comments with links wait for a moderator.
enum RustCommentsTemplate {
    /// What follows the start that ``RustTemplate`` has for each kind.
    static let body = ##"""
        use atrium::{Failure, Reply};
        use json::{object, Json};

        #[derive(Default)]
        struct Plugin {
            /// How many links need no moderator.
            links: f64,
        }

        impl Plugin {
            /// The parameters of the reply to a call. The worker keeps the comments; nothing is to be kept here.
            fn reply(&mut self, method: &str, call: &Json) -> Reply {
                match method {
                    "Hello" => {
                        let setting =
                            object! {"name": "links", "type": "integer", "least": 0, "live": true, "summary": "links that need no moderator"};
                        Ok(object! {"protocol": 1, "settings": vec![setting], "defaults": object! {"links": 0}})
                    }
                    // A setting that is live gets another value by "ChangeSettings".
                    "Start" | "ChangeSettings" => {
                        self.links = call["settings"]["links"].number().unwrap_or(0.0);
                        Ok(object! {"maxLength": 5000})
                    }
                    "Post" => self.post(&call["draft"]),
                    // "Edit" judges edits; without it, Post does.
                    "Stop" => Ok(object! {}),
                    _ => Err(Failure::Unknown),
                }
            }

            fn post(&self, draft: &Json) -> Reply {
                let text = draft["text"].text().unwrap_or_default();
                let letters = || text.chars().filter(|character| character.is_alphabetic());
                if letters().count() >= 20 && letters().all(char::is_uppercase) {
                    return Err(Failure::refused("This is all in capitals: please write it without shouting."));
                }
                let links = text.matches("http://").count() + text.matches("https://").count();
                Ok(object! {"waits": links as f64 > self.links && !draft["moderator"].is_true()})
            }
        }

        fn main() {
            let mut plugin = Plugin::default();
            atrium::serve(|method, call| plugin.reply(method, call));
        }
        """##
}
