"""Handing over to a person: two tools."""

from prove.servers import Page, Server, page, read, require, table, write

from .records import Case, Matter


class FrontDesk(Server):
    """The colleagues who take over what an assistant may not decide."""

    category = "Service"
    hidden = True

    cases = table(Case, "CASE-{}", start=1)

    @write
    def hand_over(self, matter: Matter) -> Case:
        """Hand the conversation over to a person, who will decide about it."""
        open_one = next((c for c in self.cases if c.matter == matter and c.status == "waiting"), None)
        require(open_one is None, "failed_precondition", f"a person is looking after the {matter} already")
        return self.cases.add(Case(self.cases.mint(), matter, self.now))

    @read
    def list_cases(self) -> Page[Case]:
        """List what has been handed over to people."""
        return page(self.cases, 50, Case)
