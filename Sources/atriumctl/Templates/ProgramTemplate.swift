/// The files of a new plugin that is a program: the same for every language.
enum ProgramTemplate {
    static let manifest = ##"""
        {
          "id": "{{id}}",
          "version": "0.1.0",
          "kind": "{{kind}}",
          "program": "{{program}}",
          "title": "{{Name}}",
          "description": "What it does, in a sentence."{{settings}}
        }
        """##

    static let readme = ##"""
        # {{Name}}

        A plugin for Atrium of the kind `{{kind}}`, in {{language}}: `{{id}}`.

        {{build}}    atrium-worker --check .         # run the conformance suite of its kind
            atriumd --plugin-path .         # start a daemon that looks for plugins here, too
            atriumctl plugins               # in another terminal: list the plugins
            atriumctl attach CONTAINER {{component}} --plugin {{id}}{{option}}

        The last command needs a container: `atriumctl list` shows those that there are, and
        `atriumctl apply -f FILE.yaml` makes one. To install the plugin, copy its program and its manifest into the
        daemon's plugins, owned by root and writable by nobody else. The daemon finds it at its next start:

            sudo install -D -m 755 {{program}} /usr/local/lib/atrium/plugins/{{id}}/{{program}}
            sudo install -m 644 manifest.json /usr/local/lib/atrium/plugins/{{id}}/

        {{rules}}

        The guide to plugins is `docs/plugins.md`, installed as `share/doc/atrium/plugins.md`; `programs.md` beside it has
        the protocol.
        """##

    /// What a program of a kind has to keep.
    static func rules(_ kind: PluginKind) -> String {
        switch kind {
        case .votes:
            """
            Whatever the plugin does, it keeps three rules. Cast and Retract decide and change nothing. Apply and Restore alone
            change state. The score follows from the ballots that are there, in whatever order they came. The conformance suite
            checks these rules, and names the seed that makes a failure happen again.
            """
        case .contents:
            """
            Whatever the plugin does, an item keeps its id: votes and comments refer to it.
            """
        case .filters:
            """
            Whatever the plugin does, the same values give the same sections, and a filter keeps its id: screens and links
            refer to it. The conformance suite checks these rules, and names the seed that makes a failure happen again.
            """
        case .comments, .delegate:
            """
            Whatever the plugin does, Post and Edit decide and change nothing: the commit may still fail. The conformance suite
            checks that, and names the seed that makes a failure happen again.
            """
        }
    }

    /// More members of the manifest: settings that the conformance suite uses, and paths.
    static func settings(_ kind: PluginKind) -> String {
        switch kind {
        case .contents:
            """
            ,
              "paths": ["folder"],
              "conformance": { "settings": { "folder": "/usr/share/common-licenses" } }
            """
        case .filters:
            """
            ,
              "conformance": { "settings": { "fields": ["genres", "year"] } }
            """
        case .votes, .comments, .delegate: ""
        }
    }

    /// The settings that a component has to be given when it is attached.
    static func option(_ kind: PluginKind) -> String {
        switch kind {
        case .contents: " --setting folder=/usr/share/common-licenses"
        case .filters: " --setting 'fields=[\"genres\"]'"
        case .votes, .comments, .delegate: ""
        }
    }
}
