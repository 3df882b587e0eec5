import Foundation
import Testing

/// What an administrator finds in the journal, and how.
///
/// Everything is provoked as it would happen: a wrong file, a full disk, a worker that is killed.
@Suite(Machine.boots)
struct JournalStories {
    /// Finds messages by their numbers and fields, and what `journalctl -x` says of them.
    private static let prelude = """
        examples=/usr/local/share/atrium/examples
        journalctl --update-catalog
        number() { journalctl --list-catalog | grep -m 1 "Atrium: .*$1" | cut -d' ' -f1; }
        # About NAME SUBJECT [FIELD=VALUE]...: how many such messages there are, and their explanation.
        about() {
            local name=$1 subject=$2 id=$(number "$2"); shift 2
            journalctl --sync
            tell $name-count $(journalctl -o cat MESSAGE_ID=$id "$@" | wc -l)
            tell $name-line $(journalctl -o cat MESSAGE_ID=$id "$@" | tail -1)
            tell $name-text $(journalctl -x -o short MESSAGE_ID=$id "$@" | grep '░░' | tr -d '░')
        }

        """

    @Test(.timeLimit(.minutes(2)))
    func `what a client, a worker or a definition does wrong is found by its fields`() async throws
    {
        let told = try await Machine.play(
            Self.prelude + """
                systemctl start atriumd.socket atriumd
                member=$(id -u atrium-member)
                sed 's/plugin: org.atrium.stars/plugin: org.atrium.stars, isolation: process/' \\
                    $examples/films.yaml >/tmp/films.yaml
                atriumctl apply -f /tmp/films.yaml >/dev/null
                atriumctl import films $examples/films.ndjson >/dev/null
                about ready 'Atrium is ready'

                as atrium-member atriumctl log-level debug 2>/dev/null
                about denied 'A call of user' ATRIUM_PEER_UID=$member
                as atrium-member python3 -c 'import socket; s = socket.socket(socket.AF_UNIX); s.connect("/run/atrium/atrium.sock"); s.send(b"no call\\0"); s.recv(9)'
                about closed 'A connection of user @ATRIUM_PEER_UID@ was closed' ATRIUM_PEER_UID=$member

                pkill -KILL -f '[a]trium-worker --library'
                as atrium-member atriumctl vote films/alien-1979 5 >/dev/null
                tell voted $?
                about worker 'The worker of' ATRIUM_CONTAINER=films ATRIUM_COMPONENT=stars

                echo 'container: films' >/etc/atrium/containers.d/wrong.yaml
                systemctl reload atriumd
                about definition 'A definition was not applied'
                rm /etc/atrium/containers.d/wrong.yaml
                systemctl reload atriumd

                tell debug-before $(logged -p debug | grep -c '^a worker was started')
                atriumctl log-level debug
                pkill -KILL -f '[a]trium-worker --library'
                as atrium-member atriumctl vote films/alien-1979 4 >/dev/null
                tell debug-after $(logged -p debug ATRIUM_PLUGIN=org.atrium.stars | grep -c '^a worker was started')
                about level 'The log level was changed'
                tell others $(journalctl -o cat ATRIUM_CONTAINER=books | wc -l)
                """)
        #expect(told["ready-count"] == "1")
        #expect(told["ready-text"]?.contains("answers calls on /run/atrium/atrium.sock.") == true)

        #expect(told["denied-count"] == "1")
        #expect(
            told["denied-text"]?.contains("It called org.atrium.Daemon.SetLogLevel") == true)
        #expect(
            told["denied-text"]?.contains("wants the role admin, and theirs is member.") == true)
        #expect(told["closed-count"] == "1")
        #expect(told["closed-text"]?.contains("a message that is no call") == true)

        #expect(told["voted"] == "0")
        #expect(told["worker-count"] == "1")
        #expect(told["worker-line"]?.contains("component=stars container=films") == true)
        #expect(told["worker-text"]?.contains("Subject: The worker of films/stars ended") == true)
        #expect(told["worker-text"]?.contains("was ended by SIGKILL (Killed).") == true)

        #expect(told["definition-count"] == "1")
        #expect(told["definition-line"]?.contains("wrong.yaml:1") == true)

        #expect(told["debug-before"] == "0", "info is the level until it is changed")
        #expect(told["debug-after"] == "1", "changed while it runs, for loggers made before")
        #expect(told["level-text"]?.contains("changed from info to debug") == true)
        #expect(told["others"] == "0")
    }

    @Test(.timeLimit(.minutes(2)))
    func `what keeps the daemon from writing is explained, and what is wrong with a plugin`()
        async throws
    {
        let told = try await Machine.play(
            Self.prelude + """
                mkdir -p /var/lib/atrium /opt/plugins/broken
                mount -t tmpfs -o size=24m,mode=700,uid=$(id -u atrium) small /var/lib/atrium
                echo '{"id":"org.example.broken","version":"1.0.0","kind":"votes","library":"libBroken.so","title":"Broken"}' \\
                    >/opt/plugins/broken/manifest.json
                echo 'no library' >/opt/plugins/broken/libBroken.so
                echo 'pluginPath: [/opt/plugins]' >/etc/atrium/atrium.yaml
                systemctl start atriumd.socket atriumd
                about plugin 'The plugin @ATRIUM_PLUGIN@ was refused' ATRIUM_PLUGIN=org.example.broken

                atriumctl apply -f $examples/films.yaml >/dev/null
                dd if=/dev/zero of=/var/lib/atrium/filler bs=1M 2>/dev/null
                number=0
                while atriumctl put films/zero title=$((number += 1)) >/dev/null 2>&1; do :; done
                about full "The store can't be written"
                rm /var/lib/atrium/filler
                wait_for atriumctl put films/one title=One >/dev/null 2>&1
                about room 'The store can be written again'
                systemctl stop atriumd.socket atriumd
                about stopped 'Atrium has stopped'
                """)
        #expect(told["plugin-count"] == "1")
        #expect(
            told["plugin-text"]?.contains("/opt/plugins/broken") == true,
            "\(told["plugin-text"] ?? "")")
        #expect(told["full-count"] != "0")
        #expect(told["full-text"]?.contains("df -h /var/lib/atrium/atrium.sqlite") == true)
        #expect(told["room-count"] != "0")
        #expect(told["stopped-count"] == "1")
    }

    @Test(.timeLimit(.minutes(2)))
    func `what keeps the daemon from starting is explained`() async throws {
        let told = try await Machine.play(
            Self.prelude + """
                systemctl start atriumd.socket atriumd
                systemctl stop atriumd.socket atriumd
                echo 'logLevl: debug' >/etc/atrium/atrium.yaml
                systemctl start atriumd 2>/dev/null
                tell failed $?
                about settings "The configuration is wrong, Atrium can't start"
                rm /etc/atrium/atrium.yaml
                systemctl stop atriumd; systemctl reset-failed atriumd

                dd if=/dev/zero of=/var/lib/atrium/atrium.sqlite bs=4096 count=1 conv=notrunc 2>/dev/null
                systemctl start atriumd 2>/dev/null
                about damaged "The store is damaged, Atrium can't start"
                systemctl stop atriumd
                """)
        #expect(told["failed"] != "0")
        #expect(told["settings-line"]?.contains("logLevl") == true)
        #expect(told["settings-text"]?.contains("atriumd --check") == true)
        #expect(told["damaged-count"] != "0")
        #expect(told["damaged-text"]?.contains("Then put a") == true)
    }
}
