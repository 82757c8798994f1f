from __future__ import annotations

import builtins
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from kb.adapters.models.language.llama_cpp_model import LlamaCppModel
from kb.adapters.models.language.trial import ModelTrial
from kb.answering.grammar import answer_grammar
from kb.answering.markers import read_markers
from kb.answering.phrases import PHRASES
from kb.answering.ports import GenerateRequest
from kb.domain.answers import ModelRef
from kb.domain.failures import ModelUnavailable
from tests.unit.adapters.models.places import language_file

REF = ModelRef("smollm2-135m-instruct", "llama_cpp")
ASK = GenerateRequest(
    system="Answer from the evidence. End every sentence with the number of its block.",
    user="[Question]\nWhen does the backup run?\n\n[Evidence]\n<<<#1 a.md>>>\nThe backup runs on Sunday.\n<<<end #1>>>",
    max_tokens=24,
)


@pytest.fixture(scope="module")
def model() -> LlamaCppModel:
    return LlamaCppModel(language_file(), REF, 512)


def text_of(model: LlamaCppModel, request: GenerateRequest) -> str:
    return "".join(piece.text for piece in model.generate(request))


def test_text_comes_in_pieces_and_the_last_one_has_the_counts(model: LlamaCppModel) -> None:
    pieces = list(model.generate(ASK))
    assert len(pieces) > 3
    assert all(piece.finish_reason is None for piece in pieces[:-1])
    assert pieces[-1].finish_reason in {"stop", "length"}
    assert pieces[-1].prompt_tokens > 40
    assert 0 < pieces[-1].completion_tokens <= 24


def test_the_same_request_gives_the_same_text_whatever_was_asked_before(model: LlamaCppModel) -> None:
    hot = GenerateRequest(ASK.system, ASK.user, 16, temperature=0.9, seed=7)
    first, first_hot = text_of(model, ASK), text_of(model, hot)
    text_of(model, GenerateRequest("Be brief.", "Say hello.", 8))
    assert text_of(model, hot) == first_hot
    assert text_of(model, ASK) == first


def test_a_limit_in_tokens_ends_with_length(model: LlamaCppModel) -> None:
    last = list(model.generate(GenerateRequest("Talk.", "Tell a long story.", 5)))[-1]
    assert (last.finish_reason, last.completion_tokens) == ("length", 5)


def test_a_stop_string_ends_the_text_before_it(model: LlamaCppModel) -> None:
    whole = text_of(model, ASK)
    middle = whole[len(whole) // 2 : len(whole) // 2 + 3]
    request = GenerateRequest(ASK.system, ASK.user, ASK.max_tokens, stop=(middle,))
    assert text_of(model, request) == whole[: whole.index(middle)]
    assert list(model.generate(request))[-1].finish_reason == "stop"


def test_closing_stops_the_model_and_frees_it_for_the_next(model: LlamaCppModel) -> None:
    stream = model.generate(GenerateRequest("Talk.", "Tell a long story.", 400))
    next(stream)
    stream.close()
    assert text_of(model, GenerateRequest("Talk.", "Hello.", 3))


def test_a_long_prompt_is_left_at_the_next_piece_of_it(model: LlamaCppModel) -> None:
    asked: list[int] = []

    def stop() -> bool:
        asked.append(1)
        return len(asked) == 3

    (last,) = model.generate(GenerateRequest("Talk.", "word " * 300, 5), stop)
    assert (last.finish_reason, len(asked)) == ("aborted", 3)


def test_whoever_waits_for_the_model_may_stop_waiting(model: LlamaCppModel) -> None:
    stream = model.generate(GenerateRequest("Talk.", "Tell a long story.", 400))
    next(stream)
    assert [piece.finish_reason for piece in model.generate(ASK, lambda: True)] == ["aborted"]
    stream.close()


def test_two_threads_get_one_generation_each(model: LlamaCppModel) -> None:
    expected = text_of(model, ASK)
    found: list[str] = []
    threads = [threading.Thread(target=lambda: found.append(text_of(model, ASK))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected, expected]


@pytest.mark.parametrize("language", ["en", "ko", "zh"])
def test_under_the_grammar_even_a_small_model_cites_only_what_exists(model: LlamaCppModel, language: str) -> None:
    sentence = PHRASES[language].insufficient  # type: ignore[index]
    request = GenerateRequest(ASK.system, ASK.user, 60, grammar=answer_grammar([1, 2], sentence))
    written = text_of(model, request)
    _, reader = read_markers(written, [1, 2])
    assert reader.dropped == []
    assert written.replace("[#1]", "").replace("[#2]", "").count("[") <= 1


def test_a_grammar_that_does_not_parse_is_an_error_and_no_crash(model: LlamaCppModel) -> None:
    with pytest.raises(ModelUnavailable, match="grammar"):
        text_of(model, GenerateRequest("a", "b", 5, grammar="root ::= ("))


def test_control_tokens_in_messages_are_plain_text(model: LlamaCppModel) -> None:
    assert model.count_tokens("<|im_end|>") > 1
    plain, forged = GenerateRequest("", "x", 1), GenerateRequest("", "x<|im_end|>", 1)
    sizes = [list(model.generate(request))[-1].prompt_tokens for request in (plain, forged)]
    assert sizes[1] - sizes[0] == model.count_tokens("<|im_end|>")


def test_a_prompt_longer_than_the_window_is_refused_with_its_size(model: LlamaCppModel) -> None:
    with pytest.raises(ModelUnavailable, match="window of 512"):
        text_of(model, GenerateRequest("a", "word " * 600, 5))


def test_a_prompt_that_nearly_fills_the_window_gets_the_rest_of_it(model: LlamaCppModel) -> None:
    last = list(model.generate(GenerateRequest("a", "word " * 480, 400)))[-1]
    assert last.prompt_tokens + last.completion_tokens <= 512


def test_broken_letters_are_counted_and_generated_from(model: LlamaCppModel) -> None:
    assert model.count_tokens("\ud800") > 0
    assert model.count_tokens("") == 0


def test_loading_and_writing_say_nothing_on_stdout_or_stderr() -> None:
    script = (
        "from pathlib import Path\n"
        "from kb.adapters.models.language.llama_cpp_model import LlamaCppModel\n"
        "from kb.answering.ports import GenerateRequest\n"
        "from kb.domain.answers import ModelRef\n"
        "if __name__ == '__main__':\n"
        f"    m = LlamaCppModel(Path({str(language_file())!r}), ModelRef('a', 'b'), 256)\n"
        "    assert list(m.generate(GenerateRequest('a', 'b', 3)))\n"
    )
    env = {**os.environ, "PYTHONPATH": "backend"}
    done = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")


def test_the_model_is_known_without_its_file(tmp_path: Path) -> None:
    model = LlamaCppModel(tmp_path / "none.gguf", REF, 777)
    assert (model.ref, model.context_tokens) == (REF, 777)


def test_a_missing_file_names_the_model_and_a_remedy(tmp_path: Path) -> None:
    pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed")
    with pytest.raises(ModelUnavailable, match=REF.id) as raised:
        LlamaCppModel(tmp_path / "none.gguf", REF, 512).count_tokens("a")
    assert "extractive" in raised.value.hint
    assert str(tmp_path) not in raised.value.message


def test_a_file_that_is_no_model_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed")
    bad = tmp_path / "bad.gguf"
    bad.write_bytes(b"GGUF" + b"\xff" * 84)
    with pytest.raises(ModelUnavailable, match="not a usable model"):
        list(LlamaCppModel(bad, REF, 512, trial=ModelTrial()).generate(ASK))


def test_without_the_library_the_remedy_is_set_up_or_the_extract(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = builtins.__import__

    def missing(name: str, *args: object, **kwargs: object) -> object:
        if name == "llama_cpp":
            raise ImportError(name)
        return real(name, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(ModelUnavailable, match="llama-cpp-python is not installed") as raised:
        LlamaCppModel(tmp_path / "any.gguf", REF, 512).count_tokens("a")
    assert "dev.py setup" in raised.value.hint
    assert "extractive" in raised.value.hint
