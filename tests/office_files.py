"""Small office files, made of the XML that a test is about."""

import io
import zipfile

_DECLARATION = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
_DOCUMENTS = "http://schemas.openxmlformats.org/officeDocument/2006"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_WORD = (
    'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" '
    f'xmlns:r="{_DOCUMENTS}/relationships" xmlns:m="{_DOCUMENTS}/math" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
)
_SHEET = (
    'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" '
    f'xmlns:r="{_DOCUMENTS}/relationships"'
)

_SLIDE = (
    'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
    f'xmlns:r="{_DOCUMENTS}/relationships"'
)


def zipped(parts):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return out.getvalue()


def a_docx(body, *, kind="wordprocessingml.document", macros=False, **parts):
    """A document of this body; `parts` are the insides of styles, numbering, footnotes, ..."""
    main = (
        "application/vnd.ms-word.document.macroEnabled.main+xml"
        if macros
        else f"application/vnd.openxmlformats-officedocument.{kind}.main+xml"
    )
    roots = {"header": "hdr", "footer": "ftr"}
    related = {
        f"word/{name}.xml": (
            name.rstrip("0123456789"),
            f"<w:{roots.get(name, name)} {_WORD}>{inside}</w:{roots.get(name, name)}>",
        )
        for name, inside in parts.items()
    }
    content = f"<w:document {_WORD}><w:body>{body}</w:body></w:document>"
    return _package("word/document.xml", main, content, related)


def an_xlsx(sheets, *, texts=(), styles="", hidden=(), tables=None):
    """A workbook of sheets by name, each the inside of its sheetData, or of all if it has that."""
    names = "".join(
        f'<sheet name="{name}" sheetId="{n}" r:id="rId{n}" '
        f'state="{"hidden" if name in hidden else "visible"}"/>'
        for n, name in enumerate(sheets, 1)
    )
    related = {
        f"xl/worksheets/sheet{n}.xml": (
            "worksheet",
            f"<worksheet {_SHEET}>"
            + (rows if "<sheetData>" in rows else f"<sheetData>{rows}</sheetData>")
            + "</worksheet>",
        )
        for n, rows in enumerate(sheets.values(), 1)
    }
    if texts:
        strings = "".join(f"<si>{text}</si>" for text in texts)
        related["xl/sharedStrings.xml"] = ("sharedStrings", f"<sst {_SHEET}>{strings}</sst>")
    if styles:
        related["xl/styles.xml"] = ("styles", f"<styleSheet {_SHEET}>{styles}</styleSheet>")
    more = {
        f"xl/worksheets/_rels/{sheet}.xml.rels": _relationships({"../tables/t.xml": "table"})
        for sheet in tables or {}
    }
    for reference in (tables or {}).values():
        more["xl/tables/t.xml"] = f'<table {_SHEET} ref="{reference}"/>'
    return _package(
        "xl/workbook.xml",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml",
        f"<workbook {_SHEET}><sheets>{names}</sheets></workbook>",
        related,
        more,
    )


def a_pptx(slides, *, notes=None, hidden=()):
    """A presentation of slides, each the inside of its spTree; notes by the number of the slide."""
    names = "".join(f'<p:sldId id="{255 + n}" r:id="rId{n}"/>' for n in range(1, len(slides) + 1))
    related = {
        f"ppt/slides/slide{n}.xml": (
            "slide",
            f'<p:sld {_SLIDE} show="{int(n not in hidden)}">{_tree(shapes)}</p:sld>',
        )
        for n, shapes in enumerate(slides, 1)
    }
    more = {}
    for n, shapes in (notes or {}).items():
        target = f"../notesSlides/notesSlide{n}.xml"
        more[f"ppt/slides/_rels/slide{n}.xml.rels"] = _relationships({target: "notesSlide"})
        notes_slide = f"<p:notes {_SLIDE}>{_tree(shapes)}</p:notes>"
        more[f"ppt/notesSlides/notesSlide{n}.xml"] = notes_slide
    return _package(
        "ppt/presentation.xml",
        "application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml",
        f"<p:presentation {_SLIDE}><p:sldIdLst>{names}</p:sldIdLst></p:presentation>",
        related,
        more,
    )


def _tree(shapes):
    return f"<p:cSld><p:spTree>{shapes}</p:spTree></p:cSld>"


def _package(main, media_type, content, related, more=None):
    folder, name = main.split("/")
    return zipped(
        {
            "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types">'
            f'<Override PartName="/{main}" ContentType="{media_type}"/></Types>',
            "_rels/.rels": _relationships({main: "officeDocument"}),
            main: _DECLARATION + content,
            f"{folder}/_rels/{name}.rels": _relationships(
                {part.removeprefix(f"{folder}/"): kind for part, (kind, _) in related.items()}
            ),
            **{part: _DECLARATION + inside for part, (_, inside) in related.items()},
            **(more or {}),
        }
    )


def _relationships(kinds):
    return (
        f'<Relationships xmlns="{_PACKAGE}/relationships">'
        + "".join(
            f'<Relationship Id="rId{n}" Type="{_DOCUMENTS}/relationships/{kind}" Target="{part}"/>'
            for n, (part, kind) in enumerate(kinds.items(), 1)
        )
        + "</Relationships>"
    )
