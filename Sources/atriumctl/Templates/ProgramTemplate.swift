/// What plugins that are programs begin with, in one language.
///
/// The author's file begins and ends alike in every kind; between is what the kind does. All other files are the same.
/// `{{words}}` are filled in by ``PluginTemplate``.
struct ProgramTemplate {
    /// The path of the program, which the manifest names.
    let program: String
    /// The path of the author's file.
    let source: String
    /// How the author's file begins.
    let start: String
    /// How it ends.
    var end: String?
    /// What is between, by kind.
    let bodies: [PluginKind: String]
    /// The files beside it.
    var shared: [PluginTemplate.File] = []

    /// The files of a plugin; nil: there is no template of this kind.
    func files(_ kind: PluginKind) -> [PluginTemplate.File]? {
        guard let body = bodies[kind] else { return nil }
        let text = start + "\n\n" + body + (end.map { "\n\n\n" + $0 } ?? "")
        let author = PluginTemplate.File(
            path: source, text: text, isExecutable: source == program)
        return [author] + shared + [
            .init(path: "manifest.json", text: Self.manifest),
            .init(path: "README.md", text: Self.readme),
        ]
    }

    private static let manifest = ##"""
        {
          "id": "{{id}}",
          "version": "0.1.0",
          "kind": "{{kind}}",
          "program": "{{program}}",
          "title": "{{Name}}",
          "description": "What it does, in a sentence."{{members}}
        }
        """##

    private static let readme = ##"""
        # {{Name}}

        A plugin for Atrium of the kind `{{kind}}`, in {{language}}: `{{id}}`.

        {{build}}    atrium-worker --check .         # run the conformance suite of its kind
            export ATRIUM_SOCKET=$PWD/.atrium/socket  # in each terminal: a daemon beside others
            atriumd --plugin-path . --state-directory .atrium/state  # it looks for plugins here, too
            atriumctl plugins               # in another terminal: list the plugins
            atriumctl attach CONTAINER {{component}} --plugin {{id}}{{options}}

        The last command needs a container: `atriumctl containers` shows those that there are, and
        `atriumctl apply -f FILE.yaml` makes one. To install the plugin, copy its program and its manifest into the
        daemon's plugins, owned by root and writable by nobody else. The daemon finds it at its next start:

            sudo install -D -m 755 {{program}} /usr/local/lib/atrium/plugins/{{id}}/{{program}}
            sudo install -m 644 manifest.json /usr/local/lib/atrium/plugins/{{id}}/

        {{rules}}

        All files of the plugin's folder count as its code, except hidden ones: once one is added or changed, the daemon
        does not start the plugin again before `atriumctl plugin reload {{id}}`. What is no code, such as notes, data and
        definitions of containers, belongs in another folder.

        The guide to plugins is `docs/plugins.md`, installed as `share/doc/atrium/plugins.md`; `programs.md` beside it has
        the protocol.
        """##
}
