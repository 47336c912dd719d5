"""The message of a call that refuses."""


def refusal(call, *arguments, **choice):
    """The message of the ValueError or OSError that a call raises, or nothing."""
    try:
        call(*arguments, **choice)
    except (ValueError, OSError) as error:
        return str(error)
    return ""
