"""Why a video could not be read."""


class UnreadableError(Exception):
    """A video that is not read; the message completes the sentence `Could not read the video: ...`."""
