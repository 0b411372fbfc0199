"""PDF forms: what is filled in stands beside its label."""

import io

from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from services.retrieval.pages import render
from services.retrieval.parsers import parse

HEIGHT = A4[1]


class Form:
    """A form being drawn; distances are from the top left."""

    def __init__(self):
        self._out = io.BytesIO()
        self.canvas = Canvas(self._out, pagesize=A4)
        self._fields = self.canvas.acroForm

    def label(self, words, top, left=72):
        self.canvas.setFont("Helvetica", 10)
        self.canvas.drawString(left, HEIGHT - top - 10, words)
        return self

    def field(self, value, top, left=160, **options):
        self._fields.textfield(
            value=value, x=left, y=HEIGHT - top - 14, width=120, height=16, **options
        )
        return self

    def box(self, top, *, ticked, left=72):
        self._fields.checkbox(checked=ticked, x=left, y=HEIGHT - top - 12, size=12)
        return self

    def data(self):
        self.canvas.showPage()
        self.canvas.save()
        return self._out.getvalue()

    def parsed(self):
        return parse(self.data(), "kyc.pdf")


def lines(document):
    return [document.text[line.start : line.end] for line in document.lines]


def test_a_value_follows_the_label_beside_or_above_it():
    document = (
        Form()
        .label("Full name:", 100)
        .field("Jane  Doe", 100)
        .label("Born:", 130)
        .field("", 130)
        .label("Country of residence", 160)
        .field("Malta", 175, left=72)
        .label("End of the form.", 220)
        .parsed()
    )
    assert lines(document) == [
        *("Full name:", "Jane Doe", "Born:", "Country of residence", "Malta", "End of the form."),
    ]
    assert "Full name:\nJane Doe" in document.text


def test_boxes_are_ticked_or_not_before_what_they_say():
    document = (
        Form()
        .box(100, ticked=True)
        .label("politically exposed", 100, left=100)
        .box(130, ticked=False)
        .label("acts for another", 130, left=100)
        .parsed()
    )
    assert lines(document) == ["☒", "politically exposed", "☐", "acts for another"]


def test_a_form_of_nothing_but_values_is_no_picture():
    assert parse(Form().field("Jane Doe", 100).data(), "kyc.pdf").text == "Jane Doe"


def test_hidden_fields_and_passwords_are_left_out():
    document = (
        Form()
        .label("Seen.", 50)
        .field("secret", 100, annotationFlags="hidden")
        .field("secret", 130, fieldFlags="password")
        .parsed()
    )
    assert document.text == "Seen."


def test_a_value_is_marked_on_its_page_where_its_field_is():
    data = Form().label("Full name:", 100).field("Jane Doe", 100).data()
    document = parse(data, "kyc.pdf")
    start = document.text.index("Jane")
    (box,) = render(data, 1, [(start, start + 4)], document, 72).boxes
    assert (round(box.left), round(box.right)) == (160, 280)
