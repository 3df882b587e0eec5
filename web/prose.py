"""Markdown as a tree of elements: [tag, children] or [tag, children, address], and texts. HTML in it stays text."""
import functools

MOST_CHARACTERS = 32_768
TAGS = {"p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre", "code", "em", "strong", "hr", "br", "a"}
try:
    from markdown_it import MarkdownIt
    from markdown_it.tree import SyntaxTreeNode
    PARSER = MarkdownIt("commonmark", {"html": False, "maxNesting": 20})
except ImportError:  # Debian's python3-markdown-it is not there.
    PARSER = None


@functools.lru_cache(maxsize=256)
def tree(text):
    """The tree of a text; one that is too long, or that nothing reads here, stays as it was written."""
    if PARSER is None or len(text) > MOST_CHARACTERS:
        return [["pre", [text]]]
    return nodes(SyntaxTreeNode(PARSER.parse(text)))


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
