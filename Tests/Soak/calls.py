"""Calls made up from what the daemon says of its own interfaces: of the right types, with values that nobody sends."""
import json
import random
import re

TOKEN = re.compile(r"\[string\]|\[\]|->|[A-Za-z][A-Za-z0-9_.-]*|[():,?]")


class Interface:
    """The methods of one interface: name, and the parameters as a tree of types."""

    def __init__(self, text):
        text = "\n".join(line.split("#")[0] for line in text.splitlines())
        self.tokens, self.place = TOKEN.findall(text), 0
        self.types, self.methods = {}, {}
        self.expect("interface")
        self.name = self.take()
        while self.place < len(self.tokens):
            kind, name = self.take(), self.take()
            group = self.group()
            if kind == "type":
                self.types[name] = group
            elif kind == "method":
                self.expect("->")
                self.group()
                self.methods[f"{self.name}.{name}"] = group

    def take(self):
        self.place += 1
        return self.tokens[self.place - 1]

    def peek(self):
        return self.tokens[self.place]

    def expect(self, token):
        found = self.take()
        assert found == token, (found, token)

    def group(self):
        """('structure', [(name, type)]) or ('enumeration', [name])."""
        self.expect("(")
        fields, names = [], []
        while self.peek() != ")":
            name = self.take()
            if self.peek() == ":":
                self.take()
                fields.append((name, self.type()))
            else:
                names.append(name)
            if self.peek() == ",":
                self.take()
        self.take()
        return ("enumeration", names) if names else ("structure", fields)

    def type(self):
        token = self.peek()
        if token == "(":
            return self.group()
        self.take()
        if token == "?":
            return ("nullable", self.type())
        if token == "[]":
            return ("array", self.type())
        if token == "[string]":
            return ("map", self.type())
        return ("plain", token)


class Hostile:
    """Makes up calls: known are texts by the names of the fields that they make sense in."""

    def __init__(self, interfaces, known, seed):
        self.interfaces, self.known, self.random = interfaces, known, random.Random(seed)
        self.methods = [(i, m) for i in interfaces for m in i.methods]

    def next(self, method=None):
        """The frame of a call, and its method's name."""
        interface, name = method or self.random.choice(self.methods)
        parameters = self.value(interface, interface.methods[name], "", 0)
        call = {"method": name, "parameters": parameters}
        if self.random.random() < 0.4:
            call["more"] = True
        return json.dumps(call).encode() + b"\0", name

    def text(self, name):
        known = self.known.get(name)
        if known and self.random.random() < 0.7:
            return self.random.choice(known)
        return self.random.choice([
            "", "x", "\0\1\x1b[31m\r\n", "\u202e\ufeff\U0010ffff", "../../etc/passwd", "films.>", ">",
            "e" + "\u0301" * self.size(), "x" * self.size(), "ab " * self.size(), "unix:0", "web:1",
            "NaN", "1e999", "'; DROP TABLE records; --", "%s%n"])

    def size(self):
        return self.random.choice([1, 10, 100, 1000, 3000, 70_000, 250_000])

    def count(self, depth):
        return self.random.choice([0, 1, 1, 2, 3, 200 if depth < 2 else 1, 3000 if depth < 1 else 2])

    def value(self, interface, type, name, depth):
        kind, inner = type
        chance = self.random.random()
        if kind == "nullable":
            return None if chance < 0.5 else self.value(interface, inner, name, depth)
        if kind == "array":
            return [self.value(interface, inner, name, depth + 1) for _ in range(self.count(depth))]
        if kind == "map":
            return {self.text("section"): self.value(interface, inner, "filter", depth + 1)
                    for _ in range(self.count(depth))}
        if kind == "structure":
            fields = {n: self.value(interface, t, n, depth + 1) for n, t in inner if self.random.random() > 0.01}
            return {n: v for n, v in fields.items() if v is not None or self.random.random() < 0.05}
        if kind == "enumeration":
            return self.random.choice(inner)
        if inner == "bool":
            return chance < 0.5
        if inner == "int":
            return self.random.choice([0, 1, 5, 50, -1, 2**63 - 1, -2**63, 2**53 + 1, 1_000_001])
        if inner == "float":
            return self.random.choice([1, 5, 0.5, -0.0, 1e308, -1e308, 5e-324])
        if inner == "string":
            return self.text(name)
        if inner == "object":
            return {self.text("field"): self.random.choice([1, None, self.text("text"), [[]] * 100, {"a": {}}])}
        return self.value(interface, interface.types[inner], name, depth + 1)
