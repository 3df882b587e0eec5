/// A new plugin of the kind `votes` in Go: thumbs up and down.
enum GoVotesTemplate {
    /// What follows the start that ``GoTemplate`` has for each kind.
    static let body = ##"""
        // Plugin has the sum of the votes on each item; "" is the container itself.
        type Plugin map[string]float64

        // Vote is what an actor votes.
        type Vote struct{ Value float64 }

        // Ballot is a vote on an item.
        type Ballot struct {
        	Vote
        	Item string
        }

        func (plugin Plugin) restore(call struct{ Ballots []Ballot }) (Object, error) {
        	for _, ballot := range call.Ballots {
        		plugin.count(ballot.Item, ballot.Vote, Vote{})
        	}
        	return Object{}, nil
        }

        func (plugin Plugin) restored(call struct{ Subjects []Ballot }) (Object, error) {
        	scores := []any{}
        	for _, subject := range call.Subjects {
        		scores = append(scores, plugin.score(subject.Item))
        	}
        	return Object{"scores": scores}, nil
        }

        // Decides on a vote, or on taking one back, and changes nothing.
        func (plugin Plugin) decide(call struct{ Ballot Ballot }) (Object, error) {
        	return Object{}, nil // or: return nil, Refused("Votes are closed.")
        }

        // State changes here and in Restore alone.
        func (plugin Plugin) apply(call struct {
        	Item           string
        	Vote, Previous Vote
        }) (Object, error) {
        	plugin.count(call.Item, call.Vote, call.Previous)
        	return Object{"score": plugin.score(call.Item)}, nil
        }

        // Puts a vote in place of the one before; an empty one is none.
        func (plugin Plugin) count(item string, vote, previous Vote) {
        	plugin[item] += vote.Value - previous.Value
        }

        func (plugin Plugin) score(item string) any {
        	if score, known := plugin[item]; known {
        		return score
        	}
        	return nil
        }

        func main() {
        	plugin := Plugin{}
        	Serve(Methods{
        		"Hello": Always(Object{"protocol": 1}),
        		// The worker refuses any other value.
        		"Start":    Always(Object{"min": -1, "max": 1, "step": 2}),
        		"Restore":  On(plugin.restore),
        		"Restored": On(plugin.restored),
        		"Cast":     On(plugin.decide),
        		"Retract":  On(plugin.decide),
        		"Apply":    On(plugin.apply),
        		"Stop":     Always(Object{}),
        	})
        }
        """##
}
