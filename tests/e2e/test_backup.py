"""A system is backed up while it serves, is lost, is put back, and says the same as before."""

import json
import shutil
import subprocess
import sys

from tests.e2e.conftest import ROOT, running, surroundings

QUESTION = "How long are records kept?"
POLICY = "Records retention\n\nRecords are kept for seven years after the account is closed.\n"


def command(receiver, *arguments):
    done = subprocess.run(
        [sys.executable, "-m", "cli", *map(str, arguments), "--json"],
        cwd=ROOT,
        env=surroundings(receiver),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return done.returncode, json.loads(done.stdout)


def test_a_lost_system_is_put_back_with_its_documents_and_its_answers(tmp_path, receiver):
    data, kept, policy = tmp_path / "data", tmp_path / "backup", tmp_path / "policy.txt"
    policy.write_text(POLICY)
    with running(data, receiver) as system:
        assert system.run("ingest", str(policy))[0] == 0
        code, before = system.run("ask", QUESTION, "--conversation", "c1")
        assert code == 0
        assert "seven years" in before["answer"]
        code, made = system.run("backup", str(kept))
        assert (code, made["engine"]) == (0, "embedded"), made
        # Of a system that runs nothing is replaced.
        code, refused = system.run("restore", str(kept), "--replace")
        assert code == 1
        assert "already running" in refused["error"]["message"]
        assert system.run("ask", QUESTION)[0] == 0
    code, refused = command(receiver, "restore", kept, "--data-dir", data)
    assert "already holds documents" in refused["error"]["message"]
    shutil.rmtree(data)
    code, restored = command(receiver, "restore", kept, "--data-dir", data)
    assert code == 0, restored
    with running(data, receiver) as system:
        code, answer = system.run("answers", "show", before["answer_id"])
        assert code == 0, answer
        assert (answer["answer"], answer["statements"]) == (before["answer"], before["statements"])
        _, again = system.run("ask", QUESTION)
        assert again["answer"] == before["answer"]
        assert again["statements"] == before["statements"]
