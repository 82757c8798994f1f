"""A grammar (GBNF) under which a model can only cite what exists.

Every sentence ends in at least one `[#n]` with an existing number, before or after its full stop, or the whole answer
is the one refusal sentence. A square bracket opens nothing but a marker, `<<` nothing at all (small models like to
go on with an evidence block), and behind a marker no small Latin letter goes on with what was already ended. The
grammar says where a sentence may end, not what it says: Latin, Korean and Chinese sentences alike.
"""

from __future__ import annotations

from collections.abc import Iterable

_RULES = r"""
answer ::= sentence (gap later)*
sentence ::= first piece+ mark-end
later ::= (next | code | short " ") piece+ mark-end
mark-end ::= marks stop? | stop close? marks
gap ::= " " | "\n" | "\n\n" | ""
marks ::= " "? marker (" "? marker)*
marker ::= "[#" number "]"
first ::= next | [a-z] | code | short " "
next ::= [^a-z \t\r\n`<.!?…。！？．\[\]]
piece ::= [^\r\n`<.!?…。！？．\[\]] | code | inner
inner ::= [.!?…] [^ \t\r\n`<.!?…。！？．\[\]] | "<" [^\r\n`<.!?…。！？．\[\]] | [ .] [A-Z] "." " " | short " " | "..."
short ::= "Mr." | "Mrs." | "Ms." | "Dr." | "Prof." | "St." | "No." | "vs." | abbreviation
abbreviation ::= "e.g." | "i.e." | "etc." | "approx." | "ca."
stop ::= [.!?…。！？．] | "..."
close ::= ["'”’」』）)]
code ::= "`" [^`\r\n\[\]]+ "`"
"""


def answer_grammar(numbers: Iterable[int], insufficient: str) -> str:
    """Return the grammar for evidence `numbers` (at least one) and the refusal sentence `insufficient`."""
    choices = " | ".join(_literal(str(number)) for number in sorted(set(numbers)))
    root = f"root ::= answer | {_literal(insufficient)}"
    return f"{root}{_RULES}number ::= {choices}\n"


def _literal(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
