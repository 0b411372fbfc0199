"""What does not fit a model's context is left out whole, the least relevant first, and named."""

from services.generation.budget import fitted, tokens
from services.generation.drafter import Fault, Objection, Passage, Statement, Task, Turn

TEXT = "A proof of funds must be notarized. " * 20


def passages(*scores):
    return tuple(Passage(f"p{n}", TEXT, score=score) for n, score in enumerate(scores))


def test_a_task_that_fits_is_left_as_it_is():
    task = Task("What is due?", passages(0.9, 0.5), history=(Turn("Before?", "So."),))
    assert fitted(task, 100_000).task == task
    assert fitted(task, 100_000).dropped == ()


def test_the_least_relevant_passages_go_first_and_the_others_keep_their_order():
    task = Task("What is due?", passages(0.2, 0.9, 0.1, 0.8))
    fit = fitted(task, 2 * tokens(TEXT) + 300)
    assert [passage.id for passage in fit.task.passages] == ["p1", "p3"]
    assert fit.dropped == ("p2", "p0")


def test_without_scores_the_last_ones_go_first():
    assert fitted(Task("?", passages(0, 0, 0)), tokens(TEXT) + 200).dropped == ("p2", "p1")


def test_a_passage_larger_than_the_context_is_left_out_whole():
    fit = fitted(Task("?", (Passage("p", "x" * 1_000_000),)), 10_000)
    assert fit.task.passages == ()
    assert fit.dropped == ("p",)


def test_history_and_objections_keep_the_newest_and_leave_room_for_sources():
    history = tuple(Turn(f"{n}?", TEXT) for n in range(20))
    objections = tuple(
        Objection(Statement(f"{n}.", ()), (Fault("NO_ENTAILMENT", TEXT),)) for n in range(50)
    )
    fit = fitted(Task("?", passages(1.0), objections, history), 4_000)
    assert [passage.id for passage in fit.task.passages] == ["p0"]
    assert fit.task.history[-1] == history[-1]
    assert len(fit.task.history) < 20
    assert fit.task.objections[-1] == objections[-1]
    assert len(fit.task.objections) < 50


def test_a_passage_given_twice_is_asked_about_once():
    fit = fitted(Task("?", (Passage("p", TEXT), Passage("p", TEXT))), 100_000)
    assert len(fit.task.passages) == 1
    assert fit.dropped == ()


def test_other_scripts_count_for_what_they_are():
    assert tokens("\u53cd\u6d17\u94b1" * 10) >= 30
    assert tokens("\ud800") == 1
