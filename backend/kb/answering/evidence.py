"""Evidence as a model sees it: numbered blocks whose borders no document can forge.

Every character that could matter to us or to a chat template is replaced by one that looks alike and means nothing,
one for one: the text keeps its length, so offsets found in it hold in the original.
"""

from __future__ import annotations

import re

from kb.retrieval.values import Hit

_STAND_INS = str.maketrans({"<": "‹", ">": "›", "[": "〔", "]": "〕", "|": "¦"})

# Control tokens of the usual chat templates, our own borders, and markers. The full-width vertical line and the
# lower one eighth block are how DeepSeek's tokens are spelled.
_FORGERIES = re.compile(
    r"<[|｜][^<>\n]{0,60}[|｜]?>|[|｜]{1,2}>|<[|｜]{1,2}"
    r"|</?(?:s|bos|eos|unk|pad|mask|think|tool_call|tool_response|system|user|assistant|evidence)>"
    r"|</?(?:start|end)_of_[a-z]{1,20}>"
    r"|<<+|>>+"
    r"|\[/?(?:INST|SYS|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS)\]"
    r"|\[\s*#\s*\d+\s*\]"
    r"|\[(?:question|evidence|질문|근거|问题|依据)\]",
    re.IGNORECASE,
)
_BREAKS = re.compile(r"[\s\x00-\x1f\x7f]+")


def neutral(text: str) -> str:
    """Return `text`, of the same length, with everything a prompt could mistake for its own put beyond use."""
    return _FORGERIES.sub(lambda match: match[0].translate(_STAND_INS), text)


def block(number: int, hit: Hit, text: str) -> str:
    """Return one evidence block: a border that names number, path and heading, the text, a border."""
    heading = " › ".join(hit.stored.chunk.heading_path)
    source = neutral(_BREAKS.sub(" ", f"{hit.stored.path} {heading}".strip()))
    return f"<<<#{number} {source}>>>\n{neutral(text)}\n<<<end #{number}>>>"
