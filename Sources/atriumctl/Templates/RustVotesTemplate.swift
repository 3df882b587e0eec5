/// A new plugin of the kind `votes` in Rust, by the standard library alone.
enum RustVotesTemplate {
    /// `Cargo.toml`.
    static let package = ##"""
        [package]
        name = "{{component}}"
        version = "0.1.0"
        edition = "2021"

        [profile.release]
        panic = "abort"
        """##

    /// `src/main.rs`: what the author changes.
    static let source = ##"""
        //! {{Name}}: thumbs up (1) and down (-1). The score of an item is their sum.
        //!
        //! `atrium.rs` reads calls from the worker and sends replies; what is decided stands here. What is printed goes to the
        //! daemon's log.

        mod atrium;
        mod json;

        use atrium::{Ballot, Refused, Scale, Vote, Votes};
        use json::Json;
        use std::collections::HashMap;

        #[derive(Default)]
        struct Plugin {
            /// The sum of the votes on each item; `None` is the container itself.
            scores: HashMap<Option<String>, f64>,
        }

        impl Votes for Plugin {
            /// The worker refuses any other value.
            fn start(&mut self, _settings: &Json) -> Result<Scale, String> {
                Ok(Scale { min: -1.0, max: 1.0, step: 2.0 })
            }

            /// Decides, and changes nothing.
            fn cast(&self, _ballot: &Ballot, _previous: Option<Vote>) -> Result<(), Refused> {
                Ok(()) // or: Err(Refused::because("Votes are closed."))
            }

            fn retract(&self, _ballot: &Ballot) -> Result<(), Refused> {
                Ok(())
            }

            /// State changes here alone.
            fn apply(&mut self, item: Option<&str>, vote: Option<Vote>, previous: Option<Vote>) {
                let change = vote.map_or(0.0, |vote| vote.value) - previous.map_or(0.0, |vote| vote.value);
                *self.scores.entry(item.map(String::from)).or_default() += change;
            }

            fn score(&self, item: Option<&str>) -> Option<f64> {
                self.scores.get(&item.map(String::from)).copied()
            }
        }

        fn main() {
            atrium::serve(Plugin::default());
        }
        """##
}
