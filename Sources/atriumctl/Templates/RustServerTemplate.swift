/// What serves a votes plugin in Rust: the same for each.
enum RustServerTemplate {
    /// `src/atrium.rs`.
    static let source = ##"""
        //! Serves `org.atrium.plugin.Votes`, version 1, on the socket that the worker leaves in descriptor 3.
        //!
        //! Calls come one at a time, as JSON and a NUL byte each; so do replies. `atriumctl introspect org.atrium.plugin.Votes`
        //! describes every method.
        #![allow(dead_code)] // A plugin uses what it needs.

        use crate::json::Json;
        use std::fs::File;
        use std::io::{Read, Write};
        use std::os::fd::FromRawFd;

        const INTERFACE: &str = "org.atrium.plugin.Votes";

        /// The values that are votes: from `min` to `max` in steps of `step`.
        pub struct Scale {
            pub min: f64,
            pub max: f64,
            pub step: f64,
        }

        /// What an actor votes.
        #[derive(Clone, Copy)]
        pub struct Vote {
            pub value: f64,
            /// When, in milliseconds since 1970.
            pub cast: i64,
        }

        /// A vote with whose it is, and on what.
        pub struct Ballot {
            /// `None`: the container itself.
            pub item: Option<String>,
            /// A number, as text: nobody's name.
            pub actor: String,
            pub vote: Vote,
        }

        /// Why a vote is not taken: a sentence for the person who voted.
        pub struct Refused {
            reason: String,
            retry_after: Option<f64>,
        }

        impl Refused {
            pub fn because(reason: &str) -> Self {
                Refused { reason: reason.into(), retry_after: None }
            }

            /// It may be taken after so many seconds.
            pub fn for_now(reason: &str, retry_after: f64) -> Self {
                Refused { reason: reason.into(), retry_after: Some(retry_after) }
            }
        }

        /// What a votes component decides. Its state follows from the ballots that were applied, in any order.
        pub trait Votes {
            /// Makes the component; fails with what is wrong about its settings.
            fn start(&mut self, settings: &Json) -> Result<Scale, String>;
            /// Decides on a vote, without counting it.
            fn cast(&self, ballot: &Ballot, previous: Option<Vote>) -> Result<(), Refused>;
            /// Decides on taking a vote back.
            fn retract(&self, ballot: &Ballot) -> Result<(), Refused>;
            /// Counts a vote in place of the one before; `None` is no vote.
            fn apply(&mut self, item: Option<&str>, vote: Option<Vote>, previous: Option<Vote>);
            /// The score of an item that has votes.
            fn score(&self, item: Option<&str>) -> Option<f64>;
        }

        /// Replies to calls until the worker closes the socket.
        pub fn serve(mut votes: impl Votes) {
            // Descriptor 3 is this program's own from its start, and nothing else uses it.
            let mut socket = unsafe { File::from_raw_fd(3) };
            let (mut waiting, mut part) = (Vec::new(), [0; 1 << 16]);
            loop {
                let count = socket.read(&mut part).expect("the worker's socket can be read");
                if count == 0 {
                    return;
                }
                waiting.extend_from_slice(&part[..count]);
                while let Some(end) = waiting.iter().position(|byte| *byte == 0) {
                    let frame: Vec<u8> = waiting.drain(..=end).collect();
                    let call = Json::parse(&frame[..end]).expect("a call is JSON");
                    let mut reply = answer(&mut votes, &call).to_string().into_bytes();
                    reply.push(0);
                    socket.write_all(&reply).expect("the worker reads replies");
                }
            }
        }

        fn answer(votes: &mut impl Votes, call: &Json) -> Json {
            let method = call.text("method").unwrap_or_default();
            let nothing = Json::Null;
            let parameters = call.member("parameters").unwrap_or(&nothing);
            match method.rsplit('.').next().unwrap_or_default() {
                "Hello" => reply(Json::object([("protocol", Json::Number(1.0))])),
                "Start" => match votes.start(parameters.member("settings").unwrap_or(&nothing)) {
                    Ok(scale) => reply(Json::object([
                        ("min", Json::Number(scale.min)),
                        ("max", Json::Number(scale.max)),
                        ("step", Json::Number(scale.step)),
                    ])),
                    Err(reason) => error(
                        "SettingInvalid",
                        Json::object([("setting", Json::from("")), ("reason", Json::from(&*reason))]),
                    ),
                },
                "Restore" => {
                    for ballot in parameters.items("ballots") {
                        votes.apply(ballot.text("item"), vote(Some(ballot)), None);
                    }
                    reply(Json::object([]))
                }
                "Restored" => {
                    let subjects = parameters.items("subjects").iter();
                    let scores = subjects.map(|subject| score(votes, subject.text("item")));
                    reply(Json::object([("scores", Json::Array(scores.collect()))]))
                }
                "Cast" => match votes.cast(&ballot(parameters), vote(parameters.member("previous"))) {
                    Ok(()) => reply(Json::object([])),
                    Err(refused) => refusal(refused),
                },
                "Retract" => match votes.retract(&ballot(parameters)) {
                    Ok(()) => reply(Json::object([])),
                    Err(refused) => refusal(refused),
                },
                "Apply" => {
                    let item = parameters.text("item");
                    votes.apply(item, vote(parameters.member("vote")), vote(parameters.member("previous")));
                    reply(Json::object([("score", score(votes, item))]))
                }
                "Stop" => reply(Json::object([])),
                _ => Json::object([
                    ("error", Json::from("org.varlink.service.MethodNotFound")),
                    ("parameters", Json::object([("method", Json::from(method))])),
                ]),
            }
        }

        fn score(votes: &impl Votes, item: Option<&str>) -> Json {
            votes.score(item).map_or(Json::Null, Json::Number)
        }

        fn vote(value: Option<&Json>) -> Option<Vote> {
            let value = value?;
            Some(Vote { value: value.number("value")?, cast: value.number("cast").unwrap_or(0.0) as i64 })
        }

        fn ballot(parameters: &Json) -> Ballot {
            let ballot = parameters.member("ballot").expect("a call about a vote has one");
            Ballot {
                item: ballot.text("item").map(String::from),
                actor: ballot.text("actor").unwrap_or_default().into(),
                vote: vote(Some(ballot)).expect("a ballot has a value"),
            }
        }

        fn reply(parameters: Json) -> Json {
            Json::object([("parameters", parameters)])
        }

        fn refusal(refused: Refused) -> Json {
            error(
                "Refused",
                Json::object([
                    ("reason", Json::from(&*refused.reason)),
                    ("retryAfter", refused.retry_after.map_or(Json::Null, Json::Number)),
                ]),
            )
        }

        fn error(name: &str, parameters: Json) -> Json {
            Json::object([("error", Json::from(&*format!("{INTERFACE}.{name}"))), ("parameters", parameters)])
        }
        """##
}
