"""What must not reach a published page or trace: this machine's host, user and folders, wherever they stand."""

from __future__ import annotations

import getpass
import json
import re
import socket
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foretrace.privacy import publishable, publishable_name, replacements, scrub, told

PRIVATE = {
    "torchinductor_alice": "torchinductor_<user>",
    "/home/alice/secret": "<workspace>",
    r"\/home\/alice": "~",
    "gpu-box-7.corp.example": "<host>",
    "/home/alice": "~",
    "gpu-box-7": "<host>",
    "alice": "<user>",
}


@pytest.mark.parametrize(
    ("text", "scrubbed"),
    [
        ("/home/alice/secret/scenarios/x.py(12): build", "<workspace>/scenarios/x.py(12): build"),
        ("/home/alice/.cache", "~/.cache"),
        ("/home/alice", "~"),
        ("cd '/home/alice'", "cd '~'"),
        ("PYTHONPATH=/home/alice/lib:/home/alice", "PYTHONPATH=~/lib:~"),
        ("file:///home/alice/x.html", "file://~/x.html"),
        ("gcc -I/home/alice/include -L/home/alice/lib", "gcc -I~/include -L~/lib"),
        (r'"\/home\/alice\/x.py"', r'"~\/x.py"'),
        (r'{"e": "first\n/home/alice/x.py\talice"}', r'{"e": "first\n~/x.py\t<user>"}'),
        ("line\n/home/alice\nalice\r\n", "line\n~\n<user>\r\n"),
        ("http://gpu-box-7.corp.example:8080/", "http://<host>:8080/"),
        ("alice@gpu-box-7: ready", "<user>@<host>: ready"),
        ("\x1b[31malice\x1b[0m", "\x1b[31m<user>\x1b[0m"),
        (r"\u001b[31malice\u001b[0m", r"\u001b[31m<user>\u001b[0m"),
        (json.dumps("in “/home/alice” or •alice"), json.dumps("in “~” or •<user>")),
        ("/tmp/torchinductor_alice/ab/cab.py", "/tmp/torchinductor_<user>/ab/cab.py"),  # noqa: S108 - a text
        ("/data/alice/runs", "/data/<user>/runs"),
        ("alice, alice; (alice) <alice> «alice» alice.", "<user>, <user>; (<user>) <<user>> «<user>» <user>."),
        ("alice alice alice", "<user> <user> <user>"),
    ],
)
def test_a_private_word_is_replaced_wherever_it_stands(text: str, scrubbed: str) -> None:
    assert scrub(text, PRIVATE) == scrubbed


@pytest.mark.parametrize(
    "text",
    [
        "malice",
        "alices",
        "alice_kernel",
        "triton_poi_fused_alice_0",
        "alice2",
        "alice-in-chains",
        "chalice",
        "module.alice",
        "aten::alice",
        "at::native::alice<float>",
        "/mnt/home/alicette",
        "/home/alicette/x",
        "gpu-box-70",
        "my-gpu-box-7",
        "",
        "nothing private",
    ],
)
def test_a_word_that_only_contains_a_private_one_stays(text: str) -> None:
    assert scrub(text, PRIVATE) == text


def test_the_longest_word_wins_in_whatever_order_they_are_given() -> None:
    text = "/home/alice/secret/x"
    assert scrub(text, dict(reversed(PRIVATE.items()))) == scrub(text, PRIVATE) == "<workspace>/x"


def test_what_replaces_a_word_is_not_searched_again() -> None:
    assert scrub("host user", {"host": "<user>", "user": "<host>"}) == "<user> <host>"


@pytest.mark.parametrize("word", ["a+b(c)[d]", "box.7", "c:\\users\\al", "x|y", "^start$", "{2}", "über"])
def test_a_word_is_taken_as_it_is_and_not_as_a_pattern(word: str) -> None:
    assert scrub(f"at {word}, twice {word}!", {word: r"\1\g<0>"}) == r"at \1\g<0>, twice \1\g<0>!"
    assert scrub("at boxy7, aab(c)d, x, start, 22", {word: "?"}) == "at boxy7, aab(c)d, x, start, 22"


@given(st.text(alphabet='alice/home-. \n\\"', max_size=60))
def test_json_stays_json_and_no_home_is_left_in_it(text: str) -> None:
    again = json.loads(scrub(json.dumps({"name": text}), PRIVATE))["name"]
    assert re.search(r"(?<![\w.-])/home/alice(?![\w-])", again) is None


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine of a known name, with a user and a home."""
    monkeypatch.setattr(socket, "gethostname", lambda: "gpu-box-7.corp.example")
    monkeypatch.setattr(socket, "getfqdn", lambda: "gpu-box-7.corp.example")
    monkeypatch.setattr(getpass, "getuser", lambda: "alice")
    monkeypatch.setenv("HOME", "/home/alice")
    return tmp_path


def test_this_machine_is_known_by_its_host_user_home_and_folders(machine: Path) -> None:
    found = replacements(machine)
    assert list(found) == sorted(found, key=lambda word: -len(word))
    assert {
        "gpu-box-7.corp.example": "<host>",
        "gpu-box-7": "<host>",
        "alice": "<user>",
        "torchinductor_alice": "torchinductor_<user>",
        "/home/alice": "~",
        str(machine): "<workspace>",
    }.items() <= found.items()


def test_a_folder_is_known_by_its_link_and_by_its_target(machine: Path) -> None:
    (machine / "link").symlink_to(machine, target_is_directory=True)
    text = f"{machine / 'link'}/x {machine}/y"
    assert scrub(text, replacements(machine / "link")) == "<workspace>/x <workspace>/y"


def test_a_folder_is_known_as_json_spells_it(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/jürgen")
    text = json.dumps({"a": "/home/jürgen/x"}) + r' "\/home\/jürgen\/y"'
    assert scrub(text, replacements()) == r'{"a": "~/x"} "~\/y"'


@pytest.mark.parametrize(
    ("user", "host", "home"), [("root", "localhost", "/root"), ("me", "vm", "/"), ("ubuntu", "ubuntu", "/")]
)
def test_names_that_tell_nothing_are_not_torn_out_of_a_text(
    monkeypatch: pytest.MonkeyPatch, user: str, host: str, home: str
) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: host)
    monkeypatch.setattr(socket, "getfqdn", lambda: host)
    monkeypatch.setattr(getpass, "getuser", lambda: user)
    monkeypatch.setenv("HOME", home)
    text = "the root of me on localhost, ubuntu and a vm at / or /usr/lib"
    assert scrub(text, replacements()) == text


def test_a_process_without_an_account_or_a_home_has_less_to_hide(monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody() -> str:
        raise KeyError("getpwuid(): uid not found: 4242")

    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(getpass, "getuser", nobody)
    monkeypatch.setattr(Path, "home", homeless)
    assert "<user>" not in replacements().values()
    assert "~" not in replacements().values()


def test_a_trace_tells_the_hosts_and_users_of_its_machine() -> None:
    text = json.dumps(
        {"host_name": "node-3.lab", "a": "/home/bobsmith/x", "b": "/Users/carol b/y", "c": "C:\\Users\\dave\\z"}
    )

    assert told(text) == {
        "node-3.lab": "<host>",
        "node-3": "<host>",
        **dict.fromkeys(("bobsmith", "carol b", "dave"), "<user>"),
        **{f"torchinductor_{name}": "torchinductor_<user>" for name in ("bobsmith", "carol b", "dave")},
    }


@pytest.mark.parametrize("user", ["kernel", "trace", "root", "al", "torch", "cuda"])
def test_a_user_of_a_traces_own_words_does_not_tear_it(user: str) -> None:
    assert told(f'{{"cat": "{user}", "name": "/home/{user}/x.py"}}') == {}


@pytest.mark.parametrize(
    ("text", "published"),
    [
        ('"host_name": "node-3.lab.example"', '"host_name": "<host>"'),
        ("/home/bobsmith/deep/down/x.py(3): f", "~/x.py(3): f"),
        (r"\/home\/bobsmith\/x.py", "~/x.py"),
        ("/mnt/team/model/x.py(3): f", "<workspace>/x.py(3): f"),
        ("-I/mnt/team/include/", "-I<workspace>/"),
        ("LIB=/mnt/team/lib:/mnt/other/lib", "LIB=<workspace>:<workspace>"),
        ("file:///mnt/team/x.html", "file://<workspace>/x.html"),
        ("a /mnt/team/x.py, b /mnt/team/y.py", "a <workspace>/x.py, b <workspace>/y.py"),
        ("/mnt/env/lib/python3.11/site-packages/torch/x.py", "<workspace>/lib/python3.11/site-packages/torch/x.py"),
        ("/usr/lib/python3.11/threading.py(4): run", "/usr/lib/python3.11/threading.py(4): run"),
        ("/opt/conda/bin/python", "/opt/conda/bin/python"),
        ("/usr/local/cuda-12.4/include/cuda.h", "/usr/local/cuda-12.4/include/cuda.h"),
        ("/dev/nvidia0", "/dev/nvidia0"),
        ("PATH=/app/alice/bin:/usr/local/bin:/usr/bin", "PATH=<workspace>:/usr/local/bin:/usr/bin"),
        ("/opt/rocm/lib:/usr/alice", "/opt/rocm/lib:<workspace>"),
        ('"cwd": "/data/alice"', '"cwd": "<workspace>"'),
        ('"cwd": "/data/alice.smith"', '"cwd": "<workspace>"'),
        ("/data/alice/libx.so.1.2", "<workspace>/libx.so.1.2"),
        ("/tmp/torchinductor_alice/ab/cabc.py", "<workspace>/cabc.py"),  # noqa: S108 - a text
        ("torchinductor_alice; alice", "torchinductor_<user>; <user>"),
        ("test_torchinductor_opinfo", "test_torchinductor_opinfo"),
        ("/tmp/alice/x.py", "<workspace>/x.py"),  # noqa: S108 - a text
        ("/dev/shm/alice_tmp", "<workspace>"),  # noqa: S108 - a text
        ("/opt/conda/envs/alice-secret/bin/python", "<workspace>"),
        ("/opt/conda/envs/alice-secret/lib/python3.11/x.py", "<workspace>/lib/python3.11/x.py"),
        ("/etc/alice/x", "<workspace>"),
        ("/usr/local/alice/x.py", "<workspace>/x.py"),
        ("/usr/src/alice/x.py", "<workspace>/x.py"),
        ("/usr/lib/../../data/alice/x.py", "<workspace>/x.py"),
        ('"HOSTNAME": "node17.corp", "a": "on node17"', '"HOSTNAME": "<host>", "a": "on <host>"'),
        ('"host": "node17"', '"host": "<host>"'),
        (r'"env": "{\"HOSTNAME\": \"node17\"}"', r'"env": "{\"HOSTNAME\": \"<host>\"}"'),
        (r'"env": "{\\\"USER\\\": \\\"alice\\\"}"', r'"env": "{\\\"USER\\\": \\\"<user>\\\"}"'),
        ("HOSTNAME=node17.corp hostname=node18", "HOSTNAME=<host> hostname=<host>"),
        ("USER=alice alice", "USER=<user> <user>"),
        ('"user": "alice", "a": "alice"', '"user": "<user>", "a": "<user>"'),
        ("scp alice@node17:/data/x", "scp <user>@<host>:<workspace>"),
        ("alice@node17.corp:~$ ls; node17", "<user>@<host>:~$ ls; <host>"),
        ("gradient@layer3: sum, a@b", "gradient@layer3: sum, a@b"),
        ("~alice/deep/x.py, alice", "~/x.py, <user>"),
        ("~/deep/down/x.py", "~/x.py"),
        (r'"\\\\server\\share\\alice\\x.py"', '"<workspace>/x.py"'),
        (r'"\\d+\\w+"', r'"\\d+\\w+"'),
        (r'"/home/jos\u00e9/x/y.py: jos\u00e9, josé"', '"~/y.py: <user>, <user>"'),
        ('"/home/josé/x/y.py: josé"', '"~/y.py: <user>"'),
        (r"C:\\work\\team\\x.py", "C:<workspace>/x.py"),
        ("http://example.org/a/b/c", "http://example.org/a/b/c"),
        ("void f<a/b>(x/y/z)", "void f<a/b>(x/y/z)"),
        ("1/2/3, a/b/c", "1/2/3, a/b/c"),
        ("/single", "/single"),
        ("aten::mm", "aten::mm"),
        ('{"ph": "X"}', '{"ph": "X"}'),
    ],
)
def test_folders_are_left_out_wherever_a_trace_was_recorded(text: str, published: str) -> None:
    assert publishable(text, told(text)) == published


PIECES = [*'abc/ .:"\\~@=é\n', "home/", "Users", "\\\\", "host", "USER", "torchinductor_", ".py", "../", "usr/lib/"]


@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
def test_a_published_text_stays_json_and_is_left_alone_the_second_time(text: str) -> None:
    for document in (json.dumps({"name": text}), json.dumps({"name": json.dumps({"HOSTNAME": text})})):
        once = publishable(document, told(document))

        assert isinstance(json.loads(once)["name"], str)
        assert publishable(once, {}) == once


@pytest.mark.parametrize(
    ("name", "published"),
    [
        ("gpu-box-7_1234.1699.pt.trace.json.gz", "<host>_1234.1699.pt.trace.json.gz"),
        ("unknown-host_77.1.pt.trace.json", "<host>_77.1.pt.trace.json"),
        ("alice_run_2.json", "<user>_run_2.json"),
        ("/data/x/alice_run.json", "<workspace>/<user>_run.json"),
        ("../alice/run.json", "../<user>/run.json"),
        ("rank0.json", "rank0.json"),
        ("--title", "--title"),
    ],
)
def test_a_files_name_is_published_without_private_words(name: str, published: str) -> None:
    assert publishable_name(name, PRIVATE) == published
