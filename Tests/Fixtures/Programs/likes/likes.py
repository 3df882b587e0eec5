#!/usr/bin/python3
"""Likes: votes from 1 to 5, whose score is their sum. It breaks where its settings say so."""
import json
import os
import time

sums = {}
how = {}


def count(item, vote, previous):
    change = (vote["value"] if vote else 0) - (previous["value"] if previous else 0)
    sums[item] = sums.get(item, 0) + change
    return sums[item]


def hello(protocols):
    return {
        "protocol": 1,
        "settings": [
            {"name": "breaks", "type": "choice", "words": list(BREAKING), "summary": "how it breaks"},
            {"name": "at", "type": "text", "summary": "in which method"},
            {"name": "most", "type": "number", "least": 1, "most": 5, "summary": "the most that is taken"},
            {"name": "listen", "type": "integer", "least": 1, "most": 60, "summary": "how often it is listened to"},
        ],
        "defaults": {"most": 5},
    }


def start(container, component, settings):
    how.update(settings)
    if settings.get("at") == "settings":
        raise Failure("SettingInvalid", setting="at", reason="expected a method, found 'settings'")
    print("starts for", container, component, flush=True)
    reply = {"min": 1, "max": settings["most"], "step": 1}
    return dict(reply, listen=settings["listen"]) if "listen" in settings else reply


def restore(ballots):
    for ballot in ballots:
        count(ballot.get("item"), ballot, None)
    return {}


def cast(ballot, previous=None):
    if ballot.get("item") == "closed":
        raise Failure("Refused", reason="Votes on this item are closed.", retryAfter=60)
    return {}


METHODS = {
    "Hello": hello,
    "Start": start,
    "Restore": restore,
    "Restored": lambda subjects: {"scores": [sums[subject.get("item")] for subject in subjects]},
    "Cast": cast,
    "Retract": lambda ballot: {},
    "Apply": lambda actor, item=None, vote=None, previous=None: {"score": count(item, vote, previous)},
    "Listen": lambda: {"scores": [{"item": item, "score": 1000} for item in sums]},
    "Stop": lambda: {},
}

BREAKING = {
    "dies": lambda: os._exit(3),
    "raises": lambda: {}["nothing"],
    "hangs": lambda: time.sleep(600),
    "babbles": lambda: b"no JSON at all",
    "answers twice": lambda: b'{"parameters": {}}\0{"parameters": {}}',
    "answers something else": lambda: b'{"parameters": {"scores": "many", "score": "much"}}',
    "answers infinity": lambda: b'{"parameters": {"score": 1e999, "scores": [1e999]}}',
    "answers at length": lambda: b'{"parameters": {"more": "' + b"x" * (2 << 20) + b'"}}',
    "lacks it": lambda: b'{"error": "org.varlink.service.MethodNotImplemented", "parameters": {"method": "it"}}',
    "fails": lambda: b'{"error": "org.example.Failed", "parameters": {"reason": "for no reason"}}',
}


class Failure(Exception):
    def __init__(self, name, **parameters):
        self.reply = {"error": "org.atrium.plugin.Votes." + name, "parameters": parameters}


def answer(call):
    method = call["method"].rpartition(".")[2]
    if how.get("at") == method and "breaks" in how:
        return BREAKING[how["breaks"]]()
    try:
        return json.dumps({"parameters": METHODS[method](**call.get("parameters", {}))}).encode()
    except Failure as failure:
        return json.dumps(failure.reply).encode()


socket, waiting = open(3, "r+b", buffering=0), b""
while arrived := socket.read(1 << 16):
    *calls, waiting = (waiting + arrived).split(b"\0")
    for call in calls:
        socket.write(answer(json.loads(call)) + b"\0")
