"""What waits for a person."""

from typing import Annotated, Literal, NewType

from prove.servers import Meta, Moment, Record

CaseId = NewType("CaseId", str)

Matter = Annotated[
    Literal["dispute", "large_amount", "large_refund", "complaint", "contract", "security"],
    Meta(description="what the person has to decide about"),
]


class Case(Record):
    case_id: CaseId
    matter: Matter
    opened: Moment
    status: Literal["waiting", "answered"] = "waiting"
