"""Which files are meant by what the user typed, and what is said of each."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from verity.v1 import retrieval_service_pb2 as pb

from cli import manifest
from cli.upload import File

# What is taken from a folder; a file that is named outright is sent whatever it is called. A table
# as .csv is not: read as text, its rows would not say what their figures are.
SUFFIXES = {
    *(".pdf", ".docx", ".xlsx", ".pptx", ".html", ".htm", ".xhtml", ".eml"),
    *(".md", ".markdown", ".txt", ".text"),
}
# Windows' and macOS' own, and what Office and macOS keep beside a document.
_SYSTEM = {"thumbs.db", "desktop.ini", "__macosx"}
_ASIDE = (".", "~$")


def expand(paths: Sequence[str]) -> list[Path]:
    """The files meant, each once, in order; one that is not there is kept, to fail by its name.

    So is a pattern that nothing matches. What is hidden in a folder is not meant.
    """
    return list(dict.fromkeys(file for path in paths for file in _files(Path(path))))


def left_out(paths: Sequence[str], sent: Sequence[File]) -> list[Path]:
    """The files in folders that are not sent, because of what they end in."""
    taken = {file.path.resolve() for file in sent}
    folders = (path for path in map(Path, paths) if path.is_dir())
    seen = dict.fromkeys(path for folder in folders for path in _seen(folder))
    return [path for path in seen if not _says(path) and path.resolve() not in taken]


def is_pattern(path: Path) -> bool:
    """Whether it stands for the files that match it, and there is none of its own name."""
    return any(character in str(path) for character in "*?[") and not path.exists()


def described(paths: Sequence[Path], common: pb.IngestMetadata) -> list[File]:
    """The files with what is said of each: by their folder's manifest, else on the command line."""
    listed = [file for path in paths if _says(path) for file in manifest.read(path, common)]
    by_path = {path.resolve(): File(path, common) for path in paths if not _says(path)}
    # Where a manifest speaks of a file, its word holds.
    by_path.update((file.path.resolve(), file) for file in listed)
    return list(by_path.values())


def _files(path: Path) -> Iterator[Path]:
    if path.is_dir():
        yield from filter(_is_read, _seen(path))
    elif not is_pattern(path):
        yield path
    else:
        # Quoted, or in a shell that leaves patterns alone.
        root = Path(path.anchor)
        found = sorted(p for p in root.glob(str(path.relative_to(root))) if p.is_file())
        # As in a shell, a star does not stand for what is hidden.
        yield from [p for p in found if path.name[:1] == "." or not _is_aside(p.name)] or [path]


def _seen(folder: Path) -> Iterator[Path]:
    """The files in a folder, at any depth, that are not hidden."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not any(map(_is_aside, path.relative_to(folder).parts)):
            yield path


def _is_aside(name: str) -> bool:
    return name.startswith(_ASIDE) or name.lower() in _SYSTEM


def _is_read(path: Path) -> bool:
    return path.suffix.lower() in SUFFIXES or _says(path)


def _says(path: Path) -> bool:
    return path.name == manifest.NAME
