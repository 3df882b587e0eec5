"""Markdown as a tree of elements: [tag, children] or [tag, children, address], and texts. HTML in it stays text."""
import functools, json, re

MOST_CHARACTERS = 16_384  # that are read as markdown; what follows stays as it was written
# Pairs of these are found in the square of a run's length, and each pair is an element within another.
LONG_RUN, MOST_NESTED = re.compile(r"\*{64}|_{64}"), 64
TAGS = {"p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre", "code", "em", "strong", "hr", "br", "a"}


class TooLong(Exception):
    """A text that would take too long, or nest too deep."""


def check_runs(state):
    """Ends the reading before emphases are looked for; rules and blocks of code have none."""
    if any(token.type == "inline" and LONG_RUN.search(token.content) for token in state.tokens):
        raise TooLong


try:
    from markdown_it import MarkdownIt
    from markdown_it.tree import SyntaxTreeNode
    # Without `[name]: address`: a paragraph of these is copied and read again for each of its lines.
    PARSER = MarkdownIt("commonmark", {"html": False, "maxNesting": 20}).disable("reference")
    PARSER.core.ruler.before("inline", "runs", check_runs)
except ImportError:  # Debian's python3-markdown-it is not there.
    PARSER = None


@functools.lru_cache(maxsize=256)
def encoded(text):
    """The tree of a text as JSON, which takes a tenth of the tree's memory."""
    return json.dumps({"tree": tree(text)})


def tree(text):
    """The tree of a text; one that would take long, or that nothing reads here, stays as it was written."""
    head, rest = parts(text)
    if PARSER is None:
        return [["pre", [text]]]
    try:
        tokens = PARSER.parse(head)
        if nesting(tokens) > MOST_NESTED:
            raise TooLong
        return nodes(SyntaxTreeNode(tokens)) + ([["pre", [rest]]] if rest else [])
    except (TooLong, RecursionError):
        return [["pre", [text]]]


def parts(text):
    """What is read of a text, which ends between paragraphs or lines if it is cut, and the rest."""
    if len(text) <= MOST_CHARACTERS:
        return text, ""
    ends = (text.rfind(mark, 0, MOST_CHARACTERS) + len(mark) for mark in ("\n\n", "\n") if mark in text[:MOST_CHARACTERS])
    end = next(ends, MOST_CHARACTERS)
    return text[:end], text[end:]


def nesting(tokens):
    """How deep elements lie within each other; `maxNesting` is for blocks and links alone."""
    depth = deepest = 0
    for token in tokens:
        depth += token.nesting
        deepest = max(deepest, depth + (nesting(token.children) if token.children else 0))
    return deepest


def nodes(parent):
    found = []
    for node in parent.children:
        if node.type in ("text", "html_inline", "html_block"):
            found.append(node.content)
        elif node.type == "softbreak":
            found.append("\n")
        elif node.type == "code_inline":
            found.append(["code", [node.content]])
        elif node.type in ("fence", "code_block"):
            found.append(["pre", [["code", [node.content]]]])
        elif node.type == "image":
            # Not loaded: its host would learn who reads.
            found.append(["a", [node.content or str(node.attrs.get("src", ""))], str(node.attrs.get("src", ""))])
        elif node.type == "link":
            found.append(["a", nodes(node), str(node.attrs.get("href", ""))])
        elif node.type == "paragraph" and node.hidden:
            found += nodes(node)
        elif node.tag in TAGS:
            found.append([node.tag, nodes(node)])
        else:
            found += nodes(node)
    return found
