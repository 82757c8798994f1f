"""Reports of a run: Markdown and one page of HTML that needs nothing else, in light and dark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from string import Template

from kb.evaluation.outcomes import EvalRun, QueryOutcome

_SHOWN_HITS = 3
_STYLE = """
:root{color-scheme:light dark;--ink:#1d2433;--soft:#5b6578;--line:#dfe3ea;--paper:#fff;--card:#f6f7f9;--good:#1a7f4b;
--bad:#b3261e;--mark:#3557d6}
@media(prefers-color-scheme:dark){:root{--ink:#e7eaf0;--soft:#9aa4b5;--line:#333b49;--paper:#14181f;--card:#1c222c;
--good:#5fce94;--bad:#ff8a80;--mark:#93a9ff}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:64rem;padding:2.5rem 1.25rem 4rem;background:var(--paper);color:var(--ink);
line-height:1.55;font-family:system-ui,-apple-system,"Segoe UI","Noto Sans","Noto Sans CJK SC","PingFang SC",
"Microsoft YaHei",
"Noto Sans CJK KR","Apple SD Gothic Neo","Malgun Gothic","Noto Sans CJK JP","Hiragino Sans",sans-serif;font-size:16px}
h1{font-size:1.6rem;margin:0 0 .25rem}h2{font-size:1.15rem;margin:2.5rem 0 .75rem}
.soft{color:var(--soft)}
.figures{display:grid;grid-template-columns:repeat(auto-fill,minmax(9.5rem,1fr));gap:.75rem;margin:1.5rem 0}
.figure{background:var(--card);border:1px solid var(--line);border-radius:.6rem;padding:.7rem .9rem}
.figure b{display:block;font-size:1.35rem;font-variant-numeric:tabular-nums}
.figure span{color:var(--soft);font-size:.85rem}
.wide{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:.92rem}
th,td{padding:.45rem .6rem;border-bottom:1px solid var(--line);text-align:left;vertical-align:top}
th{color:var(--soft);font-weight:600}td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.good{color:var(--good)}.bad{color:var(--bad)}
.q{border:1px solid var(--line);border-radius:.6rem;padding:.8rem 1rem;margin:.75rem 0;background:var(--card)}
.q p{margin:.2rem 0}.q ol{margin:.4rem 0 0;padding-left:1.4rem;color:var(--soft);overflow-wrap:anywhere}
code{font-family:ui-monospace,Menlo,Consolas,monospace;font-size:.88em;overflow-wrap:anywhere}
"""
_PAGE = Template(
    '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
    '<meta name="viewport" content="width=device-width,initial-scale=1">\n'
    "<title>$title</title>\n<style>$style</style></head>\n<body>\n$body\n</body></html>\n"
)


def markdown_report(run: EvalRun, outcomes: Sequence[QueryOutcome]) -> str:
    """Return the report of a run as Markdown: figures, tags, what went wrong, what it was made with."""
    failed = [one for one in outcomes if one.failure()]
    lines = [f"# {_cell(run.suite)}", "", _sentence(run, outcomes, failed), "", "| figure | value |", "|---|---:|"]
    lines += [f"| {name} | {_number(name, value)} |" for name, value in run.metrics.items()]
    if run.tags:
        names = _names(run)
        lines += ["", "## By tag", "", f"| tag | {' | '.join(names)} |", f"|---|{'---:|' * len(names)}"]
        lines += [
            f"| {_cell(tag)} | {' | '.join(_number(name, figures.get(name)) for name in names)} |"
            for tag, figures in run.tags.items()
        ]
    lines += ["", "## What went wrong", ""]
    lines += [f"- `{_cell(one.query_id)}` {_cell(one.query)}: {_cell(one.failure())}" for one in failed] or ["Nothing."]
    lines += ["", "## Every question", "", "| id | question | rank | ms |", "|---|---|---:|---:|"]
    lines += [
        f"| {_cell(one.query_id)} | {_cell(one.query)} | {_rank(one)} | {one.milliseconds:.1f} |" for one in outcomes
    ]
    lines += ["", "## Made with", ""]
    lines += [f"- {key}: {_cell(_said(value))}" for key, value in run.config.items()]
    return "\n".join(lines) + "\n"


def html_report(run: EvalRun, outcomes: Sequence[QueryOutcome]) -> str:
    """Return the report of a run as a page."""
    failed = [one for one in outcomes if one.failure()]
    figures = "".join(
        f'<div class="figure"><b>{_number(name, value)}</b><span>{escape(name)}</span></div>'
        for name, value in run.metrics.items()
    )
    parts = [
        f"<h1>{escape(run.suite)}</h1>",
        f'<p class="soft">{escape(_sentence(run, outcomes, failed))}</p>',
        f'<div class="figures">{figures}</div>',
    ]
    if run.tags:
        names = _names(run)
        rows = [[tag, *(_number(name, one.get(name)) for name in names)] for tag, one in run.tags.items()]
        parts += ["<h2>By tag</h2>", _table(["tag", *names], rows)]
    parts.append("<h2>What went wrong</h2>")
    parts += [_failure(one) for one in failed] or ['<p class="good">Nothing.</p>']
    rows = [[one.query_id, one.query, _rank(one), f"{one.milliseconds:.1f}"] for one in outcomes]
    parts += ["<h2>Every question</h2>", _table(["id", "question", "rank", "ms"], rows, first_number=2)]
    made = [[key, _said(value)] for key, value in run.config.items()]
    parts += ["<h2>Made with</h2>", _table(["", ""], made, first_number=2)]
    return _PAGE.substitute(title=escape(run.suite), style=_STYLE, body="\n".join(parts))


def _failure(outcome: QueryOutcome) -> str:
    hits = "".join(
        f"<li><code>{escape(hit.uri)}</code> {hit.relevance:.2f}</li>" for hit in outcome.found[:_SHOWN_HITS]
    )
    return (
        f'<div class="q"><p><code>{escape(outcome.query_id)}</code> {escape(outcome.query)}</p>'
        f'<p class="bad">{escape(outcome.failure())}</p>' + (f"<ol>{hits}</ol>" if hits else "") + "</div>"
    )


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], first_number: int = 1) -> str:
    def cells(tag: str, row: Sequence[str]) -> str:
        kinds = [' class="n"' if place >= first_number else "" for place in range(len(row))]
        return "".join(f"<{tag}{kind}>{escape(cell)}</{tag}>" for kind, cell in zip(kinds, row, strict=True))

    header = f"<thead><tr>{cells('th', head)}</tr></thead>" if any(head) else ""
    body = "".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    return f'<div class="wide"><table>{header}<tbody>{body}</tbody></table></div>'


def _sentence(run: EvalRun, outcomes: Sequence[QueryOutcome], failed: Sequence[QueryOutcome]) -> str:
    finished = run.finished_at or run.created_at
    wrong = f"{len(failed)} went wrong" if failed else "none went wrong"
    return f"{len(outcomes)} questions, {wrong}. Run {run.run_id}, {finished:%Y-%m-%d %H:%M}."


def _names(run: EvalRun) -> list[str]:
    return [name for name in run.metrics if not name.startswith("latency_ms")]


def _rank(outcome: QueryOutcome) -> str:
    if outcome.should_refuse:
        return "refused" if outcome.refused else "not refused"
    return str(outcome.rank) if outcome.rank else "–"


def _number(name: str, value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.1f}" if name.startswith("latency_ms") else f"{value:.4f}"


def _said(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_said(entry)}" for key, entry in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_said, value))
    return "none" if value is None else str(value)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
