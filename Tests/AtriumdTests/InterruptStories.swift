import TestSupport
import Testing

extension Stories {
    /// Ctrl-C while `atriumctl` is at work.
    @Suite struct Interrupts {
        /// The program says at the first Ctrl-C that it ends, and then what it has done.
        @Test func `Ctrl-C at an import says that it stops, and what is in`() async throws {
            try await withFilms { daemon in
                let said = try await daemon.type(
                    """
                    mkfifo lines
                    # A shell without job control has its children ignore Ctrl-C.
                    env --default-signal=INT atriumctl import films lines 2>errors & import=$!
                    exec 3>lines
                    seq 2500 | sed 's/.*/{"id": "i&", "title": "Item &"}/' >&3
                    # What was read of the pipe is sent but for the last lines, which may be more.
                    until atriumctl list films --limit 1 --sort -id -o ids --search Item | grep -q i; do :; done
                    kill -INT $import
                    # The pipe stays open: nobody writes more, and nobody ends it.
                    wait $import; echo $?; cat errors
                    """)
                #expect(said.output.hasPrefix("130\n"), "\(said)")
                let lines = said.output.split(separator: "\n").dropFirst()
                #expect(
                    lines.first
                        == "atriumctl: stopping once the daemon has replied to what was sent; Ctrl-C again ends it now",
                    "\(said)")
                #expect(
                    lines.contains {
                        $0.hasPrefix("atriumctl: interrupted; imported items are kept: ")
                    }, "\(said)")
            }
        }
    }
}
