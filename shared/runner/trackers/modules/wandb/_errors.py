"""Errors that programs catch."""


class Error(Exception):
    def __init__(self, message="", context=None):
        super().__init__(message)
        self.message, self.context = message, context


class CommError(Error):
    pass


class AuthenticationError(CommError):
    pass


class UsageError(Error):
    pass


class UnsupportedError(UsageError):
    pass


class WaitTimeoutError(Error):
    pass
