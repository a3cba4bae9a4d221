"""One person's calendars: events and series, invitations, free and busy time."""
