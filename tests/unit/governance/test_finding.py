"""Which characters are a secret, and which only look like one."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.governance.finding import find_secrets
from kb.governance.found import Setting
from tests.unit.governance.made_up import drawn, line_with, pem, planted

TOKEN = drawn(7, 30) + "4dQ8xZ"


def secrets_in(text: str, setting: Setting = Setting.PROSE) -> list[str]:
    return [text[one.start : one.end] for one in find_secrets(text, lambda _position: setting)]


@pytest.mark.parametrize("setting", list(Setting))
@pytest.mark.parametrize("seed", range(1, 6))
def test_each_kind_is_found_exactly_and_named(seed: int, setting: Setting) -> None:
    for kind, secret in planted(seed).items():
        text = f"One line before.\n{line_with(kind, secret)}\nOne line behind."
        found = find_secrets(text, lambda _position: setting)
        assert [(one.kind, text[one.start : one.end]) for one in found] == [(kind, secret)]


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("Password: summer", "summer"),
        ("비밀번호: hunter2", "hunter2"),
        ("비밀번호：Tr0ub4dor&3", "Tr0ub4dor&3"),
        ("비번은 qwer1234!@ 입니다", "qwer1234!@"),
        ("패스워드 = qwer1234!", "qwer1234!"),
        ("密码:Pa55w0rd!", "Pa55w0rd!"),
        ("密码是Pa55w0rd!，请保密", "Pa55w0rd!"),
        ("パスワード：Zk3!9xx", "Zk3!9xx"),
        ("пароль: Zk39xx!a", "Zk39xx!a"),
        ("Contraseña: Verano2024!", "Verano2024!"),
        ("The password is Tr0ub4dor&3.", "Tr0ub4dor&3"),
        ("PW: 8675309", "8675309"),
        ("ID: admin / PW: Zk3!9xx", "Zk3!9xx"),
        ("user / password: admin / Zk3!9xx", "Zk3!9xx"),
        ("Password (root): Zk3!9xx", "Zk3!9xx"),
        ("Password\nZk3!9xx\n", "Zk3!9xx"),
        ("wifi password: 'blue Horse 9!'", "blue Horse 9!"),
        ("The password is hunter2x", "hunter2x"),
        ("The password is hunter2x.", "hunter2x"),
        ("비밀번호는 사과나무123!입니다", "사과나무123!"),
        ("비밀번호: 사과나무123!", "사과나무123!"),
        ("PIN: 4821", "4821"),
        ("- PIN code: 482913, at the door", "482913"),
        ("password: correct horse battery staple", "correct horse battery staple"),
        ("- Wifi password: correct horse battery staple\n- Printer: ground floor", "correct horse battery staple"),
        ("passphrase: correct horse battery staple", "correct horse battery staple"),
        ("recovery phrase: solar amber tiny march olive rigid", "solar amber tiny march olive rigid"),
        ("The wifi password Zk3!9xx works", "Zk3!9xx"),
        ("비밀번호 Zk3!9xx", "Zk3!9xx"),
        ("토큰: 9f8b7c6d5e4f3a2b1c0d", "9f8b7c6d5e4f3a2b1c0d"),
        ("API 키: 9f8b7c6d5e4f3a2b1c0d", "9f8b7c6d5e4f3a2b1c0d"),
    ],
)
def test_what_people_write_in_notes_is_found(text: str, secret: str) -> None:
    assert secrets_in(text) == [secret]


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("DB_PASSWORD=s3cr3t-Pa55", "s3cr3t-Pa55"),
        ("password: winter", "winter"),
        ("password: {Zk3!9xx", "{Zk3!9xx"),
        ("password: $uperZk39!x", "$uperZk39!x"),
        ('{"db_password": "kX9#mP2$vL", "port": 5}', "kX9#mP2$vL"),
        ('export API_KEY="9f8b7c6d5e4f3a2b1c0d"', "9f8b7c6d5e4f3a2b1c0d"),
        ("Server=tcp:x;User Id=sa;Password=Str0ng!Pass;Encrypt=yes", "Str0ng!Pass"),
        ("Driver={ODBC};Uid=a;Pwd=Q7x!22z;", "Q7x!22z"),
        ("jdbc:mysql://h/db?user=u&password=abc9XyZ!&x=1", "abc9XyZ!"),
        ("jdbc:oracle:thin:scott/t1g3rX@db:1521:xe", "t1g3rX"),
        ("mongodb+srv://u:p4ssW0rd@cluster0.internal/", "p4ssW0rd"),
        ("mysql -u root --password Zk3!9xx db", "Zk3!9xx"),
        ("CREATE USER ann WITH PASSWORD 'Zk3!9xx';", "Zk3!9xx"),
        ("ALTER USER ann IDENTIFIED BY 'Zk3!9xx';", "Zk3!9xx"),
        ("machine h.internal login ann password Zk3!9xx", "Zk3!9xx"),
        ("curl -u admin:Zk3!9xx https://x.internal", "Zk3!9xx"),
        ("<password>Zk3!9xx</password>", "Zk3!9xx"),
        ("Authorization: Basic bGVkZ2VyOlprMyE5eHg=", "bGVkZ2VyOlprMyE5eHg="),
        ("client_secret: 8dyfuiRyq=vVc3RRr_edRk-fK__JItpZ", "8dyfuiRyq=vVc3RRr_edRk-fK__JItpZ"),
        ("Secret access key: wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
        ("//registry/:_authToken=1a2b3c4d-9f8e-4c3d-9e8f-000011112222", "1a2b3c4d-9f8e-4c3d-9e8f-000011112222"),
        ("https://x.invalid/f?sv=2&sig=Qm9vayBvZiBrZXlzLCBub25lIG9mIHRoZW0gcmVhbA%3D%3D", None),
    ],
)
def test_what_settings_and_commands_hold_is_found(text: str, secret: str | None) -> None:
    assert secrets_in(text, Setting.CONFIG) == [secret or text.partition("sig=")[2]]


@pytest.mark.parametrize(
    "text",
    [
        "The password: must be 8 characters",
        "The password hash is sha256",
        "password: enter your current password here",
        "Password: minimum eight characters including numbers",
        "The two fields are password: correct horse battery staple",
        "The password is stored2 in the vault",
        "비밀번호는 8자 이상이어야 합니다!",
        "pin: 13",
        "LED pin: left, shopping: 4821, spin: 4821",
        "People type a passphrase every morning before breakfast",
        "비밀번호: 8자 이상 입력하세요",
        "비밀번호를 입력하세요",
        "密码：至少8位",
        "Password: ********",
        "password: changeme",
        "password: <password>",
        "PASSWORD=${DB_PASSWORD}",
        "API_KEY=your_api_key_here",
        "password=xxxxxx",
        "password: [masked:password-1]",
        "password: ██████",
        "| password | string | The password |",
        '"password": "Password"',
        '"password": "비밀번호"',
        '"forgot_password": "Forgot your password?"',
        "password_hash: 5f4dcc3b5aa765d61d8327deb882cf99",
        "max_tokens: 4096x1",
        "secretName: my-secret-1",
        "PWD=/home/user1",
        "password: !vault |",
        "Passport: AB1234567",
        "compass: n0rth!",
        "The API key: see the settings page",
        "the token is 12 characters",
        "postgres://user:password@host/db",
        "https://books.invalid:8080/x@y",
        "Authorization: Bearer <token>",
        "Authorization: Bearer YOUR_TOKEN_HERE",
        "sk-learn-pipelines-with-many-words-in-them",
        "disk-space-1234-abcdef-XYZ-qqqq",
        "-----BEGIN RSA PRIVATE KEY-----\n...\n-----END RSA PRIVATE KEY-----",
        "A file that begins with -----BEGIN PRIVATE KEY----- is one.",
        "commit 4f2a9c0d1e8b7a6f5c4d3e2b1a0f9e8d7c6b5a40",
        "AKIA is how an access key id begins",
    ],
)
@pytest.mark.parametrize("setting", list(Setting))
def test_words_placeholders_and_formats_stay(text: str, setting: Setting) -> None:
    assert secrets_in(text, setting) == []


@pytest.mark.parametrize(
    "text",
    [
        "password = getpass()",
        'password: str = ""',
        "password: string;",
        'const [password, setPassword] = useState("")',
        'password = os.environ["X"]',
        "let password = password1;",
        "token: Token",
        "secret = args.secret2",
        'token = request.headers.get("X-Token")',
        '<input type="password" name="pw1">',
        "password = user_password",
    ],
)
def test_program_text_that_leads_to_a_secret_stays(text: str) -> None:
    assert secrets_in(text, Setting.PROGRAM) == []


def test_a_comment_in_a_program_is_read_as_words() -> None:
    assert secrets_in("# 비밀번호: hunter2\npassword = hunter2", Setting.PROGRAM) == ["hunter2"]


@pytest.mark.parametrize("gap", ["\n", " \n  ", "\n> ", " "])
def test_a_token_broken_over_a_line_end_is_found_whole(gap: str) -> None:
    token = f"ghp_{TOKEN[:19]}{gap}{TOKEN[19:]}"
    assert secrets_in(f"It was {token} and more words follow here.") == [token]


def test_a_web_token_broken_over_three_lines_is_found_whole() -> None:
    token = planted(3)["jwt"]
    broken = "\n".join((token[:40], token[40:80], token[80:]))
    assert secrets_in(f"Token\n{broken}\nThe next paragraph.") == [broken]


@pytest.mark.parametrize("token", [f"sk-proj-{drawn(9, 40)}D1e2", f"xoxb-{drawn(4, 12, '0123456789')}-{drawn(7, 24)}"])
@pytest.mark.parametrize("following", ["2024-Report", "Kubernetes1 is up", "getUserNameFrom", "RFC-7519 says so"])
def test_a_token_does_not_swallow_what_people_write_on_the_next_line(token: str, following: str) -> None:
    assert secrets_in(f"{token}\n{following}") == [token]


def test_a_named_key_does_not_swallow_what_people_write_on_the_next_line() -> None:
    key = planted(4)["api_key"]
    assert secrets_in(f"API_KEY={key}\n2024-Report") == [key]
    assert secrets_in(f"Authorization: Bearer {TOKEN}\nKubernetes1") == [TOKEN]


@pytest.mark.parametrize("kind", ["github_token", "gitlab_token", "slack_token", "stripe_key", "ai_key", "jwt"])
def test_tokens_on_lines_of_their_own_are_as_many_as_lines(kind: str) -> None:
    tokens = [planted(seed)[kind] for seed in (1, 2, 3)]
    assert secrets_in("\n".join(tokens)) == tokens


def test_a_token_that_is_long_enough_goes_on_only_where_a_line_may() -> None:
    token = planted(2)["jwt"]
    text = f"{token[:60]}\n{token[60:]}"
    assert secrets_in(text) == [text]
    ai_key, behind = planted(2)["ai_key"], drawn(3, 12) + "4x"
    found = find_secrets(f"{ai_key}\n{behind}", joins=lambda position: position != len(ai_key))
    assert [one.value for one in found] == [ai_key]
    assert [one.value for one in find_secrets(f"{ai_key}\n{behind}")] == [ai_key + behind]


def test_a_named_secret_key_broken_over_two_lines_is_found_whole() -> None:
    secret = planted(2)["aws_secret"]
    broken = f"{secret[:18]}\n{secret[18:]}"
    assert secrets_in(f"aws_secret_access_key = {broken}\nregion = eu") == [broken]


@pytest.mark.parametrize(
    "name", ["RSA PRIVATE KEY", "PRIVATE KEY", "EC PRIVATE KEY", "OPENSSH PRIVATE KEY", "PGP PRIVATE KEY BLOCK"]
)
def test_a_private_key_goes_from_its_first_line_to_its_last(name: str) -> None:
    key = pem(3, name=name)
    assert secrets_in(f"Key:\n{key}\nThe end.") == [key]
    in_json = key.replace("\n", "\\n")
    assert secrets_in(f'{{"key": "{in_json}"}}', Setting.CONFIG) == [in_json]


def test_a_private_key_without_its_last_line_goes_too() -> None:
    key = pem(4).rpartition("\n")[0]
    assert secrets_in(f"{key}\n\nNew text of people.") == [key]


def test_the_private_part_of_a_putty_key_goes() -> None:
    private = f"Private-Lines: 2\n{drawn(1, 64)}\n{drawn(2, 40)}\nPrivate-MAC: {'0a1b2c3d' * 5}"
    text = f"PuTTY-User-Key-File-2: ssh-rsa\nComment: laptop\n{private}\n"
    assert secrets_in(text) == [private]


def test_an_aws_secret_without_a_name_is_found_beside_its_id() -> None:
    made = planted(9)
    text = f"{made['aws_key']},{made['aws_secret']},eu-west-1"
    assert secrets_in(text) == [made["aws_key"], made["aws_secret"]]
    assert secrets_in(made["aws_secret"]) == []


@pytest.mark.parametrize(
    "text",
    [
        "ｐａｓｓｗｏｒｄ： hunter2!x9",
        "pass\u200bword: hunter2!x9",
        "pass\u00adword: hunter2!x9",
        "𝐩𝐚𝐬𝐬𝐰𝐨𝐫𝐝: hunter2!x9",
        unicodedata.normalize("NFD", "비밀번호: hunter2!x9"),
        "İ password: hunter2!x9",
    ],
)
def test_a_name_that_only_looks_different_hides_nothing(text: str) -> None:
    assert secrets_in(text) == ["hunter2!x9"]


def test_a_value_with_unseen_characters_goes_with_them() -> None:
    wide = "ｈｕｎｔｅｒ２！ｘ９"
    assert secrets_in(f"password: {wide}") == [wide]
    assert secrets_in("password: hun\u200bter2!x9 it is") == ["hun\u200bter2!x9"]


def test_a_key_whose_beginning_was_misread_on_a_picture_is_found() -> None:
    google, aws = planted(4)["google_key"], planted(4)["aws_key"]
    for key in (google.replace("AIza", "Alza"), google.replace("AIza", "A1za"), aws.replace("AKIA", "AKlA")):
        assert secrets_in(f"It is {key} on the board.") == [key]


def test_equal_secrets_have_one_value_however_they_are_broken() -> None:
    token = f"ghp_{TOKEN}"
    found = find_secrets(f"{token} and\n{token[:20]}\n{token[20:]}")
    assert len(found) == 2
    assert len({one.value for one in found}) == 1


_ODD_PIECES = ("\u0301", "\u200b", "Ａ", "İ", "pin: ", "password: ", "비밀번호: ", "token=", "\n", "x9#K", " ")


@given(st.lists(st.sampled_from(_ODD_PIECES), max_size=12))
def test_a_name_at_the_very_end_of_a_text_of_odd_letters_is_no_fault(pieces: list[str]) -> None:
    text = "".join(pieces)
    for found in find_secrets(text):
        assert 0 <= found.start < found.end <= len(text)
