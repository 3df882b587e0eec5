// broker PATH: runs dbus-broker on a socket at PATH, with a policy that allows everything.
//
// The broker takes its socket and its policy over a private connection from whoever starts it;
// its own launcher does that only under systemd.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

static pid_t child;

static void check(int result, const char *what) {
    if (result >= 0) return;
    fprintf(stderr, "broker: %s: %s\n", what, strerror(-result));
    exit(2);
}

static void end_child(int signal) {
    (void)signal;
    kill(child, SIGTERM);
    _exit(0);
}

static int listen_at(const char *path) {
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    snprintf(a.sun_path, sizeof a.sun_path, "%s", path);
    unlink(path);
    if (bind(fd, (struct sockaddr *)&a, sizeof a) || listen(fd, 256)) check(-errno, path);
    return fd;
}

static void start(int controller) {
    child = fork();
    if (child) return;
    char number[16];
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    fcntl(controller, F_SETFD, 0);
    snprintf(number, sizeof number, "%d", controller);
    execlp("dbus-broker", "dbus-broker", "--controller", number, "--machine-id",
           "00000000000000000000000000000001", "--max-bytes", "1000000000", "--max-fds", "100000",
           "--max-matches", "100000", "--max-objects", "100000", NULL);
    _exit(127);
}

#define RULES "a(btbs)a(btssssuutt)a(btssssuutt)"
#define POLICY "(a(u(bt" RULES "))a(buu(bt" RULES "))a(ss)bs)"

// One batch of rules, for every user: may connect, own each name, send and receive everything.
static void hand_over(sd_bus *bus, int fd) {
    const uint64_t one = 1, none = 0, all = UINT64_MAX;
    sd_bus_message *call = NULL;
    sd_bus_error error = SD_BUS_ERROR_NULL;
    check(sd_bus_message_new_method_call(bus, &call, NULL, "/org/bus1/DBus/Broker",
                                         "org.bus1.DBus.Broker", "AddListener"), "message");
    check(sd_bus_message_append(call, "ohv", "/org/bus1/DBus/Listener/0", fd, POLICY,
                                1, UINT32_MAX, 1, one, 1, 1, one, 1, "",
                                1, 1, one, "", "", "", "", 0, 0, none, all,
                                1, 1, one, "", "", "", "", 0, 0, none, all,
                                0, 0, 0, "session"), "append");
    int result = sd_bus_call(bus, call, 0, &error, NULL);
    check(result, error.message ? error.message : "AddListener");
}

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    int fd = listen_at(argv[1]), pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair))
        check(-errno, "socketpair");
    start(pair[1]);
    close(pair[1]);
    signal(SIGTERM, end_child);
    sd_bus *bus = NULL;
    check(sd_bus_new(&bus), "new");
    check(sd_bus_set_fd(bus, pair[0], pair[0]), "fd");
    check(sd_bus_start(bus), "start");
    hand_over(bus, fd);
    for (int result = 0; result >= 0;) {
        result = sd_bus_process(bus, NULL);
        if (!result) result = sd_bus_wait(bus, UINT64_MAX);
    }
    waitpid(child, NULL, 0);
    return 0;
}
