import Testing

/// A reload, by each of its ways: `systemctl reload`, SIGHUP and `atriumctl reload`.
@Suite(Machine.boots)
struct ReloadTests {
    @Test(.timeLimit(.minutes(2)))
    func `a reload goes by the new configuration, and by the old one where the new is wrong`()
        async throws
    {
        let told = try await Machine.play(
            """
            systemctl start atriumd
            examples=/usr/local/share/atrium/examples
            atriumctl apply -f $examples/films.yaml >/dev/null
            may_put() { as atrium-member atriumctl put films/$1 title=$1 >/dev/null 2>&1; echo $?; }
            tell before $(may_put before)

            printf 'moderators: [atrium-member]\\nlogLevel: debug\\nstateDirectory: /elsewhere\\n' \\
                >/etc/atrium/atrium.yaml
            systemctl reload atriumd
            tell reload $? $(may_put after) $(unit ActiveState) $(unit StatusText)
            tell said "$(logged | grep 'were read again' | tail -n 1)"
            tell lines $(logged | grep -c 'moderators: changed')
            tell level "$(atriumctl log-level debug)"

            echo 'moderatorz: [atrium-member]' >/etc/atrium/atrium.yaml
            systemctl reload atriumd 2>/dev/null
            tell wrong $? $(may_put still) $(unit ActiveState) $(unit StatusText)
            tell reason $(atriumctl reload 2>&1; echo $?)

            rm /etc/atrium/atrium.yaml
            systemctl kill --kill-whom=main --signal=HUP atriumd
            mended() { ! unit StatusText | grep -q problem; }
            wait_for mended
            tell hangup $? $(may_put late) $(unit ActiveState) $(unit NRestarts)
            """)
        #expect(told["before"] == "1")
        #expect(told["reload"]?.hasPrefix("0 0 active serving 1 container") == true)
        let said = told["said"] ?? ""
        #expect(said.contains("moderators: changed"), "\(said)")
        #expect(said.contains("stateDirectory: changed, from the next start on"), "\(said)")
        #expect(told["lines"] == "1", "told by the daemon, and not by what asked it to")
        #expect(told["level"]?.hasSuffix("was debug") == true)
        #expect(told["wrong"]?.hasPrefix("1 0 active serving 1 container") == true)
        #expect(told["wrong"]?.contains("moderatorz") == true)
        #expect(told["reason"]?.contains("atrium.yaml:1") == true)
        #expect(told["reason"]?.hasSuffix(" 1") == true)
        #expect(told["hangup"] == "0 1 active 0")
    }
}
