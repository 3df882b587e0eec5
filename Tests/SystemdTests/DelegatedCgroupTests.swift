import Testing

@testable import Systemd

struct DelegatedCgroupTests {
    private let unified = "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"

    @Test func `a process's cgroup is found where version 2 is mounted`() {
        #expect(
            DelegatedCgroup.path(membership: "0::/system.slice/a.service\n", mounts: unified)
                == "/sys/fs/cgroup/system.slice/a.service")
    }

    @Test func `beside version 1, its own hierarchy counts`() {
        let membership = "9:name=systemd:/x\n4:memory:/y\n0::/system.slice/a.service\n"
        let mounts = """
            31 23 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory
            32 23 0:28 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw
            """
        #expect(
            DelegatedCgroup.path(membership: membership, mounts: mounts)
                == "/sys/fs/cgroup/unified/system.slice/a.service")
    }

    @Test func `a part of the tree that is mounted is left out of the path`() {
        let mounts = "30 23 0:26 /system.slice /mnt rw - cgroup2 cgroup2 rw\n"
        #expect(
            DelegatedCgroup.path(membership: "0::/system.slice/a.service", mounts: mounts)
                == "/mnt/a.service")
        #expect(
            DelegatedCgroup.path(membership: "0::/system.slices/a.service", mounts: mounts) == nil)
    }

    @Test func `version 1 alone is no place for workers`() {
        let mounts = "31 23 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
        #expect(DelegatedCgroup.path(membership: "4:memory:/y\n", mounts: mounts) == nil)
        #expect(DelegatedCgroup.path(membership: "0::/\n", mounts: mounts) == nil)
    }

    @Test func `a process that was started by hand is given none`() {
        #expect(throws: DelegatedCgroup.Missing.self) { try DelegatedCgroup.path() }
    }
}
