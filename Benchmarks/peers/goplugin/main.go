// Measures a call to a plugin by go-plugin, whose protocol is net/rpc: the host and its plugin are this program.
//
// usage: goplugin CALLERS SECONDS
//
// Prints a line of JSON: the median of a round trip in us, calls a second, the processor time of a call in both
// processes in us, and the plugin's own memory in MB. The plugin does what that of the other languages does: it
// counts a vote, and replies the score of its item.
package main

import (
	"encoding/json"
	"fmt"
	"net/rpc"
	"os"
	"os/exec"
	"sort"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
)

const items = 1000

type Ballot struct {
	Item  string
	Actor int64
	Value float64
	Cast  int64
}

type Score struct {
	Count int
	Score float64
}

// Votes is what the plugin serves.
type Votes struct {
	mutex   sync.Mutex
	ballots map[string]map[int64]float64
	sums    map[string]float64
}

func (votes *Votes) Cast(ballot Ballot, score *Score) error {
	votes.mutex.Lock()
	defer votes.mutex.Unlock()
	of := votes.ballots[ballot.Item]
	if of == nil {
		of = map[int64]float64{}
		votes.ballots[ballot.Item] = of
	}
	votes.sums[ballot.Item] += ballot.Value - of[ballot.Actor]
	of[ballot.Actor] = ballot.Value
	*score = Score{len(of), votes.sums[ballot.Item] / float64(len(of))}
	return nil
}

type VotesPlugin struct{}

func (VotesPlugin) Server(*plugin.MuxBroker) (interface{}, error) {
	return &Votes{ballots: map[string]map[int64]float64{}, sums: map[string]float64{}}, nil
}

func (VotesPlugin) Client(_ *plugin.MuxBroker, client *rpc.Client) (interface{}, error) {
	return client, nil
}

var handshake = plugin.HandshakeConfig{ProtocolVersion: 1, MagicCookieKey: "VOTES", MagicCookieValue: "1"}
var plugins = map[string]plugin.Plugin{"votes": VotesPlugin{}}

func main() {
	if os.Getenv(handshake.MagicCookieKey) != "" {
		plugin.Serve(&plugin.ServeConfig{HandshakeConfig: handshake, Plugins: plugins})
		return
	}
	if err := measure(); err != nil {
		fmt.Fprintln(os.Stderr, "goplugin:", err)
		os.Exit(1)
	}
}

func measure() error {
	if len(os.Args) != 3 {
		return fmt.Errorf("usage: goplugin CALLERS SECONDS")
	}
	callers, err := strconv.Atoi(os.Args[1])
	if err != nil {
		return err
	}
	seconds, err := strconv.ParseFloat(os.Args[2], 64)
	if err != nil {
		return err
	}
	host := plugin.NewClient(&plugin.ClientConfig{
		HandshakeConfig: handshake, Plugins: plugins, Cmd: exec.Command(os.Args[0]),
		Logger: hclog.NewNullLogger(),
	})
	defer host.Kill()
	protocol, err := host.Client()
	if err != nil {
		return err
	}
	raw, err := protocol.Dispense("votes")
	if err != nil {
		return err
	}
	votes := raw.(*rpc.Client)
	pid := host.ReattachConfig().Pid
	// What the first calls prepare is not counted.
	if _, err := run(votes, callers, 200*time.Millisecond); err != nil {
		return err
	}
	before := processorTime(pid)
	times, err := run(votes, callers, time.Duration(seconds*float64(time.Second)))
	if err != nil {
		return err
	}
	spent := processorTime(pid) - before
	sort.Slice(times, func(one, other int) bool { return times[one] < times[other] })
	return json.NewEncoder(os.Stdout).Encode(map[string]float64{
		"p50_us":        float64(times[len(times)/2]) / 1e3,
		"per_s":         float64(len(times)) / seconds,
		"server_cpu_us": spent / float64(len(times)),
		"memory_mb":     privateMemory(pid),
	})
}

// run has callers make one call after another, and returns what each took.
func run(votes *rpc.Client, callers int, long time.Duration) ([]time.Duration, error) {
	end := time.Now().Add(long)
	results := make([][]time.Duration, callers)
	problems := make([]error, callers)
	var group sync.WaitGroup
	for caller := 0; caller < callers; caller++ {
		group.Add(1)
		go func(caller int) {
			defer group.Done()
			for number := caller; time.Now().Before(end); number += callers {
				ballot := Ballot{"i" + strconv.Itoa(number%items+1), int64(caller), float64(number%5 + 1), 1767225600000}
				var score Score
				start := time.Now()
				if problems[caller] = votes.Call("Plugin.Cast", ballot, &score); problems[caller] != nil {
					return
				}
				results[caller] = append(results[caller], time.Since(start))
			}
		}(caller)
	}
	group.Wait()
	var times []time.Duration
	for caller, of := range results {
		if problems[caller] != nil {
			return nil, problems[caller]
		}
		times = append(times, of...)
	}
	return times, nil
}

// processorTime is that of this process and the plugin, in us.
func processorTime(pid int) float64 {
	var own syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &own)
	total := float64(own.Utime.Nano()+own.Stime.Nano()) / 1e3
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return total
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	for _, field := range fields[11:13] {
		ticks, _ := strconv.ParseFloat(field, 64)
		total += ticks * 1e4
	}
	return total
}

// privateMemory is what no other process shares, in MB.
func privateMemory(pid int) float64 {
	rollup, _ := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	total := 0.0
	for _, line := range strings.Split(string(rollup), "\n") {
		if fields := strings.Fields(line); len(fields) > 1 && strings.HasPrefix(line, "Private_") {
			size, _ := strconv.ParseFloat(fields[1], 64)
			total += size / 1024
		}
	}
	return total
}
