"""All groups of the facade together."""

from __future__ import annotations

from dataclasses import dataclass

from kb.app.facade.answers import Answers
from kb.app.facade.backup import Backup
from kb.app.facade.chunking import ChunkingGroup
from kb.app.facade.chunks import Chunks
from kb.app.facade.collections import Collections
from kb.app.facade.connections import ConnectionsGroup
from kb.app.facade.evaluation import Evaluation
from kb.app.facade.events import Events
from kb.app.facade.generations import GenerationsGroup
from kb.app.facade.graph import Graph
from kb.app.facade.index import Index
from kb.app.facade.jobs import Jobs
from kb.app.facade.library import Library
from kb.app.facade.search import Search
from kb.app.facade.system import System
from kb.app.facade.versions import Versions
from kb.app.facade.viewer import Viewer


@dataclass(frozen=True, slots=True)
class KebabFacade:
    """What every page, command and shell sees, and nothing else."""

    library: Library
    versions: Versions
    search: Search
    collections: Collections
    answers: Answers
    chunks: Chunks
    chunking: ChunkingGroup
    viewer: Viewer
    jobs: Jobs
    index: Index
    generations: GenerationsGroup
    connections: ConnectionsGroup
    graph: Graph
    evaluation: Evaluation
    backup: Backup
    system: System
    events: Events
