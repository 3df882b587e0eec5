/// What replies to calls for a plugin in Rust.
enum RustServerTemplate {
    /// `src/atrium.rs`.
    static let source = ##"""
        //! Serves a plugin on the socket that the worker leaves in descriptor 3: the same for each kind.
        //!
        //! Calls come one at a time, as JSON and a NUL byte each; so do replies.
        #![allow(dead_code)] // A plugin uses what it needs.

        use crate::json::{object, Json};
        use std::fs::File;
        use std::io::{self, BufRead, BufReader, Write};
        use std::os::unix::io::FromRawFd;

        /// What a call returns: the parameters of its reply, or why it fails.
        pub type Reply = Result<Json, Failure>;

        pub enum Failure {
            /// An error of the plugin's interface: its name, and its parameters.
            Error(&'static str, Json),
            /// The plugin has no such method.
            Unknown,
        }

        impl Failure {
            /// A vote or a comment is not taken. The reason is a sentence for the person.
            pub fn refused(reason: &str) -> Self {
                Failure::Error("Refused", object! {"reason": reason})
            }

            /// `Start` can't take a setting. The reason says what was expected and what was found.
            pub fn setting(name: &str, reason: &str) -> Self {
                Failure::Error("SettingInvalid", object! {"setting": name, "reason": reason})
            }
        }

        /// Replies to calls until the worker closes the socket. `reply` is given the method's name and its parameters.
        pub fn serve(reply: impl FnMut(&str, &Json) -> Reply) {
            // Descriptor 3 is this program's own from its start, and nothing else uses it.
            let socket = unsafe { File::from_raw_fd(3) };
            if let Err(error) = answer(&socket, reply) {
                eprintln!("the worker's socket, descriptor 3: {error}");
                std::process::exit(1);
            }
        }

        fn answer(mut socket: &File, mut reply: impl FnMut(&str, &Json) -> Reply) -> io::Result<()> {
            let mut calls = BufReader::new(socket);
            loop {
                let mut frame = Vec::new();
                calls.read_until(0, &mut frame)?;
                if frame.pop() != Some(0) {
                    return Ok(()); // The worker closed the socket.
                }
                let call =
                    Json::parse(&frame).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "a call is no JSON"))?;
                let name = call["method"].text().unwrap_or_default();
                let (interface, method) = name.rsplit_once('.').unwrap_or_default();
                let reply = match reply(method, &call["parameters"]) {
                    Ok(parameters) => object! {"parameters": parameters},
                    Err(Failure::Error(error, parameters)) => {
                        object! {"error": format!("{interface}.{error}"), "parameters": parameters}
                    }
                    Err(Failure::Unknown) => object! {
                        "error": "org.varlink.service.MethodNotImplemented", "parameters": object! {"method": name},
                    },
                };
                socket.write_all(format!("{reply}\0").as_bytes())?;
            }
        }
        """##
}
