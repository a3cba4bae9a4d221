"""What all tests need."""

import signal

# Started in the background of a script, this process ignores Ctrl-C, and so would those that tests send it to.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
