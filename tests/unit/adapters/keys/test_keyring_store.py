"""Keys stand in the system's key store, else in the environment, and are shown nowhere."""

from __future__ import annotations

import keyring
import pytest
from keyring.backends.fail import Keyring as NoKeyring

from kb.adapters.keys.keyring_store import KeyringKeyStore
from kb.domain.errors import InvalidInput
from kb.domain.failures import StorageFailed
from kb.domain.keys import Key, KeyName
from tests.fakes.keys import LockedBackend, MemoryBackend

NAME = KeyName("my cloud", "api.example.com")
SECRET = "sk-0123456789abcdef"


def test_a_key_is_kept_under_kebab_and_given_back() -> None:
    backend = MemoryBackend()
    store = KeyringKeyStore(backend, {})
    assert store.get(NAME) is None
    store.set(NAME, SECRET)
    assert backend.kept == {("kebab", "my cloud@api.example.com"): SECRET}
    assert store.get(NAME) == Key(SECRET, "key_store")
    assert store.is_available()


def test_a_key_of_one_host_is_never_given_for_another() -> None:
    store = KeyringKeyStore(MemoryBackend(), {})
    store.set(NAME, SECRET)
    assert store.get(KeyName("my cloud", "elsewhere.example.com")) is None


def test_a_key_can_be_forgotten_once() -> None:
    store = KeyringKeyStore(MemoryBackend(), {})
    store.set(NAME, SECRET)
    assert store.remove(NAME)
    assert not store.remove(NAME)
    assert store.get(NAME) is None


def test_the_environment_stands_in_and_the_key_store_goes_first() -> None:
    store = KeyringKeyStore(MemoryBackend(), {"KB_KEY_MY_CLOUD": f" {SECRET}\n"})
    assert store.get(NAME) == Key(SECRET, "environment")
    assert not store.remove(NAME)
    store.set(NAME, "another")
    assert store.get(NAME) == Key("another", "key_store")


def test_without_a_key_store_it_is_said_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keyring, "get_keyring", NoKeyring)
    store = KeyringKeyStore(environment={"KB_KEY_MY_CLOUD": SECRET})
    assert not store.is_available()
    assert store.get(NAME) == Key(SECRET, "environment")
    for call in (lambda: store.set(NAME, SECRET), lambda: store.remove(NAME)):
        with pytest.raises(StorageFailed) as caught:
            call()
        assert "no key store" in caught.value.message
        assert "KB_KEY_MY_CLOUD" in caught.value.hint
        assert SECRET not in caught.value.message + caught.value.hint


def test_a_locked_key_store_never_lets_the_key_into_an_error() -> None:
    store = KeyringKeyStore(LockedBackend(), {"KB_KEY_MY_CLOUD": "from outside"})
    assert store.get(NAME) == Key("from outside", "environment")
    with pytest.raises(StorageFailed) as caught:
        store.set(NAME, SECRET)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__
    assert SECRET not in caught.value.message + caught.value.hint
    with pytest.raises(StorageFailed):
        store.remove(NAME)


@pytest.mark.parametrize("text", ["", "a b", "line\nline", "clé", "x" * 4097, "\x00"])
def test_what_no_header_can_hold_is_no_key(text: str) -> None:
    backend = MemoryBackend()
    with pytest.raises(InvalidInput) as caught:
        KeyringKeyStore(backend, {}).set(NAME, text)
    assert not backend.kept
    assert not text or text not in caught.value.message


def test_a_key_does_not_show_by_itself() -> None:
    assert SECRET not in repr(Key(SECRET, "key_store")) + str(Key(SECRET, "environment"))
