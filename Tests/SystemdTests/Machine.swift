import Foundation
import TestSupport
import Testing

/// A machine of its own for a story.
///
/// It has a real systemd as PID 1, in namespaces that `Tests/with-systemd` makes, and Atrium
/// installed below `/usr/local`, for the first time: of the host's own Atrium, if it has one, nothing
/// is there. Everything is gone afterwards.
///
/// A story is a Bash script; each `tell NAME VALUE…` in it is a line that the test looks at. It finds
/// - the group `atrium`, a member of it (`atrium-member`) and a stranger (`atrium-stranger`);
///   `atriumd.socket` and `atriumd.service` known to systemd and not started;
/// - `$tree`, a folder that it shares with the test, and `$products`, what was built for debugging;
/// - `as USER COMMAND…`, which runs a command as somebody else;
/// - `drop_in UNIT [NAME]`, which adds what it reads to a unit;
/// - `wait_for COMMAND…`, which runs a command until it succeeds, for at most 30 s; it fails then;
/// - `unit PROPERTY`, what systemd knows of `atriumd.service`;
/// - `logged [OPTION…]`, the daemon's lines in the journal;
/// - `state [OPTION…]`, as `atriumctl status` says it, once the daemon does not start any more.
struct Machine {
    /// What a test of a story is enabled by: `@Suite(Machine.boots)`.
    static let boots: ConditionTrait = .enabled(
        if: unavailable == nil, Comment(rawValue: "boots a systemd: \(unavailable ?? "can")"))

    private static let unavailable: String? = {
        guard geteuid() == 0 else { return "only root may, and this is user \(geteuid())" }
        let needed = ["/lib/systemd/systemd", "/usr/bin/nsenter"]
        let missing = needed.filter { !FileManager.default.isExecutableFile(atPath: $0) }
        return missing.isEmpty ? nil : "missing \(missing.joined(separator: ", "))"
    }()

    /// The repository.
    static let root = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().path(percentEncoded: false)
    /// What `swift build --build-tests` left.
    static let products = root + ".build/debug"

    /// What every story begins with.
    ///
    /// It takes away what the host has of Atrium from what is a throw-away copy of the host.
    private static let prelude = """
        [ "$WITH_SYSTEMD" = 1 ] || exit
        rm -rf /etc/atrium /var/lib/atrium* /var/lib/private/atrium* \\
            /usr/lib/{sysusers,tmpfiles}.d/atrium* /{usr/,}lib/systemd/{system,user}/atrium*
        for name in $(getent passwd | grep -o '^atrium[^:]*'); do userdel $name; done
        for name in $(getent group | grep -o '^atrium[^:]*'); do groupdel $name; done

        tree=$1 products=$2
        tell() { echo "$1: ${*:2}"; }
        as() { runuser -u "$1" -- "${@:2}"; }
        drop_in() {
            mkdir -p /etc/systemd/system/$1.d
            cat >/etc/systemd/system/$1.d/${2:-story}.conf && systemctl daemon-reload
        }
        wait_for() {
            local end=$((SECONDS + 30))
            until "$@"; do [ $SECONDS -lt $end ] || return 1; sleep 0.05; done
        }
        unit() { systemctl show -p $1 --value atriumd; }
        # Long turns are judged by themselves, below: on a busy machine there are some.
        logged() {
            journalctl --sync
            journalctl -u atriumd -o cat "$@" | grep -v 'turn of the event loop took too long' || true
        }
        # What the daemon says of itself, once it does not start any more: it answers before.
        state() {
            local said end=$((SECONDS + 30))
            while
                said=$(as atrium-member atriumctl "$@" status --json 2>&1 |
                    grep -oE '"state":"[a-z]*"|^atriumctl:.*')
                [ "$said" = '"state":"starting"' ] && [ $SECONDS -lt $end ]
            do sleep 0.05; done
            echo "$said"
        }
        mount --bind "$tree/usr/local" /usr/local
        systemd-sysusers 2>/dev/null && systemd-tmpfiles --create atrium.conf
        useradd --no-create-home --groups atrium atrium-member
        useradd --no-create-home atrium-stranger
        systemctl daemon-reload
        # However it ends: which turns of a daemon's event loop took long.
        held_up() {
            journalctl --sync
            journalctl -q MESSAGE_ID=3b25b41184b04e8895bd92ac4bf61878 -o json | sed 's/^/held-up: /'
        }
        trap held_up EXIT

        """

    /// What a story told, by name: the last one of several.
    struct Told {
        private let lines: [(name: String, value: String)]

        fileprivate init(_ text: String) {
            lines = text.split(separator: "\n").compactMap { line in
                line.firstRange(of: ":").map {
                    (
                        String(line[..<$0.lowerBound]),
                        String(line[$0.upperBound...].trimmingPrefix(" "))
                    )
                }
            }
        }

        subscript(_ name: String) -> String? { lines.last { $0.name == name }?.value }

        /// All values that were told by this name, in order.
        func all(_ name: String) -> [String] { lines.filter { $0.name == name }.map(\.value) }
    }

    /// Boots a machine, runs a story to its end, and takes the machine apart.
    ///
    /// - Parameters:
    ///   - story: a Bash script; its own status is 0, or the test fails with all that it printed.
    ///   - seconds: what it may take, less than the test's own limit: so the test has its output.
    ///   - options: for `Tests/with-systemd`.
    ///   - prepare: puts files into the shared folder first; it is given its path.
    /// - Returns: what it told.
    /// - Throws: what kept a command from being run, or what `prepare` threw.
    static func play(
        _ story: String, within seconds: Int = 100, options: [String] = [],
        preparing prepare: (_ tree: String) throws -> Void = { _ in }
    ) async throws -> Told {
        let tree = FileManager.default.temporaryDirectory.appending(
            path: "atrium-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: tree) }
        let path = tree.path(percentEncoded: false)
        try await run(
            "make", "-C", root, "lay-down", "DESTDIR=\(path)", "PREFIX=/usr/local",
            "PRODUCTS=\(products)")
        try prepare(path)
        let text = try await run(
            [root + "Tests/with-systemd", "--bind", path] + options + [
                "--", "timeout", "--kill-after=5", "\(seconds)",
                "bash", "-c", prelude + story, "story", path, products,
            ])
        for turn in HeldUp.turns(in: text) where turn.isTooLong {
            Issue.record("A turn of the event loop took too long: \(turn.line)")
        }
        return Told(text)
    }

    /// Installs the plugin that breaks, as one that is trusted: its components live in the daemon.
    ///
    /// Told by `BREAKER_PAUSE=` in the environment, each change takes it so many microseconds.
    static func installBreaker(in tree: String) throws {
        let home = tree + "/usr/local/lib/atrium/plugins/org.atrium.breaker"
        let manifest = """
            {"id": "org.atrium.breaker", "version": "0.1.0", "kind": "contents", "title": "Breaker",
             "library": "libBreaker.so", "description": "Does what no plugin should."}
            """
        try FileManager.default.createDirectory(
            atPath: home, withIntermediateDirectories: true)
        try manifest.write(toFile: home + "/manifest.json", atomically: true, encoding: .utf8)
        try FileManager.default.copyItem(
            atPath: products + "/libBreaker.so", toPath: home + "/libBreaker.so")
    }

    /// Runs a command that is to succeed, and gives what it printed.
    @discardableResult
    static func run(_ words: String...) async throws -> String { try await run(words) }

    private static func run(_ words: [String]) async throws -> String {
        let finished = try await TestSupport.run(words)
        #expect(finished.status == 0, "\(words[0]) \(words[1]): \(finished)")
        return finished.output
    }
}
