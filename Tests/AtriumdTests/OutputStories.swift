import Foundation
import TestSupport
import Testing

extension Stories {
    /// What commands say where something goes wrong on their side.
    @Suite struct Outputs {
        @Test func `output that can't be written is an error with its reason`() async throws {
            try await withFilms { daemon in
                for (line, reason) in [
                    ("atriumctl list films >/dev/full", "No space left on device"),
                    ("atriumctl backup >/dev/full", "No space left on device"),
                    ("atriumctl status >&-", "Bad file descriptor"),
                    ("atriumctl --version >/dev/full", "No space left on device"),
                ] {
                    let done = try await daemon.type(line)
                    #expect(done.status == 1, "\(line): \(done)")
                    #expect(
                        done.errors == "atriumctl: can't write standard output: \(reason)\n",
                        "\(line): \(done)")
                }
                for (output, reason) in [
                    (">/dev/full", "No space left on device"), (">&-", "Bad file descriptor"),
                ] {
                    let check = try await daemon.type(
                        "CONFIGURATION_DIRECTORY=$PWD/etc atriumd --check \(output)")
                    let help = try await daemon.type("atriumd --help \(output)")
                    for done in [check, help] {
                        #expect(done.status == 74, "\(done)")
                        #expect(
                            done.errors == "atriumd: can't write standard output: \(reason)\n",
                            "\(done)")
                    }
                }
                let early = try await daemon.type(
                    "set -o pipefail; atriumctl list films -o ids | head -1")
                #expect(early.status == 0 && early.errors.isEmpty, "\(early)")
            }
        }

        @Test func `a closed standard input or error does no harm`() async throws {
            try await withFilms { daemon in
                let vote = try await daemon.type("atriumctl vote films/alien-1979 4 <&- 2>&-")
                #expect(vote.status == 0, "\(vote)")
                for line in ["comment films/alien-1979 -", "apply -f -"] {
                    let done = try await daemon.type("atriumctl \(line) <&-")
                    #expect(done.status == 1, "\(line): \(done)")
                    #expect(
                        done.errors.hasPrefix("atriumctl: standard input: Bad file descriptor"),
                        "\(line): \(done)")
                }
            }
        }

        @Test func `a daemon that does not reply is named after a while`() async throws {
            try await withFilms { daemon in
                daemon.signal(SIGSTOP)
                defer { daemon.signal(SIGCONT) }
                let done = try await daemon.type("timeout --signal INT 14 atriumctl status")
                #expect(
                    done.errors
                        == "atriumctl: the daemon has not replied for 10s; Ctrl-C ends the wait\n",
                    "\(done)")
                #expect(done.output.isEmpty)
            }
        }

        @Test func `top as JSON goes on over a restart`() async throws {
            try await withDaemon { daemon in
                try await daemon.follow("atriumctl top --interval 0.1 --json 2>&1") { lines in
                    #expect(try await lines.next().hasPrefix("{"))
                    try await daemon.kill()
                    try await daemon.start()
                    for event in ["lost the connection; trying again", "connected again"] {
                        var line = try await lines.next()
                        while line.hasPrefix("{") { line = try await lines.next() }
                        #expect(line == "atriumctl: \(event)")
                    }
                    #expect(try await lines.next().hasPrefix("{"))
                }
            }
        }

        @Test func `what is not done is not said to be done`() async throws {
            try await withFilms { daemon in
                for line in [
                    "atriumctl comment films/alien-1979 first --id k1",
                    "atriumctl delete-comment films k1",
                ] {
                    let done = try await daemon.type(line)
                    #expect(done.status == 0, "\(line): \(done)")
                }
                let again = try await daemon.type(
                    "atriumctl comment films/alien-1979 second --id k1")
                #expect(again.status == 1 && again.output.isEmpty, "\(again)")
                #expect(again.errors.contains("'k1' was deleted or removed: nothing is posted"))

                let plain =
                    "atrium: 1\ncontainer: plain\ntitle: Foo\t# \u{200F}title\r\nfields: {}\n"
                try daemon.home.write("plain.yaml", plain)
                let same = try await daemon.type(
                    "atriumctl apply -f plain.yaml && atriumctl describe plain --definition | cmp - plain.yaml"
                )
                #expect(same.status == 0, "\(same)")
                let closed = try await daemon.type("atriumctl close plain --votes")
                #expect(closed.status == 0, "\(closed)")
                #expect(closed.errors == "plain has no component of the kind votes\n", "\(closed)")
            }
        }

        @Test func `a file that can't be written in full is not left behind`() async throws {
            try await withDaemon { daemon in
                try daemon.home.write("ok.csv", "id,title\na,A\nb,B\n")
                for line in [
                    "atriumctl init ok.csv --output new.yaml",
                    "atriumctl plugin new --kind votes --language python --path new.yaml Thumbs",
                ] {
                    let done = try await daemon.type("trap '' XFSZ; ulimit -f 0; \(line)")
                    #expect(done.status == 1, "\(line): \(done)")
                    #expect(done.errors.contains("File too large"), "\(line): \(done)")
                    let left = try await daemon.type("test ! -e new.yaml")
                    #expect(left.status == 0, "\(line)")
                }
            }
        }
    }
}
