"""The verity command in a cluster: what it is told, what it may reach, and its nightly backup."""

import os
import subprocess

import pytest

from tests.manifests.rendered import (
    Combination,
    container,
    named,
    render,
    services,
    settings,
    template,
)

WITH = Combination("production", ("operations",))
# What stands in for the command: a backup, or half of one.
MAKES = 'mkdir "$2" && touch "$2/manifest.json"'
FAILS = 'mkdir "$2" && exit 1'


@pytest.fixture
def documents():
    return render(WITH)


@pytest.fixture
def night(documents, tmp_path):
    """Runs what the nightly job runs, with another `verity`; what it leaves behind, by name."""
    backups, programs = tmp_path / "backups", tmp_path / "bin"
    backups.mkdir()
    programs.mkdir()

    def run(verity: str, now: str, keep: int = 2) -> list[str]:
        for name, text in (("verity", verity), ("date", f"echo {now}")):
            (programs / name).write_text(f"#!/bin/sh\n{text}\n")
            (programs / name).chmod(0o755)
        one = container(named(documents, "CronJob", "verity-backup"))
        (script,) = one["args"]
        path = f"{programs}:{os.environ['PATH']}"
        environment = {"PATH": path, "KEEP": str(keep)}
        command = [*one["command"], script.replace("/backups", str(backups))]
        subprocess.run(command, env=environment, check=False, capture_output=True)
        return sorted(path.name for path in backups.iterdir())

    return run


def test_a_backup_is_kept_under_its_moment_and_the_newest_are_kept(night):
    assert night(MAKES, "2026-01-01T031700Z") == ["2026-01-01T031700Z"]
    night(MAKES, "2026-01-02T031700Z")
    assert night(MAKES, "2026-01-03T031700Z") == ["2026-01-02T031700Z", "2026-01-03T031700Z"]


def test_one_that_breaks_off_takes_no_place_and_is_not_in_the_way_of_the_next(night):
    night(MAKES, "2026-01-01T031700Z", keep=1)
    assert night(FAILS, "2026-01-02T031700Z") == ["2026-01-01T031700Z", "unfinished"]
    assert night(MAKES, "2026-01-03T031700Z", keep=1) == ["2026-01-03T031700Z"]


@pytest.mark.parametrize("name", ["verity-backup", "verity-cli"])
def test_it_is_told_what_the_services_are_told_and_sees_their_stores(documents, name):
    job = named(documents, "CronJob", name)
    told = settings(documents, job)
    for service in ("retrieval", "orchestrator"):
        own = settings(documents, services(documents)[service])
        differing = {key for key, value in own.items() if told[key] != value}
        assert differing <= {"VERITY_GRACE_SECONDS"}, service
    volumes = {one["name"]: one for one in template(job)["spec"]["volumes"]}
    retrieval = template(services(documents)["retrieval"])["spec"]["volumes"]
    assert volumes["originals"] in retrieval
    mounted = {one["mountPath"] for one in container(job)["volumeMounts"]}
    assert {told["VERITY_ORIGINALS_URL"], told["VERITY_SECRETS_DIR"]} <= mounted


def test_the_pod_to_work_in_never_starts_by_itself_and_ends(documents):
    spec = named(documents, "CronJob", "verity-cli")["spec"]
    assert spec["suspend"] is True
    assert container(named(documents, "CronJob", "verity-cli"))["command"][0] == "sleep"


def test_its_image_is_found_where_the_others_are():
    digests = "../overlays/production/digests"
    documents = render(Combination("production", ("operations", digests)))
    image = container(named(documents, "CronJob", "verity-backup"))["image"]
    other = container(services(documents)["gateway"])["image"]
    assert image == other.replace("gateway", "cli")


def test_with_certificates_it_shows_one():
    documents = render(Combination("production", ("operations", "mtls")))
    job = named(documents, "CronJob", "verity-cli")
    volumes = {one["name"]: one for one in template(job)["spec"]["volumes"]}
    certificate = named(documents, "Certificate", "verity-cli")["spec"]
    assert volumes["tls"]["secret"]["secretName"] == certificate["secretName"]


def test_the_command_is_told_where_the_services_are_that_it_speaks_to(documents):
    told = {
        one["name"]: one["value"]
        for one in container(named(documents, "CronJob", "verity-cli"))["env"]
    }
    targets = settings(documents, services(documents)["gateway"])
    assert told == {
        "VERITY_ADDRESS": targets["VERITY_ORCHESTRATOR_TARGET"],
        "VERITY_RETRIEVAL_ADDRESS": targets["VERITY_RETRIEVAL_TARGET"],
        "VERITY_VERIFICATION_ADDRESS": targets["VERITY_VERIFICATION_TARGET"],
    }
