"""The settings model: every key of `config.toml`, its default and its range."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from kb.domain.limits import ReadingLimits

Weight = Annotated[float, Field(ge=0, le=2)]


class Section(BaseModel):
    """A table of the configuration file."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=False)


class WorkspaceSettings(Section):
    """Which folder is read, and which of its files."""

    root: str = Field("~/KnowledgeBase", min_length=1, description="The folder of originals; never modified.")
    include: tuple[str, ...] = Field(
        ("**/*",), description="Globs of files to read; every supported type among them is."
    )
    exclude: tuple[str, ...] = Field(
        (".git/**", "node_modules/**", ".obsidian/**"),
        description="Globs that are never read; `.kbignore` adds to them.",
    )


class StorageSettings(Section):
    """Where the library lives."""

    data_dir: str = Field("{data_dir}", min_length=1, description="Library, indexes, copies of originals.")
    copy_threshold_mb: int = Field(100, ge=0, le=100_000, description="Larger originals are referenced, not copied.")
    copy_originals: bool = Field(
        default=True, description="Keep content-addressed copies, so that old answers still open."
    )
    min_free_mb: int = Field(
        100, ge=0, le=1_000_000, description="With less free space on its disk the library begins no work that writes."
    )
    kept_versions: int = Field(3, ge=0, le=100, description="Earlier versions kept of a document, beside cited ones.")
    keep_deleted_days: int = Field(
        30, ge=0, le=36_500, description="What was read of a file that is gone is kept so long, should it come back."
    )


class IndexingSettings(Section):
    """How files become searchable."""

    max_parallel_embeddings: int = Field(0, ge=0, le=64, description="Embedding threads; 0 means one per core.")
    max_parallel_files: int = Field(
        0, ge=0, le=64, description="Processes that read files other than plain text; 0 means one per core."
    )
    max_file_mb: int = Field(256, ge=1, le=4096, description="Larger files are not read.")
    max_recording_mb: int = Field(
        8192, ge=1, le=1_000_000, description="Larger sound and video files are not read; they stay on the disk."
    )
    watch_filesystem: bool = Field(
        default=True, description="`kb serve` follows the workspace; other commands read when told to."
    )
    reconcile_minutes: int = Field(
        10, ge=1, le=1440, description="So often everything is compared all the same, since systems lose events."
    )
    pause_on_battery: bool = Field(
        default=False, description="On battery long work rests; a few files that were saved are read all the same."
    )


class LimitsSettings(Section):
    """What reading one file, plain text aside, may take; beyond a limit it fails as a whole, with the word given."""

    seconds: float = Field(
        120, ge=1, le=86_400, description="Without a page, message or second of sound done: `too_slow`."
    )
    total_seconds: float = Field(14_400, ge=1, le=864_000, description="For the whole file: `too_slow`.")
    memory_mb: int = Field(
        1536, ge=128, le=1_048_576, description="Memory of the process that reads it: `too_much_memory`."
    )
    pages: int = Field(20_000, ge=1, le=10_000_000, description="Of a document: `too_many_pages`.")
    pixels: int = Field(
        120_000_000, ge=1_000, le=10_000_000_000, description="Of a picture or a page as a picture: `too_many_pixels`."
    )
    frames: int = Field(500, ge=1, le=1_000_000, description="Pictures in one picture file: `too_many_pages`.")
    sound_seconds: int = Field(43_200, ge=1, le=10_000_000, description="Of a recording: `too_long`.")
    entries: int = Field(
        10_000, ge=1, le=10_000_000, description="Files in an archive, messages in a mailbox: `too_many_entries`."
    )
    expanded_mb: int = Field(256, ge=1, le=1_048_576, description="Of all that a file unpacks to: `expands_too_much`.")
    expansion_ratio: int = Field(
        100,
        ge=2,
        le=1_000_000,
        description="Unpacked bytes for each packed one, from a megabyte on: `expands_too_much`.",
    )
    depth: int = Field(3, ge=0, le=32, description="Archives in archives, mails in mails: `nested_too_deep`.")
    cells: int = Field(2_000_000, ge=1, le=1_000_000_000, description="Of all tables of a document: `too_complex`.")
    characters: int = Field(200_000_000, ge=1_000, le=10_000_000_000, description="Of text of a document: `too_big`.")

    def for_reading(self) -> ReadingLimits:
        """Return them as parsers take them."""
        return ReadingLimits(**self.model_dump())


class ChunkingSettings(Section):
    """How documents are cut into passages, in characters."""

    mode: Literal["fixed", "structure", "parent-child"] = Field(
        "structure", description="`parent-child` finds small passages and gives a model the large ones around them."
    )
    target_characters: int = Field(1600, ge=400, le=8000, description="The wished length.")
    overlap_characters: int = Field(
        160, ge=0, description="Repeated between parts of one block; at most 40 % of the target."
    )
    parent_characters: int = Field(4800, ge=1600, le=16_000, description="Of `parent-child`: what a model is given.")
    child_characters: int = Field(900, ge=300, le=4000, description="Of `parent-child`: what is found.")

    @model_validator(mode="after")
    def _overlap_is_at_most_40_percent(self) -> ChunkingSettings:
        limit = self.target_characters * 2 // 5
        if self.overlap_characters > limit:
            message = f"overlap_characters is at most 40 % of target_characters ({limit})"
            raise ValueError(message)
        if self.child_characters >= self.parent_characters:
            message = f"child_characters is less than parent_characters ({self.parent_characters})"
            raise ValueError(message)
        return self


class EmbeddingSettings(Section):
    """Which model makes vectors."""

    provider: Literal["fastembed", "openai_compatible", "none"] = Field(
        "fastembed",
        description="`openai_compatible` sends every passage and question to `base_url`; `none` makes no vectors.",
    )
    model: str = Field("multilingual-e5-small", description="Folder of the model, or its name on the server.")
    base_url: str = Field("", description="Of the server, such as `http://127.0.0.1:11434/v1`.")
    key_name: str = Field("", description="Name of the server's key in the system's key store; `embedding` if empty.")
    query_prefix: str = Field("", description="Put before every question that goes to the server.")
    passage_prefix: str = Field("", description="Put before every passage that goes to the server.")
    max_tokens: int = Field(512, ge=64, le=1_048_576, description="Window of the model on the server.")
    timeout_seconds: float = Field(30, ge=1, le=600, description="For one request to the server.")
    allow_plain_http: bool = Field(
        default=False, description="Unencrypted to other computers, too; to this one it always may be."
    )


class LanguageModelSettings(Section):
    """Which model writes answers."""

    provider: Literal["extractive", "llama_cpp"] = Field(
        "extractive", description="`extractive` quotes the evidence; `llama_cpp` runs a GGUF file."
    )
    model: str = Field("", description="Folder or GGUF file of the model.")
    context_tokens: int = Field(4096, ge=256, le=1_048_576, description="The model's window.")
    max_answer_tokens: int = Field(384, ge=16, le=8192, description="Longest answer.")
    temperature: float = Field(0.0, ge=0, le=2, description="0 always takes the likeliest token.")
    seed: int = Field(0, ge=0, le=2**32 - 1, description="Makes answers repeatable.")
    threads: int = Field(0, ge=0, le=256, description="0 means all cores but one.")


class CaptionSettings(Section):
    """Which model describes pictures; off unless you turn it on, since pictures are then sent to its server."""

    provider: Literal["none", "openai_compatible"] = Field(
        "none", description="`openai_compatible` sends every picture to `base_url`."
    )
    base_url: str = Field("", description="Such as `http://127.0.0.1:11434/v1`.")
    model: str = Field("", description="As the server calls it; shown with every caption.")
    key_variable: str = Field("", description="The environment variable that holds the server's key.")
    timeout_seconds: float = Field(120, ge=1, le=3600, description="For one picture.")


class RerankSettings(Section):
    """Which model orders candidates again; nothing is sent anywhere unless `endpoint` is chosen."""

    provider: Literal["none", "cross_encoder", "endpoint"] = Field(
        "none", description="`cross_encoder` runs an ONNX model here; `endpoint` sends passages to `base_url`."
    )
    model: str = Field("", description="Folder of the model, or its name on the server.")
    base_url: str = Field("", description="Cohere- or Jina-compatible, such as `https://api.jina.ai/v1`.")
    key_name: str = Field("", description="Name of the server's key in the system's key store; `rerank` if empty.")
    timeout_seconds: float = Field(15, ge=0.1, le=120, description="For one request to the server.")
    allow_plain_http: bool = Field(
        default=False, description="Unencrypted to other computers, too; to this one it always may be."
    )


class ModelsSettings(Section):
    """Models by role."""

    embedding: EmbeddingSettings = EmbeddingSettings()
    llm: LanguageModelSettings = LanguageModelSettings()
    caption: CaptionSettings = CaptionSettings()
    rerank: RerankSettings = RerankSettings()


class SearchSettings(Section):
    """How passages are found and ranked."""

    top_k: int = Field(6, ge=1, le=20, description="Hits of a search.")
    minimum_vector_similarity: float = Field(0.0, ge=0, le=1, description="0 filters nothing.")
    fts_weight: Weight = Field(1.0, description="Weight of the lexical and cjk channels.")
    vector_weight: Weight = Field(1.0, description="Weight of the vector channel.")
    graph_weight: Weight = Field(0.8, description="Weight of the graph channel, while `graph.enabled` is on.")
    candidate_multiplier: int = Field(4, ge=2, le=10, description="Candidates per hit and channel.")
    context_max_characters: int = Field(16_000, ge=2_000, le=48_000, description="Text given to a model.")
    adjacent_chunk_count: int = Field(
        0, ge=0, le=2, description="Neighbours in the context of a search's reply; answers quote hits alone."
    )
    hybrid_fusion: Literal["score", "rrf"] = Field("score", description="How channels are joined.")
    rrf_k: int = Field(60, ge=1, le=1000, description="The constant of reciprocal rank fusion.")
    rerank: Literal["off", "local", "model"] = Field(
        "off", description="`local` orders by features, `model` by `models.rerank`."
    )
    rerank_seconds: float = Field(1.5, ge=0.05, le=60, description="What ordering again may take.")
    typo_tolerance: bool = Field(default=True, description="A word the library lacks also finds those like it.")
    snippet_chars: int = Field(220, ge=40, le=2000, description="Length of a snippet.")
    vector_engine: Literal["auto", "chroma", "scan"] = Field("auto", description="How vectors are compared.")

    @model_validator(mode="after")
    def _one_channel_counts(self) -> SearchSettings:
        if self.fts_weight == 0 and self.vector_weight == 0:
            message = "fts_weight and vector_weight cannot both be 0"
            raise ValueError(message)
        return self


class GraphSettings(Section):
    """Links between documents as one more way to find passages."""

    enabled: bool = Field(default=False, description="Follow wiki links, Markdown links, tags and headings.")
    most_tag_items: int = Field(
        50, ge=2, le=10_000, description="A tag that more documents have joins none of them: it says too little."
    )


class RagSettings(Section):
    """How answers are made."""

    score_gate: float = Field(0.30, ge=0, le=1, description="Below this relevance nothing is answered.")
    explain_default: bool = Field(default=False, description="`kb ask` always explains, as with `--explain`.")


class Settings(Section):
    """All settings of one library."""

    schema_version: int = Field(1, description="Version of this file's keys.")
    workspace: WorkspaceSettings = WorkspaceSettings()
    storage: StorageSettings = StorageSettings()
    indexing: IndexingSettings = IndexingSettings()
    limits: LimitsSettings = LimitsSettings()
    chunking: ChunkingSettings = ChunkingSettings()
    models: ModelsSettings = ModelsSettings()
    search: SearchSettings = SearchSettings()
    graph: GraphSettings = GraphSettings()
    rag: RagSettings = RagSettings()
