/// A new plugin of the kind `votes` in Go, by the standard library alone.
enum GoVotesTemplate {
    /// `go.mod`.
    static let module = ##"""
        module {{component}}

        go 1.19
        """##

    /// `main.go`: what the author changes.
    static let source = ##"""
        // {{Name}}: thumbs up (1) and down (-1). The score of an item is their sum.
        //
        // atrium.go reads calls from the worker and sends replies; what is decided stands here. What is printed goes to the
        // daemon's log.
        package main

        // Plugin has the sum of the votes on each item; "" is the container itself.
        type Plugin map[string]float64

        // Start makes the component. The worker refuses any value that is not on the scale.
        func (plugin Plugin) Start(settings map[string]any) (Scale, error) {
        	return Scale{Min: -1, Max: 1, Step: 2}, nil
        }

        // Cast decides on a vote, and changes nothing.
        func (plugin Plugin) Cast(ballot Ballot, previous *Vote) error {
        	return nil // or: return &Refused{Reason: "Votes are closed."}
        }

        // Retract decides on taking a vote back.
        func (plugin Plugin) Retract(ballot Ballot) error {
        	return nil
        }

        // Apply counts a vote in place of the one before; nil is no vote. State changes here alone.
        func (plugin Plugin) Apply(item string, vote, previous *Vote) {
        	if vote != nil {
        		plugin[item] += vote.Value
        	}
        	if previous != nil {
        		plugin[item] -= previous.Value
        	}
        }

        // Score is the score of an item that has votes.
        func (plugin Plugin) Score(item string) float64 {
        	return plugin[item]
        }

        func main() {
        	Serve(Plugin{})
        }
        """##

    /// `atrium.go`: what serves it.
    static let helper = ##"""
        package main

        import (
        	"bufio"
        	"encoding/json"
        	"log"
        	"os"
        	"strings"
        )

        // Votes decides on votes. Its state follows from the ballots that were applied, in any order.
        type Votes interface {
        	// Start makes the component; fails with what is wrong about its settings.
        	Start(settings map[string]any) (Scale, error)
        	// Cast decides on a vote, without counting it; a *Refused says why not.
        	Cast(ballot Ballot, previous *Vote) error
        	// Retract decides on taking a vote back.
        	Retract(ballot Ballot) error
        	// Apply counts a vote in place of the one before; nil is no vote.
        	Apply(item string, vote, previous *Vote)
        	// Score is the score of an item that has votes.
        	Score(item string) float64
        }

        // Scale has the values that are votes: from Min to Max in steps of Step.
        type Scale struct {
        	Min  float64 `json:"min"`
        	Max  float64 `json:"max"`
        	Step float64 `json:"step"`
        }

        // Vote is what an actor votes, and when, in milliseconds since 1970.
        type Vote struct {
        	Value float64 `json:"value"`
        	Cast  int64   `json:"cast"`
        }

        // Ballot is a vote with whose it is, a number that is nobody's name, and on what; "" is the container itself.
        type Ballot struct {
        	Vote
        	Item  string `json:"item"`
        	Actor string `json:"actor"`
        }

        // Refused says to the person who voted why the vote is not taken, and after how many seconds it may be; 0 is never.
        type Refused struct {
        	Reason     string  `json:"reason"`
        	RetryAfter float64 `json:"retryAfter,omitempty"`
        }

        func (refused *Refused) Error() string { return refused.Reason }

        type call struct {
        	Method     string
        	Parameters struct {
        		Settings       map[string]any
        		Ballots        []Ballot
        		Subjects       []struct{ Item string }
        		Ballot         Ballot
        		Item           string
        		Vote, Previous *Vote
        	}
        }

        type object map[string]any

        // Serve replies to calls of org.atrium.plugin.Votes, version 1, until the worker closes the socket, which is
        // descriptor 3. Calls come one at a time, as JSON and a NUL byte each; so do replies.
        // 'atriumctl introspect org.atrium.plugin.Votes' describes every method.
        func Serve(votes Votes) {
        	socket := os.NewFile(3, "worker")
        	calls := bufio.NewReader(socket)
        	for {
        		frame, err := calls.ReadBytes(0)
        		if err != nil {
        			return // The worker closed the socket.
        		}
        		var call call
        		if err := json.Unmarshal(frame[:len(frame)-1], &call); err != nil {
        			log.Fatalf("a call can't be read: %v", err)
        		}
        		reply, err := json.Marshal(answer(votes, &call))
        		if err != nil {
        			log.Fatalf("a reply can't be written: %v", err)
        		}
        		if _, err := socket.Write(append(reply, 0)); err != nil {
        			log.Fatalf("the worker reads no replies: %v", err)
        		}
        	}
        }

        func answer(votes Votes, call *call) object {
        	interfaceName, method, _ := strings.Cut(call.Method, ".Votes.")
        	interfaceName += ".Votes"
        	given := &call.Parameters
        	reply := func(parameters any, err error) object {
        		refused, isRefused := err.(*Refused)
        		switch {
        		case isRefused:
        			return object{"error": interfaceName + ".Refused", "parameters": refused}
        		case err != nil:
        			invalid := object{"setting": "", "reason": err.Error()}
        			return object{"error": interfaceName + ".SettingInvalid", "parameters": invalid}
        		}
        		return object{"parameters": parameters}
        	}
        	switch method {
        	case "Hello":
        		return reply(object{"protocol": 1}, nil)
        	case "Start":
        		return reply(votes.Start(given.Settings))
        	case "Restore":
        		for _, ballot := range given.Ballots {
        			vote := ballot.Vote
        			votes.Apply(ballot.Item, &vote, nil)
        		}
        		return reply(object{}, nil)
        	case "Restored":
        		scores := []float64{}
        		for _, subject := range given.Subjects {
        			scores = append(scores, votes.Score(subject.Item))
        		}
        		return reply(object{"scores": scores}, nil)
        	case "Cast":
        		return reply(object{}, votes.Cast(given.Ballot, given.Previous))
        	case "Retract":
        		return reply(object{}, votes.Retract(given.Ballot))
        	case "Apply":
        		votes.Apply(given.Item, given.Vote, given.Previous)
        		return reply(object{"score": votes.Score(given.Item)}, nil)
        	case "Stop":
        		return reply(object{}, nil)
        	}
        	unknown := object{"method": call.Method}
        	return object{"error": "org.varlink.service.MethodNotFound", "parameters": unknown}
        }
        """##
}
