"""Values of the kinds that people say, for the laws of saying, reading and hearing them."""

from datetime import UTC, date, datetime, timedelta

from hypothesis import strategies as st

from prove.servers import Cents, Day, Moment, Month

EPOCH = datetime(2025, 6, 1, tzinfo=UTC)
HINTS = {
    "cents": (Cents, st.integers(1, 10_000_000)),
    "day": (Day, st.dates(date(2025, 6, 1), date(2027, 6, 1)).map(date.isoformat)),
    "month": (Month, st.dates(date(2025, 1, 1), date(2027, 1, 1)).map(lambda d: f"{d:%Y-%m}")),
    "count": (int, st.integers(0, 100_000)),
    "moment": (Moment, st.integers(0, 800 * 48).map(lambda n: (EPOCH + n * timedelta(minutes=30)).isoformat().replace("+00:00", "Z"))),
}
