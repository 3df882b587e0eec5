import Foundation
import Testing

/// The installed service, as its administrator and its clients see it.
@Suite(Machine.boots)
struct ServiceTests {
    @Test(.timeLimit(.minutes(2)))
    func `the installed service starts at the first call, serves its group and stops in order`()
        async throws
    {
        let told = try await Machine.play(
            """
            systemctl start atriumd.socket
            tell before $(systemctl is-active atriumd)

            as atrium-member atriumctl status >/dev/null
            answered=$?
            # The call may be answered before systemd has read READY=1: this waits for it.
            systemctl start atriumd
            tell first-call $answered $(systemctl is-active atriumd) $(systemctl show -p User --value atriumd)
            tell status-text $(systemctl show -p StatusText --value atriumd)

            examples=/usr/local/share/atrium/examples
            atriumctl apply -f $examples/films.yaml >/dev/null && atriumctl import films $examples/films.ndjson >/dev/null
            tell import $?
            as atrium-member atriumctl vote films/the-godfather-1972 5 >/dev/null
            tell vote $?
            tell stranger $(as atrium-stranger atriumctl status 2>&1 >/dev/null) $(as atrium-stranger atriumctl status 2>/dev/null; echo $?)

            systemctl reload atriumd
            tell reload $?
            systemctl restart atriumd
            tell kept $(as atrium-member atriumctl list films --limit 1 --json | grep -c '"items"')
            systemctl stop atriumd.socket atriumd
            tell stop $(systemctl show -p Result --value atriumd) $(systemctl is-failed atriumd)
            journalctl --sync
            tell journal $(journalctl -u atriumd -o json --output-fields=LOGGER | grep -c '"LOGGER"')
            tell complaints $(logged -p err)
            """)

        #expect(told["before"] == "inactive")
        #expect(told["first-call"] == "0 active atrium")
        #expect(told["status-text"]?.isEmpty == false)
        #expect(told["import"] == "0")
        #expect(told["vote"] == "0")
        #expect(
            told["stranger"]?.hasSuffix(" 3") == true, "unreachable for who is not in the group")
        #expect(told["stranger"]?.contains("group") == true, "and told which group to join")
        #expect(told["reload"] == "0")
        #expect(told["kept"] == "1")
        #expect(told["stop"] == "success inactive")
        #expect(told["journal"] != "0", "log lines carry their fields")
        #expect(told["complaints"] == "")
    }
}
