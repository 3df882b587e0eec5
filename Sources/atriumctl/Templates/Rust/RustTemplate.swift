/// New plugins in Rust, by the standard library alone.
enum RustTemplate {
    static let program = ProgramTemplate(
        program: "target/release/{{component}}",
        source: "src/main.rs", start: start,
        bodies: [
            .contents: RustContentsTemplate.body, .filters: RustFiltersTemplate.body,
            .votes: RustVotesTemplate.body, .comments: RustCommentsTemplate.body,
        ],
        shared: [
            .init(path: "Cargo.toml", text: package),
            .init(path: "src/atrium.rs", text: RustServerTemplate.source),
            .init(path: "src/json.rs", text: RustJSONTemplate.source),
            .init(path: ".gitignore", text: "target/\n.atrium/"),
        ])

    private static let package = ##"""
        [package]
        name = "{{component}}"
        version = "0.1.0"
        edition = "2021"

        [profile.release]
        panic = "abort"
        """##

    private static let start = ##"""
        //! {{Name}}: {{title}}
        //!
        //! `atrium.rs` receives the worker's calls and sends the replies; `json.rs` reads and writes them. What is printed goes to
        //! the daemon's log. All that may be called: atriumctl introspect org.atrium.plugin.{{Kind}}

        mod atrium;
        mod json;
        """##
}
