"""Plays a plan on a program: one move after the other, and what came of each."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from typing import IO, TYPE_CHECKING, Any, TypeAlias

from pyharness.debugger.api.program import DEBUGGER_LOST, Program
from pyharness.debugger.python.dap_client import RequestError
from pyharness.host.descriptors import inherited
from pyharness.host.exit_status import ExitStatus
from pyharness.model.errors import HarnessError, UsageError
from pyharness.model.stops import Stop
from pyharness.model.text.python_error import prints_and_error
from pyharness.model.transcript import Begun, Checked, Ended, Failure, Logged, Mismatch, Printed, Transcript
from pyharness.session import expect
from pyharness.session.plan import Step

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyharness.debugger.breaking.breakpoint import Breakpoint
    from pyharness.session.plan import LogPoint, Plan

Entry: TypeAlias = Begun | Printed | Stop | Checked | Logged | Ended | Failure
_REST = Step("continue", "the rest of the run")
Watch: TypeAlias = "Callable[[Entry], None]"


def run(
    plan: Plan,
    watch: Watch = lambda _entry: None,
    *,
    stdout: IO[Any] | int | None = None,
    progress: Callable[[str], None] | None = None,
    notes: Callable[[str], None] | None = None,
    prepare: Callable[[Plan], None] = lambda _plan: None,
) -> Transcript:
    """Play ``plan``; ``watch`` is told of each stop (before, while and after it is looked at) and what else comes.

    These are expectations, the end and what goes wrong.

    ``stdout``, ``progress`` and ``notes`` are as for ``debug``; ``prepare`` is called before the program starts. What
    goes wrong is the transcript's ``error``, and the program runs on to its end: only an interrupt ends it, and is
    raised.
    """

    def start() -> Program:
        prepare(plan)
        command = replace(plan.target, stdout=stdout, pass_fds=inherited())
        return Program(command, plan.include, progress, notes=notes, crashes=True, eval_timeout=plan.eval_timeout)

    return run_on(start, plan, watch, notes)


def run_on(
    start: Callable[[], Program],
    plan: Plan,
    watch: Watch,
    notes: Callable[[str], None] | None = None,
    *,
    closes: bool = True,
) -> Transcript:
    """Play ``plan`` on the program that ``start`` gives, as ``run`` does.

    Without ``closes`` the program is another's to leave or to end.
    """
    play = _Play(plan, watch, notes or (lambda _text: None), of_job=not closes)
    try:
        program = start()
        with program if closes else nullcontext():
            play.run(program)
    except HarnessError as error:
        play.failed(error)
    return play.transcript()


class _Play:
    """The state of one run."""

    def __init__(self, plan: Plan, watch: Watch, note: Callable[[str], None], *, of_job: bool) -> None:
        self._plan = plan
        self._of_job = of_job
        """Whether the program is one of several ranks."""
        self._note = note
        self._watch = watch
        self._stops: list[Stop] = []
        self._checked: list[Checked] = []
        self._logged: list[Logged] = []
        self._points: list[Breakpoint] = []
        self._error: Failure | None = None
        self._exit_code: int | None = None
        self._begun = False

    def run(self, program: Program) -> None:
        self._begun = True
        try:
            self._play(program)
            if not self._plan.kill:
                self._finish(program)
        except (KeyboardInterrupt, SystemExit) as told:
            program.interrupted(told)
            raise
        self._exit_code = program.exit_code
        self._end()

    def _finish(self, program: Program) -> None:
        try:
            program.finish()
        except DEBUGGER_LOST as error:  # told once; the program is then waited for without it
            program.left_by(error)
            self.failed(error)
            program.finish()

    def _play(self, program: Program) -> None:
        try:
            for point in self._plan.logs:
                self._log(program, point)
            for step in self._plan.steps:
                self._step(program, step)
            if self._plan.logs and not self._plan.kill and program.exit_code is None:
                self._step(program, _REST)
            if program.exit_code is not None:
                self._silent(program)
        except DEBUGGER_LOST as error:
            program.left_by(error)
            self.failed(error)
        except HarnessError as error:
            self.failed(error)

    def _step(self, program: Program, step: Step) -> None:
        if program.exit_code is not None:
            remedy = program.unseen or "End the steps before, or let the program run longer."
            raise HarnessError(f"{step.named} was not done: {_ended(program)}.", remedy)
        stop = self._move(program, step)
        if stop is None:
            self._no_stop(program, step)
            return
        asked = dict.fromkeys([*step.prints, *(name for each in step.expects for name in each.printed)])
        wants_stack = step.stack or stop.reason == "signal" or any(each.stack for each in step.expects)
        self._watch(Begun(stop))
        printed: dict[str, str] = {}
        for expression in asked:
            printed[expression] = _evaluate(program, expression)
            self._watch(Printed(expression, printed[expression]))
        stop = replace(stop, printed=printed, stack=tuple(program.stack()) if wants_stack else ())
        self._stops.append(stop)
        self._watch(stop)
        if stop.condition_failed:  # the session goes on from there, but not from where it was to
            self.failed(HarnessError(stop.note, f"{step.named} stopped there, as debuggers do. Correct the condition."))
        for each in step.expects:
            self._check(Checked(each.step, each.line, expect.check(each, stop)))

    def _log(self, program: Program, point: LogPoint) -> None:
        def take(text: str) -> None:
            self._logged.append(Logged(str(point.where), text))
            self._watch(self._logged[-1])

        self._points.append(program.log(point.where, point.message, take))

    def _silent(self, program: Program) -> None:
        """Tell of log points that printed nothing: nothing may have such a place."""
        said = {each.place for each in self._logged}
        meant = [point for point in self._points if not (self._of_job and point.where.names_rank)]
        for point in meant:
            if str(point.where) not in said and (problem := program.missed(point)):
                if isinstance(problem, UsageError):
                    self.failed(problem)
                else:
                    self._note(str(problem))

    def _move(self, program: Program, step: Step) -> Stop | None:
        if step.move == "at" and step.where is not None:
            try:
                return program.run_to(step.where)
            except HarnessError as error:
                if program.exit_code not in {None, 0}:  # why it never came there
                    raise _at_the_end(error, program) from error
                raise
        if step.element is not None:
            return program.run_to_element(str(step.element))
        moves: dict[str, Callable[[], Stop | None]] = {
            "continue": program.resume,
            "into": program.into,
            "into_native": program.into_native,
            "over": program.over,
            "out": program.out,
        }
        return moves[step.move]()

    def _no_stop(self, program: Program, step: Step) -> None:
        for each in step.expects:
            self._check(Checked(each.step, each.line, expect.check_ended(each)))
        if step.prints or step.stack:
            raise HarnessError(
                f"Nothing to look at after {step.named}: {_ended(program)}.", "Look at a stop before that."
            )

    def _check(self, checked: Checked) -> None:
        self._checked.append(checked)
        self._watch(checked)

    def _end(self) -> None:
        self._watch(Ended(self._exit_code))
        wanted = self._plan.exit_code
        if wanted is not None and self._exit_code != wanted:
            got = str(Ended(self._exit_code))
            mismatch = Mismatch("exit_code", str(Ended(wanted)), got)
            self._check(Checked(len(self._plan.steps), self._plan.exit_code_line, (mismatch,)))

    def failed(self, error: HarnessError) -> None:
        """Keep and tell the first error: later ones follow from it.

        What was typed may be wrong in it; but the program has run, so that it is no usage error any more.
        """
        if self._error is None:
            status = ExitStatus.FAILED if self._begun else error.exit_code
            self._error = Failure(error.message, error.remedy, status)
            self._watch(self._error)

    def transcript(self) -> Transcript:
        return Transcript(
            tuple(self._stops),
            self._exit_code,
            tuple(self._checked) if self._plan.expecting else None,
            self._error,
            tuple(self._logged) if self._plan.logs else None,
            exit_code_expected=self._plan.exit_code is not None,
        )


def _evaluate(program: Program, expression: str) -> str:
    """The expression's text, or why it has none: a session goes on."""
    try:
        return program.evaluate(expression) or "None"  # debugpy's console does not show None
    except DEBUGGER_LOST:
        raise
    except RequestError as error:  # an exception of Python's, behind what was printed
        message = error.message.rstrip()
        prints, raised = prints_and_error(message) or message.rpartition("\n")[::2]
        separate = "\n" if prints and not prints.endswith("\n") else ""
        return f"{prints}{separate}<error: {raised.strip()}>"
    except HarnessError as error:
        return f"<error: {next(iter(error.message.strip().splitlines()), '').strip()}>"


def _ended(program: Program) -> str:
    return str(Ended(program.exit_code))


def _at_the_end(error: HarnessError, program: Program) -> HarnessError:
    """The error with how the program ended in its remedy."""
    ended = _ended(program)
    return type(error)(error.message, f"{ended[0].upper()}{ended[1:]}. {error.remedy}".strip())
