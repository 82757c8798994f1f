"""A cross-encoder of a few numbers, made on the spot: it counts the words that question and passage share."""

from __future__ import annotations

import json
from pathlib import Path

WORDS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "sea", "salt", "bread", "oven", "the", "is", "in")


def make_model(folder: Path, *, logits: int = 1, window: int = 512, is_nan: bool = False) -> Path:
    """Write model.onnx, tokenizer.json and config.json; return the folder."""
    import numpy as np
    from onnx import TensorProto, helper, numpy_helper, save
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace
    from tokenizers.processors import TemplateProcessing

    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = Tokenizer(WordLevel({word: number for number, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    config = {"model_type": "bert", "max_position_embeddings": window}
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    # For each word its one-hot row; a passage's rows summed, times a question's rows summed: shared words, counted.
    table = np.eye(len(WORDS), dtype=np.float32)
    table[:4] = np.nan if is_nan else 0
    spread = np.array([[1.0]] if logits == 1 else [[0.0, 1.0]] if logits == 2 else [[1.0] * logits], dtype=np.float32)
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["rows"]),
        helper.make_node("Cast", ["token_type_ids"], ["second"], to=TensorProto.FLOAT),
        helper.make_node("Sub", ["one", "second"], ["first"]),
        helper.make_node("MatMul", ["first", "rows3"], ["asked"]),
        helper.make_node("MatMul", ["second", "rows3"], ["said"]),
        helper.make_node("Squeeze", ["rows", "zero"], ["rows3"]),
        helper.make_node("Mul", ["asked", "said"], ["shared"]),
        helper.make_node("ReduceSum", ["shared", "last"], ["count"], keepdims=1),
        helper.make_node("Sub", ["count", "one"], ["centred"]),
        helper.make_node("MatMul", ["centred", "spread"], ["logits"]),
    ]
    nodes.insert(3, nodes.pop(5))
    shape = [1, "length"]
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, shape) for name in ("input_ids", "token_type_ids")]
    output = helper.make_tensor_value_info("logits", TensorProto.FLOAT, [1, logits])
    constants = {
        "table": table,
        "spread": spread,
        "one": np.array([[1.0]], dtype=np.float32),
        "zero": np.array([0], dtype=np.int64),
        "last": np.array([1], dtype=np.int64),
    }
    initializers = [numpy_helper.from_array(value, name) for name, value in constants.items()]
    graph = helper.make_graph(nodes, "tiny", inputs, [output], initializers)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)
    save(made, str(folder / "model.onnx"))
    return folder
