"""Well-known secrets, as data, and masking them in text.

Rules:
- Only shapes that are secrets by their form: a prefix the issuer documents, a private key's armour, a password in a
  URL, a named credential with its value. A guess would hide text that a reader needs.
- What is taken out is replaced by `[redacted: label]`, the same for the same input, so that masking twice changes
  nothing. JSON text stays JSON: a match never holds a quote or a bare backslash.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection
from typing import Final

from attrs import frozen


@frozen
class Secret:
    """One kind of secret. A group `keep` of the pattern stays in the text."""

    id: str
    label: str
    pattern: re.Pattern[str]

    @property
    def mark(self) -> str:
        """What is shown in place of it."""
        return f"[redacted: {self.label}]"


def _secret(name: str, label: str, pattern: str) -> Secret:
    return Secret(name, label, re.compile(pattern))


SECRETS: Final[tuple[Secret, ...]] = (
    _secret(
        "private-key",
        "private key",
        r"-----BEGIN (?P<kind>[A-Z0-9 ]*)PRIVATE KEY(?: BLOCK)?-----"
        r"(?:[^\"]{0,20000}?-----END (?P=kind)PRIVATE KEY(?: BLOCK)?-----|(?:\s|\\[nr]|[A-Za-z0-9+/=])*)",
    ),
    _secret("jwt", "JSON web token", r"\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*"),
    _secret("anthropic-key", "API key", r"\bsk-ant-[\w-]{20,}"),
    _secret("openrouter-key", "API key", r"\bsk-or-[\w-]{20,}"),
    _secret("openai-key", "API key", r"\bsk-(?:proj-|svcacct-|admin-)?[\w-]{20,}"),
    _secret("aws-access-key", "API key", r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
    _secret("github-token", "API key", r"\b(?:gh[pousr]_\w{30,}|github_pat_\w{30,})"),
    _secret("gitlab-token", "API key", r"\bgl(?:pat|dt|rt|ptt|cbt|oas)-[\w-]{20,}"),
    _secret("google-key", "API key", r"\bAIza[\w-]{35}"),
    _secret("google-token", "token", r"\bya29\.[\w-]{20,}"),
    _secret("groq-key", "API key", r"\bgsk_\w{20,}"),
    _secret("xai-key", "API key", r"\bxai-\w{20,}"),
    _secret("huggingface-token", "API key", r"\bhf_\w{30,}"),
    _secret("replicate-token", "API key", r"\br8_\w{30,}"),
    _secret("npm-token", "API key", r"\bnpm_\w{36}"),
    _secret("pypi-token", "API key", r"\bpypi-[\w-]{50,}"),
    _secret("slack-token", "API key", r"\bxox[abeoprs]-[\w-]{10,}"),
    _secret("slack-webhook", "webhook", r"(?<=hooks\.slack\.com/services/)T\w+/B\w+/\w{16,}"),
    _secret("stripe-key", "API key", r"\b(?:sk|rk)_(?:live|test)_\w{16,}"),
    _secret("sendgrid-key", "API key", r"\bSG\.[\w-]{16,}\.[\w-]{16,}"),
    _secret("telegram-token", "token", r"(?<![\w:])\d{8,10}:AA[\w-]{33}(?![\w-])"),
    _secret("url-password", "password", r"(?<=://)[^\s/:@\"'\\]*:[^\s/@\"'\\]+(?=@)"),
    _secret("bearer-token", "token", r"(?i)(?<=\bbearer )[\w.~+/=-]{16,}"),
    _secret(
        "credential",
        "credential",
        r"(?i)(?P<keep>\b[\w-]{0,60}(?:api[_-]?key|secret|passwd|password|access[_-]?token|auth[_-]?token)[\w-]{0,60}"
        r"(?:\\?[\"'])?\s{0,8}[:=]\s{0,8}(?:\\?[\"'])?)(?:[^\s\"'\\,;&<>\[\]{}]{8,})",
    ),
)
"""In the order in which they are looked for: a shape by its own prefix before one by its surroundings."""


_CREDENTIAL: Final = SECRETS[-1]


def mask(text: str, found: Counter[str] | None = None, kinds: Collection[str] | None = None) -> str:
    """Return the text with secrets masked; `found` counts them by `Secret.id`, `kinds` leaves other ids alone."""
    for secret in SECRETS:
        if kinds is not None and secret.id not in kinds:
            continue
        keep = "keep" in secret.pattern.groupindex

        def replace(match: re.Match[str], mark: str = secret.mark, keep: bool = keep, name: str = secret.id) -> str:
            if found is not None:
                found[name] += 1
            return match["keep"] + mark if keep else mark

        text = secret.pattern.sub(replace, text)
    return text


def mask_named(name: str, value: str, found: Counter[str], kinds: Collection[str] | None = None) -> str:
    """Return the value of a JSON member with secrets masked: all of it where its name says that it is a credential."""
    inside: Counter[str] = Counter()
    masked = mask(value, inside, kinds)
    if kinds is None or _CREDENTIAL.id in kinds:
        prefix = f"{name}="
        match = _CREDENTIAL.pattern.search(prefix + masked)
        if match is not None and match.end("keep") == len(prefix):
            inside, masked = Counter({_CREDENTIAL.id: 1}), _CREDENTIAL.mark
    found.update(inside)
    return masked


def is_secret(text: str) -> bool:
    """Say whether the whole text is one secret."""
    return any(secret.pattern.fullmatch(text) for secret in SECRETS)
