/// The files of a new plugin that is a program: the same for every language.
enum ProgramTemplate {
    static let manifest = ##"""
        {
          "id": "{{id}}",
          "version": "0.1.0",
          "kind": "{{kind}}",
          "program": "{{program}}",
          "title": "{{Name}}",
          "description": "What it does, in a sentence."
        }
        """##

    static let readme = ##"""
        # {{Name}}

        A plugin for Atrium of the kind `{{kind}}`, in {{language}}: `{{id}}`.

        {{build}}    atrium-worker --check .         # run the conformance suite of its kind
            atriumd --plugin-path .         # start a daemon that looks for plugins here, too
            atriumctl plugins               # in another terminal: list the plugins
            atriumctl attach CONTAINER {{component}} --plugin {{id}}

        The last command needs a container: `atriumctl list` shows those that there are, and
        `atriumctl apply -f FILE.yaml` makes one. To install the plugin, copy its program and its manifest into the
        daemon's plugins, owned by root and writable by nobody else. The daemon finds it at its next start:

            sudo install -D -m 755 {{program}} /usr/local/lib/atrium/plugins/{{id}}/{{program}}
            sudo install -m 644 manifest.json /usr/local/lib/atrium/plugins/{{id}}/

        Whatever the plugin does, it keeps three rules. Cast and Retract decide and change nothing. Apply and Restore alone
        change state. The score follows from the ballots that are there, in whatever order they came. The conformance suite
        checks these rules, and names the seed that makes a failure happen again.

        The guide to plugins is `docs/plugins.md`, installed as `share/doc/atrium/plugins.md`; `programs.md` beside it has
        the protocol.
        """##
}
