/// A new plugin of the kind `votes` in Rust: thumbs up and down.
enum RustVotesTemplate {
    /// What follows the start that ``RustTemplate`` has for each kind.
    static let body = ##"""
        use atrium::{Failure, Reply};
        use json::{object, Json};
        use std::collections::HashMap;

        #[derive(Default)]
        struct Plugin {
            /// The sum of the votes on each item; `None` is the container itself.
            scores: HashMap<Option<String>, f64>,
        }

        impl Plugin {
            /// The parameters of the reply to a call.
            fn reply(&mut self, method: &str, call: &Json) -> Reply {
                match method {
                    "Hello" => Ok(object! {"protocol": 1}),
                    // The worker refuses any other value.
                    "Start" => Ok(object! {"min": -1, "max": 1, "step": 2}),
                    "Restore" => {
                        for ballot in call["ballots"].items() {
                            self.count(&ballot["item"], ballot, &Json::Null);
                        }
                        Ok(object! {})
                    }
                    "Restored" => {
                        let subjects = call["subjects"].items().iter();
                        let scores: Vec<Json> = subjects.map(|subject| self.score(&subject["item"])).collect();
                        Ok(object! {"scores": scores})
                    }
                    // Both decide, and change nothing.
                    "Cast" | "Retract" => Ok(object! {}), // or: Err(Failure::refused("Votes are closed."))
                    // State changes here and in Restore alone.
                    "Apply" => {
                        self.count(&call["item"], &call["vote"], &call["previous"]);
                        Ok(object! {"score": self.score(&call["item"])})
                    }
                    "Stop" => Ok(object! {}),
                    _ => Err(Failure::Unknown),
                }
            }

            /// Puts a vote in place of the one before; null is no vote.
            fn count(&mut self, item: &Json, vote: &Json, previous: &Json) {
                let value = |vote: &Json| vote["value"].number().unwrap_or(0.0);
                *self.scores.entry(item.text().map(String::from)).or_default() += value(vote) - value(previous);
            }

            fn score(&self, item: &Json) -> Json {
                self.scores.get(&item.text().map(String::from)).copied().into()
            }
        }

        fn main() {
            let mut plugin = Plugin::default();
            atrium::serve(|method, call| plugin.reply(method, call));
        }
        """##
}
