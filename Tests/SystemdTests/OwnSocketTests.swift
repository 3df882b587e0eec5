import Testing

/// A socket that the daemon makes itself, since no socket unit has made one: over restarts.
@Suite(Machine.boots)
struct OwnSocketTests {
    private static let begin = """
        printf '[Unit]\\nStartLimitIntervalSec=0\\n[Service]\\nRestartSec=100ms\\n' | drop_in atriumd.service
        socket=/run/atrium/atrium.sock
        file() { stat -c '%A %U %G' $1; }
        systemctl --quiet mask atriumd.socket
        systemctl start atriumd

        """

    private static func play(_ story: String) async throws -> Machine.Told {
        try await Machine.play(begin + story, options: ["--bind", Machine.root + "Tests/Restart"])
    }

    @Test(.timeLimit(.minutes(3)))
    func `who connects while the daemon restarts is answered`() async throws {
        let told = try await Self.play(
            """
            inode=$(stat -c %i $socket)
            atriumctl apply -f /usr/local/share/atrium/examples/films.yaml >/dev/null
            touch /run/going
            python3 \(Machine.root)Tests/Restart/newcomers.py $socket /run/going \\
                '{"method":"org.atrium.Notifications.Publish","parameters":{"topic":"films.app.here","payload":{},"durable":true}}' \\
                >/run/newcomers &
            for n in 1 2 3 4 5 6 7 8; do systemctl restart atriumd || tell restart failed; done
            rm /run/going
            wait
            tell newcomers $(</run/newcomers)
            tell same $([ $(stat -c %i $socket) = $inode ] && echo yes) $(file $socket)
            tell stored $(unit NFileDescriptorStore)
            logged -p warning | sed 's/^/warned: /'
            """)
        let newcomers = try #require(told["newcomers"])
        #expect(newcomers.hasSuffix(" failed 0 {}"), "\(newcomers)")
        let least = newcomers.split(separator: " ").dropFirst(3).first.flatMap { Int($0) }
        #expect((least ?? 0) > 0, "\(newcomers)")
        #expect(told["same"] == "yes srw-rw---- atrium atrium")
        #expect(told["stored"] == "2", "the socket, and the screens' file")
        #expect(told.all("warned") == [])
        #expect(told["restart"] == nil)
    }

    @Test(.timeLimit(.minutes(2)))
    func `after a crash it is the same socket, and who came meanwhile is answered`() async throws {
        let told = try await Self.play(
            """
            inode=$(stat -c %i $socket)
            for n in 1 2 3; do
                systemctl kill -s KILL atriumd
                tell state $(state --socket $socket)
            done
            tell same $([ $(stat -c %i $socket) = $inode ] && echo yes) $(unit NRestarts)
            """)
        #expect(told.all("state") == Array(repeating: #""state":"ready""#, count: 3))
        #expect(told["same"] == "yes 3")
    }

    @Test(.timeLimit(.minutes(2)))
    func `a socket that clients do not reach any more, or are not to reach, is let go`()
        async throws
    {
        let told = try await Self.play(
            """
            shows() { tell $1 $(ls /run/atrium) $(file $2) stored $(unit NFileDescriptorStore) $(state --socket $2); }
            chmod 0777 $socket; systemctl restart atriumd; shows opened $socket
            rm $socket; systemctl restart atriumd; shows removed $socket

            rm $socket
            as atrium python3 -c 'import socket, sys
            other = socket.socket(socket.AF_UNIX); other.bind(sys.argv[1])' $socket
            systemctl restart atriumd; shows stale $socket

            printf '[Service]\\nEnvironment=ATRIUM_SOCKET=/run/atrium/other.sock\\n' | drop_in atriumd.service other
            systemctl restart atriumd; shows other /run/atrium/other.sock
            systemctl stop atriumd; shows stopped /run/atrium/other.sock
            systemctl start atriumd; shows started /run/atrium/other.sock

            rm /etc/systemd/system/atriumd.service.d/other.conf; systemctl daemon-reload
            systemctl stop atriumd; systemctl start atriumd; rm /run/atrium/other.sock
            systemctl stop atriumd; systemctl --quiet unmask atriumd.socket
            systemctl start atriumd.socket; shows unit $socket
            logged -p warning | sed 's/^/warned: /'
            """)
        let ready = #""state":"ready""#
        for (name, file) in [
            ("opened", "atrium.sock"), ("removed", "atrium.sock"), ("stale", "atrium.sock"),
            ("other", "other.sock"), ("started", "other.sock"),
        ] {
            #expect(told[name] == "\(file) srw-rw---- atrium atrium stored 2 \(ready)", "\(name)")
        }
        #expect(
            told["stopped"]
                == "other.sock srw-rw---- atrium atrium stored 0 "
                + "atriumctl: nobody listens on the socket /run/atrium/other.sock")
        #expect(told["unit"] == "atrium.sock srw-rw---- root atrium stored 0 \(ready)")
        #expect(told.all("warned") == [])
    }
}
