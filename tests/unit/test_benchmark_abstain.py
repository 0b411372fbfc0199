"""The benchmark of abstention measures the drafter that answers."""

import json

from benchmarks import abstain


def rows(path, *questions):
    text = "The Delaware River begins in the Catskill Mountains of New York. It is long."
    given = [{"title": "Delaware River", "text": text}]
    lines = [
        json.dumps({"id": str(n), "input": q, "passages": given}) for n, q in enumerate(questions)
    ]
    path.write_text("\n".join(lines))


def test_what_is_answered_rightly_and_wrongly_is_told_apart(tmp_path):
    begin = "where does the delaware river begin"
    rows(tmp_path / "answerable_dev.jsonl", begin, begin)
    rows(tmp_path / "unanswerable_dev.jsonl", "who painted the ceiling of the chapel", "what is 7")
    found = abstain.measure(["--data", str(tmp_path)])
    assert found["questions"] == {"answerable": 2, "unanswerable": 2}
    assert (found["answered_of_answerable"], found["silent_of_unanswerable"]) == (1.0, 1.0)
    assert found["auroc"] == 1.0
    # No risk up to half of the questions, then a third and a half.
    assert found["aurc"] == round((0 + 0 + 1 / 3 + 1 / 2) / 4, 3)
    assert [half["auroc"] for half in found["halves"].values()] == [1.0, 1.0]
    assert [found["curve"][0]["coverage"], found["curve"][0]["risk"]] == [1.0, 0.5]
    assert len(found["curve"]) == abstain.STEPS + 1
