"""`make pin` names images by the digests that a registry gave them, or writes nothing."""

import yaml

from images import pin
from images.build import BUDGETS

DIGEST = "sha256:" + "ab" * 32


def test_each_image_is_named_by_its_digest_under_the_registry():
    found = yaml.safe_load(pin.written("registry.example/verity/", dict.fromkeys(BUDGETS, DIGEST)))
    assert found["images"] == [
        {
            "name": f"verity-{name}",
            "newName": f"registry.example/verity/verity-{name}",
            "digest": DIGEST,
        }
        for name in sorted(BUDGETS)
    ]


def test_images_that_were_never_pushed_are_named_and_nothing_is_written(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(pin, "digest", lambda image: "")
    monkeypatch.setattr("sys.argv", ["pin", "--prefix", "registry.example/"])
    assert pin.main(tmp_path / "file") == 1
    assert "retrieval" in capsys.readouterr().err
    assert not (tmp_path / "file").exists()
