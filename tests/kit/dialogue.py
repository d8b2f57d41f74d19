"""Dialogues with the prompt: lines that are typed, and what is printed, apart by the commands."""

from kit.terminal import Terminal

PROMPT = "(ph) "


def blocks(text, *, repeated=False):
    """Command → what came after it; with ``repeated`` all pairs, in their order."""
    pairs = []
    for part in f"\n{text}".split(f"\n{PROMPT}")[1:]:
        name, _, shown = part.partition("\n")
        pairs.append((name, shown))
    return pairs if repeated else dict(pairs)


class Dialogue(Terminal):
    """Lines that are typed, and what is seen up to the next prompt."""

    def gives_up_the_line(self):
        """Press Ctrl-C at the prompt."""
        self.press_ctrl_c()
        self.wait_for("`quit` ends the session.")
        self.wait_for(PROMPT)

    def says(self, line, until=PROMPT):
        """What comes after a line is typed, up to ``until``."""
        self.text = ""
        self.type(f"{line}\r")
        self.wait_for("\n")
        self.text = self.text.partition("\n")[2]
        self.wait_for(until)
        return self.text.replace("\r", "")
