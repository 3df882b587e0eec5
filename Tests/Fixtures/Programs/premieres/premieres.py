#!/usr/bin/python3
"""Premieres: votes from 1 to 5 on films that are out in a year. The score is their sum."""
import json
import os

sums, settings = {}, {}


class Refused(Exception):
    pass


def take(new):
    settings.update(new)
    return {"min": 1, "max": settings["stars"], "step": 1, "itemFields": ["year"]}


def count(item, vote, previous):
    change = (vote["value"] if vote else 0) - (previous["value"] if previous else 0)
    sums[item] = sums.get(item, 0) + change
    return sums[item]


def judge(fields):
    if fields and fields.get("year", 0) > settings["year"]:
        raise Refused(f"It comes out in {fields['year']}, and this is {settings['year']}.")
    return {}


class Plugin:
    def Hello(self, protocols):
        return {
            "protocol": 1,
            "defaults": {"stars": 5},
            "settings": [
                {"name": "year", "type": "integer", "required": True, "live": True, "summary": "the present year"},
                {"name": "stars", "type": "integer", "least": 2, "most": 9, "summary": "the most that a vote is"},
                {"name": "breaks", "type": "boolean", "live": True, "summary": "whether a change to this ends it"},
            ],
        }

    def Start(self, container, component, settings):
        return take(settings)

    def ChangeSettings(self, settings):
        if settings.get("breaks"):
            os._exit(3)
        return take(settings)

    def Restore(self, ballots):
        for ballot in ballots:
            count(ballot.get("item"), ballot, None)
        return {}

    def Restored(self, subjects):
        return {"scores": [sums.get(subject.get("item")) for subject in subjects]}

    def Cast(self, ballot, previous=None, fields=None):
        return judge(fields)

    def Retract(self, ballot, fields=None):
        return judge(fields)

    def Apply(self, actor, item=None, vote=None, previous=None):
        return {"score": count(item, vote, previous)}

    def Stop(self):
        return {}


def reply(call):
    interface, _, method = call["method"].rpartition(".")
    try:
        return {"parameters": getattr(Plugin(), method)(**call.get("parameters", {}))}
    except Refused as refused:
        return {"error": interface + ".Refused", "parameters": {"reason": str(refused)}}


socket, waiting = open(3, "r+b", buffering=0), b""
while arrived := socket.read(1 << 16):
    *calls, waiting = (waiting + arrived).split(b"\0")
    for call in calls:
        socket.write(json.dumps(reply(json.loads(call))).encode() + b"\0")
