import Testing

/// The watchdog: systemd hears that calls are served, and acts where they are not.
@Suite(Machine.boots)
struct WatchdogTests {
    @Test(.timeLimit(.minutes(2)))
    func `a daemon that hangs is killed and started again, and who calls meanwhile is answered`()
        async throws
    {
        let told = try await Machine.play(
            """
            printf '[Service]\\nWatchdogSec=1\\nRestartSec=100ms\\n' | drop_in atriumd.service
            systemctl start atriumd.socket atriumd
            echo 'atrium: 1
            container: broken
            fields: { title: { type: text } }
            components: [{ name: list, plugin: org.atrium.breaker }]' | atriumctl apply -f - >/dev/null
            atriumctl put broken/kept title=kept >/dev/null
            # Three times the watchdog's limit: nobody is killed who answers.
            for i in 1 2 3 4 5 6; do atriumctl status >/dev/null; sleep 0.5; done
            tell alive $(unit NRestarts) $(unit WatchdogUSec)
            first=$(unit MainPID)

            atriumctl put broken/hang title=hang >/dev/null 2>&1 &
            hangs() { ! timeout 0.3 atriumctl status >/dev/null; }
            wait_for hangs
            tell kept $(as atrium-member atriumctl list broken --json | grep -o '"id":"[a-z]*"')
            tell state $(unit ActiveState)
            [ $(unit MainPID) != $first ] || tell same-process
            wait $!
            tell hung $?
            tell journal "$(logged | grep -i watchdog | head -n 1)"
            tell forced $(logged | grep -c SIGKILL)
            """, preparing: Machine.installBreaker)
        #expect(told["alive"] == "0 1s")
        #expect(told["kept"] == #""id":"kept""#)
        #expect(told["state"] == "active")
        #expect(told["same-process"] == nil)
        #expect(told["hung"] != "0", "it was never answered")
        #expect(told["forced"] == "0", "it ends by the watchdog's own signal, at once")
        #expect(told["journal"]?.contains("atchdog timeout") == true)
    }

    @Test(.timeLimit(.minutes(2)))
    func `a daemon that is stopped in its tracks is noticed too`() async throws {
        let told = try await Machine.play(
            """
            printf '[Service]\\nWatchdogSec=1\\nTimeoutAbortSec=1\\nRestartSec=100ms\\n' |
                drop_in atriumd.service
            systemctl start atriumd.socket atriumd
            first=$(unit MainPID)
            kill -STOP $first
            another() { [ $(unit MainPID) != $first ] && systemctl is-active --quiet atriumd; }
            wait_for another
            tell another $?
            tell answered $(state)
            tell journal "$(logged | grep -i watchdog | head -n 1)"
            """)
        #expect(told["another"] == "0")
        #expect(told["answered"] == #""state":"ready""#)
        #expect(told["journal"]?.contains("atchdog timeout") == true)
    }
}
