"""A program debugged through a client, in the words of an editor: breakpoints by mark, steps, the frame at the top."""

from dataclasses import dataclass
from pathlib import Path

from kit import builds
from kit.debugged_program import line_of, source_line
from kit.paths import PROGRAMS

EXTENSION = str(builds.CROSSING)


@dataclass(frozen=True)
class Stood:
    """Where the program stopped, and why."""

    reason: str
    thread: int
    function: str
    file: str
    line: int
    frame: int
    body: dict


class Debugging:
    """One client, and one program of tests/programs or elsewhere."""

    extension = EXTENSION

    def __init__(self, client, program):
        self.client = client
        self.script = program if Path(program).is_absolute() else str(PROGRAMS / program)
        self.breakpoints = []
        """What the adapter answered of those of the start."""

    # --- the beginning ------------------------------------------------------------------------------------------------

    def initialize(self, **more):
        """Say what this client can; the adapter's capabilities."""
        wanted = {"adapterID": "pyharness", "clientID": "test", "pathFormat": "path", "supportsVariableType": True}
        return self.client.request("initialize", **{**wanted, **more})

    def launch(self, *marks, native=(), functions=(), filters=(), **arguments):
        """Start with breakpoints at marks of the script and of the extension; the program runs then."""
        self.initialize()
        launched = self.client.post("launch", program=self.script, **arguments)
        self.client.event("initialized")
        self.configure(marks, native, functions, filters)
        response = self.client.response(launched)
        assert response["success"], response
        return self

    def configure(self, marks=(), native=(), functions=(), filters=()):
        """Set all breakpoints, in the order in which VS Code does."""
        if marks:
            self.set_lines(self.script, [line_of(mark, self.script) for mark in marks])
        if native:
            self.set_lines(EXTENSION, [source_line(mark) for mark in native])
        if functions:
            entries = [name if isinstance(name, dict) else {"name": name} for name in functions]
            self.breakpoints += self.client.request("setFunctionBreakpoints", breakpoints=entries)["breakpoints"]
        self.filter(*filters)
        self.client.request("configurationDone")

    def filter(self, *filters):
        """Exception breakpoints: names, or pairs of a name and its condition."""
        plain = [each for each in filters if isinstance(each, str)]
        options = [{"filterId": name, "condition": text} for name, text in set(filters) - set(plain)]
        return self.client.request("setExceptionBreakpoints", filters=plain, filterOptions=options)["breakpoints"]

    def set_lines(self, path, lines):
        """Breakpoints of one file; what the adapter answers is kept."""
        entries = [line if isinstance(line, dict) else {"line": line} for line in lines]
        answer = self.client.request("setBreakpoints", source={"path": path}, breakpoints=entries)["breakpoints"]
        assert len(answer) == len(entries)
        self.breakpoints += answer
        return answer

    # --- stops --------------------------------------------------------------------------------------------------------

    def stood_or_ended(self):
        """The next stop; ``None`` where the program ends, which ``run_out`` can still be asked about."""
        name, body = self.client.either("stopped", "exited")
        if name == "stopped":
            return self._stood(body)
        self.client.put_back(name, body)
        return None

    def stood(self):
        """The next stop."""
        return self._stood(self.client.event("stopped"))

    def _stood(self, body):
        top = self.stack(body["threadId"])[0]
        path = top.get("source", {}).get("path", "")
        return Stood(body["reason"], body["threadId"], top["name"], path, top["line"], top["id"], body)

    def stack(self, thread):
        """All frames of a thread."""
        return self.client.request("stackTrace", threadId=thread)["stackFrames"]

    def go(self, command, stood):
        """``continue``, ``next``, ``stepIn`` or ``stepOut``, and the next stop."""
        self.client.request(command, threadId=stood.thread)
        return self.stood()

    def into(self, stood):
        return self.go("stepIn", stood)

    def over(self, stood):
        return self.go("next", stood)

    def out(self, stood):
        return self.go("stepOut", stood)

    def run_on(self, stood):
        return self.go("continue", stood)

    def line(self, mark):
        """Of a mark in the script."""
        return line_of(mark, self.script)

    def native_line(self, mark):
        """Of a mark in the extension."""
        return source_line(mark)

    def at(self, stood):
        """The mark at which the program stands, in either language."""
        lines = Path(stood.file).read_text().splitlines()
        return lines[stood.line - 1].rpartition("@")[2]

    # --- looking ------------------------------------------------------------------------------------------------------

    def scopes(self, frame):
        """The scopes of a frame by name."""
        found = self.client.request("scopes", frameId=frame)["scopes"]
        return {scope["name"]: scope for scope in found}

    def variables(self, frame):
        """The values of all variables of a frame's cheap scopes, by name."""
        cheap = [scope for scope in self.scopes(frame).values() if not scope["expensive"]]
        return {each["name"]: each for scope in cheap for each in self.children(scope)}

    def children(self, container):
        """What a scope or a variable holds."""
        return self.client.request("variables", variablesReference=container["variablesReference"])["variables"]

    def evaluate(self, expression, frame, context="watch"):
        """The text of an expression's value."""
        return self.client.request("evaluate", expression=expression, frameId=frame, context=context)["result"]

    # --- the end ------------------------------------------------------------------------------------------------------

    def run_out(self, stood=None):
        """Run on to the program's end; its exit code."""
        if stood:
            self.client.request("continue", threadId=stood.thread)
        code = self.client.event("exited")["exitCode"]
        self.client.event("terminated")
        return code

    def leave(self, **arguments):
        """Disconnect as an editor does, and see the adapter close its side."""
        self.client.request("disconnect", **arguments)
        self.client.wait_end()

    def output(self, category="stdout"):
        """What the program has printed so far."""
        return "".join(body["output"] for body in self.client.events("output") if body.get("category") == category)
