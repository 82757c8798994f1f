"""Invariant 29: what is removed lies in the data folder, whatever a name says."""

from __future__ import annotations

from pathlib import Path

import pytest

from kb.adapters.files.removal import ContainedRemover
from kb.domain.failures import StorageFailed

ID = "0123456789abcdef" * 2


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("asset", f"assets/../../{ID}"),
        ("asset", f"/assets/01/{ID}"),
        ("asset", f"assets/01/{ID}\n"),
        ("asset", f"assets/01/{ID}\x00"),
        ("asset", f"file:///assets/01/{ID}"),
        ("asset", f"assets\\01\\{ID}"),
        ("artifacts", ".."),
        ("artifacts", f"../{ID}"),
        ("projection", "generations/../assets"),
        ("projection", "kb.sqlite"),
        ("projection", ""),
        ("everything", "tantivy"),
    ],
)
def test_a_name_that_is_not_ours_is_refused(tmp_path: Path, kind: str, name: str) -> None:
    with pytest.raises(StorageFailed, match="not the name"):
        ContainedRemover(tmp_path).remove(kind, name)


@pytest.mark.parametrize(
    ("kind", "name", "linked"),
    [("asset", f"assets/01/{ID}", "assets/01"), ("artifacts", ID, "artifacts"), ("projection", "tantivy", "tantivy")],
)
def test_a_link_that_leads_elsewhere_is_not_followed(tmp_path: Path, kind: str, name: str, linked: str) -> None:
    data, outside = tmp_path / "data", tmp_path / "outside"
    (outside / ID).mkdir(parents=True)
    (outside / ID / "precious").write_text("x")
    link = data / linked
    link.parent.mkdir(parents=True)
    link.symlink_to(outside, target_is_directory=True)
    with pytest.raises(StorageFailed, match="a link leads"):
        ContainedRemover(data).remove(kind, name)
    assert (outside / ID / "precious").exists()


def test_copies_artifacts_and_projections_go_and_what_is_gone_is_gone(tmp_path: Path) -> None:
    for name in (f"assets/01/{ID}", f"artifacts/{ID}/ocr", "generations/2/tantivy/meta.json"):
        file = tmp_path / name
        file.parent.mkdir(parents=True)
        file.write_text("x")
    remover = ContainedRemover(tmp_path)
    for _ in range(2):
        remover.remove("asset", f"assets/01/{ID}")
        remover.remove("artifacts", ID)
        remover.remove("projection", "generations/2")
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
