/// New plugins in Go, by the standard library alone.
enum GoTemplate {
    static let program = ProgramTemplate(
        program: "{{component}}",
        source: "main.go", start: start,
        bodies: [
            .contents: GoContentsTemplate.body, .filters: GoFiltersTemplate.body,
            .votes: GoVotesTemplate.body, .comments: GoCommentsTemplate.body,
        ],
        shared: [
            .init(path: "go.mod", text: "module {{component}}\n\ngo 1.19"),
            .init(path: "atrium.go", text: GoServerTemplate.source),
            .init(path: ".gitignore", text: "{{program}}\n.atrium/"),
        ])

    private static let start = ##"""
        // {{Name}}: {{title}}
        //
        // atrium.go receives the worker's calls and sends the replies. What is printed goes to the daemon's log. All that may be
        // called: atriumctl introspect org.atrium.plugin.{{Kind}}
        package main
        """##
}
