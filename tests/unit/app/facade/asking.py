"""What to ask each method of a library that has something of everything."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from typing import Any

from kb.contract.answers import AskRequest
from kb.contract.facade import Facade, contract_groups, methods_of
from kb.contract.ingest import IngestRequest
from kb.contract.jobs import JobRequest
from kb.contract.search import FindRequest

METHODS = {f"{method.group}/{method.name}": method for method in methods_of(contract_groups())}


def requests(facade: Facade) -> dict[str, dict[str, Any]]:
    """Fill the library, and say with what to ask each method."""
    ids = {}
    for name, job in (
        ("ingest", facade.library.ingest(IngestRequest())),
        ("rebuild", facade.index.rebuild(request("index/rebuild", {}))),
        ("compact", facade.index.compact(request("index/compact", {}))),
    ):
        while facade.jobs.get(JobRequest(job_id=job.id)).status in {"pending", "running"}:
            threading.Event().wait(0.02)
        ids[name] = job.id
    backup = _backups(facade)
    rebuilt = over(facade, facade.chunking.rebuild(request("chunking/rebuild", {"docs": ["ops/backup.md"]})))
    ops = {"name": "Ops", "rules": [{"kind": "folder", "value": "ops"}], "retrieval": {"top_k": 3}}
    facade.collections.create(request("collections/create", ops))
    chunk = facade.search.find(FindRequest(query="backup Sunday", mode="lexical")).results[0].chunk_id
    answer = facade.answers.ask(AskRequest(question="When does the backup run?", mode="lexical"))
    return {
        "answers/ask": {"question": "When does the backup run?", "mode": "lexical"},
        "answers/get": {"trace_id": answer.retrieval.trace_id},
        "answers/stop": {"trace_id": "ret_1"},
        **backup,
        "chunking/get": {"doc": "ops/backup.md"},
        "chunking/preview": {"doc": "ops/backup.md", "settings": {"mode": "fixed"}},
        "chunking/rebuilt": {"job_id": rebuilt},
        "chunking/set": {"doc": "ops/backup.md", "settings": {"mode": "parent-child"}},
        "chunks/delete": {"chunk_id": _chunk(facade, "bad.md")},
        "chunks/edit": {"chunk_id": _chunk(facade, "twice.md"), "text": "Once, twice: password = 'hunter2-Gx81kQ'"},
        "chunks/enable": {"chunk_id": _chunk(facade, "twice.md"), "enabled": False},
        "chunks/inspect": {"chunk_id": chunk},
        "chunks/list": {"doc": "ops/backup.md"},
        "collections/items": {"collection": "Ops"},
        "collections/of": {"doc": "ops/backup.md"},
        "connections/test": {"role": "rerank"},
        "evaluation/compare": {"a": "latest", "b": "latest"},
        "evaluation/gate": {"baseline": "latest"},
        "evaluation/get": {"run_id": "latest"},
        "evaluation/report": {"job_id": _evaluated(facade, answer.retrieval.trace_id)},
        "index/compacted": {"job_id": ids["compact"]},
        "graph/links": {"doc": "twice.md"},
        "graph/rebuilt": {"job_id": over(facade, facade.graph.rebuild(request("graph/rebuild", {})))},
        "generations/built": {"job_id": over(facade, facade.generations.build(request("generations/build", {})))},
        "index/report": {"job_id": ids["rebuild"]},
        "jobs/cancel": {"job_id": ids["ingest"]},
        "jobs/get": {"job_id": ids["ingest"]},
        "jobs/pause": {"job_id": ids["ingest"]},
        "jobs/resume": {"job_id": ids["ingest"]},
        "versions/diff": {"doc": "twice.md"},
        "versions/put_back": {"doc": "zh/猫.txt"},
        "versions/remove": {"doc": "code/run.py"},
        "versions/history": {"doc": "twice.md"},
        **_looks(chunk, ids["ingest"]),
    }


def _looks(chunk: str, ingest: str) -> dict[str, dict[str, Any]]:
    """Say with what to ask for what is only looked at."""
    return {
        "library/coverage": {"doc_path": "ops/backup.md"},
        "library/item": {"doc": "bad.md"},
        "library/masked": {"doc": "bad.md"},
        "library/report": {"job_id": ingest},
        "library/show": {"doc": "ops/백업 #1 100%.md"},
        "search/find": {"query": "백업", "mode": "lexical", "graph_weight": 0.5, "filters": {"lang": "ko"}},
        "search/names": {"query": "bakcup"},
        "search/parse": {"query": 'sunday "at three" -draft tag:'},
        "search/why": {"query": "sunday", "mode": "lexical", "expected": "ops/backup.md"},
        "viewer/context": {"chunk_id": chunk},
        "viewer/open": {"citation": "ops/backup.md#L5", "quote": "runs on  Sunday"},
    }


def _chunk(facade: Facade, doc: str) -> str:
    return facade.chunks.list(request("chunks/list", {"doc": doc})).chunks[0].chunk_id


def _evaluated(facade: Facade, trace_id: str) -> str:
    """Run a suite of one question that was answered and one that was not to be."""
    facade.evaluation.add(request("evaluation/add", {"suite": "golden", "trace_id": trace_id, "tags": ["en"]}))
    refused = {"suite": "golden", "query": "Who is the king of France?", "refuse": True}
    facade.evaluation.add(request("evaluation/add", refused))
    asked = {"suite": "golden", "mode": "lexical", "answers": True}
    return over(facade, facade.evaluation.run(request("evaluation/run", asked)))


def _backups(facade: Facade) -> dict[str, dict[str, Any]]:
    """Write a backup and merge it where everything is the same; say with what to ask for both."""
    made = over(facade, facade.backup.create(request("backup/create", {"file": None})))
    (file,) = (backup.file for backup in facade.backup.list(request("backup/list", {})).backups)
    merged = over(facade, facade.backup.merge(request("backup/merge", {"file": file})))
    return {
        "backup/merged": {"job_id": merged},
        "backup/report": {"job_id": made},
        "backup/verify": {"file": file},
    }


def over(facade: Facade, job: Any) -> str:
    while job.finished_at is None:
        threading.Event().wait(0.02)
        job = facade.jobs.get(JobRequest(job_id=job.id))
    assert job.status == "succeeded", job.error
    return str(job.id)


def request(name: str, fields: Mapping[str, Any]) -> Any:
    return METHODS[name].request.model_validate_json(json.dumps(fields))
