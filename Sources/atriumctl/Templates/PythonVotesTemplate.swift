/// A new plugin of the kind `votes` in Python: thumbs up and down.
enum PythonVotesTemplate {
    static let title = "thumbs up (1) and down (-1). The score of an item is their sum."

    /// The program, without what replies to calls.
    static let body = ##"""
        import json

        scores = {}  # by item; None is the container itself


        class Refused(Exception):
            """Raised by Cast and Retract: says to the person who voted why not."""

            name = "Refused"


        def count(item, vote, previous):
            """Puts a vote in place of the one before; None is no vote."""
            change = (vote["value"] if vote else 0) - (previous["value"] if previous else 0)
            scores[item] = scores.get(item, 0) + change
            return scores[item]


        class Plugin:
            """A method for each that is asked, which returns the parameters of its reply."""

            def Hello(self, protocols):
                return {"protocol": 1}

            def Start(self, container, component, settings):
                return {"min": -1, "max": 1, "step": 2}  # the worker refuses any other value

            def Restore(self, ballots):
                for ballot in ballots:
                    count(ballot.get("item"), ballot, None)
                return {}

            def Restored(self, subjects):
                return {"scores": [scores.get(subject.get("item")) for subject in subjects]}

            def Cast(self, ballot, previous=None):
                return {}  # or: raise Refused("Votes are closed.")

            def Retract(self, ballot):
                return {}

            def Apply(self, actor, item=None, vote=None, previous=None):
                return {"score": count(item, vote, previous)}

            def Stop(self):
                return {}
        """##
}
