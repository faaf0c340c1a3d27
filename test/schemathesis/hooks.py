"""Signs in, makes what can be found, and says which refusals follow from rules that no schema can express."""

import io
import json
import os
import re
import tarfile
import time
from hashlib import sha256

import requests
import schemathesis

base = os.environ["BASE_URL"]
password = os.environ["ADMIN_PASSWORD"]


def sign_in() -> dict:
    form = {"grant_type": "password", "username": "admin", "password": password}
    answer = requests.post(f"{base}/auth/token", data=form, timeout=30)
    answer.raise_for_status()
    return {"Authorization": f"Bearer {answer.json()['access_token']}"}


own = sign_in()


@schemathesis.auth(refresh_interval=None)
class Token:
    def get(self, case, context):
        # Signing out ends the token that is sent: each time another one, so that the run keeps its own.
        return sign_in() if case.operation.label == "DELETE /auth/token" else own

    def set(self, case, data, context):
        case.headers = {**(case.headers or {}), **data}
