"""All commands, noun and verb, and where they are; light, since the start of the desktop asks too."""

from __future__ import annotations

from typing import Any, NamedTuple

_AS_GIVEN = {"allow_interspersed_args": False}
"""What stands behind the first word that is no option belongs to another program."""


class Command(NamedTuple):
    """A command, which is loaded where it is wanted: to load them all takes longer than most of them."""

    module: str
    """Below this package."""
    function: str
    hidden: bool = False
    settings: dict[str, Any] = {}
    """Of its parser."""


class Noun(NamedTuple):
    """A first word with verbs."""

    about: str
    verbs: dict[str, Command]


NOUNS: dict[str, Noun | Command] = {
    "job": Noun(
        "Submit jobs and look after them.",
        {
            "submit": Command("job.submit", "submit"),
            "list": Command("job.list", "list_jobs"),
            "status": Command("job.status", "status"),
            "top": Command("job.top", "top"),
            "wait": Command("job.wait", "wait"),
            "cancel": Command("job.change", "cancel"),
            "get-output": Command("job.output", "get_output"),
            "stayed": Command("job.stayed", "stayed"),
            "logging-info": Command("job.status", "logging_info"),
            "log": Command("job.output", "log"),
            "list-match": Command("match.list_match", "list_match"),
            "purge": Command("job.change", "purge"),
            "hold": Command("job.change", "hold"),
            "release": Command("job.change", "release"),
            "tag": Command("job.tag", "tag"),
            "resubmit": Command("job.resubmit", "resubmit"),
            "attach": Command("job.attach", "attach"),
            "forward": Command("job.forward", "forward"),
            "sftp": Command("job.sftp", "sftp", settings={"ignore_unknown_options": True}),
            "exec": Command("job.forward", "execute", settings=_AS_GIVEN),
            "ssh": Command("job.ssh", "ssh", settings=_AS_GIVEN),
            "ssh-config": Command("job.ssh", "ssh_config"),
            "ssh-proxy": Command("job.ssh", "ssh_proxy", hidden=True),
            "services": Command("job.beside.services", "services"),
            "parameters": Command("job.beside.parameters", "parameters"),
            "set": Command("job.beside.parameters", "set_parameters"),
            "network": Command("job.network", "network"),
            "rematch": Command("job.change", "rematch"),
            "elsewhere": Command("job.change", "rematch", hidden=True),
        },
    ),
    "site": Noun(
        "The places where jobs run.",
        {
            "list": Command("sites.list", "list_sites"),
            "show": Command("sites.show", "show"),
            "refresh": Command("sites.list", "refresh"),
            "add": Command("sites.add", "add"),
            "change": Command("sites.change", "change"),
            "remove": Command("sites.change", "remove"),
            "drain": Command("sites.change", "drain"),
            "resume": Command("sites.change", "resume"),
            "connect": Command("sites.change", "connect"),
            "test": Command("sites.test", "try_site"),
            "log": Command("sites.change", "log"),
        },
    ),
    "policy": Noun(
        "Who decides: the policies of the scheduler.",
        {
            "list": Command("policy", "list_policies"),
            "choose": Command("policy", "choose"),
        },
    ),
    "replica": Noun(
        "Where files in grid storage are.",
        {
            "list": Command("replica", "list_replicas"),
            "add": Command("replica", "add"),
            "remove": Command("replica", "remove"),
        },
    ),
    "jdl": Noun(
        "Job descriptions.",
        {
            "check": Command("jdl", "check"),
            "from": Command("jdl", "from_script"),
            "eval": Command("jdl_eval", "evaluate"),
        },
    ),
    "broker": Noun(
        "The broker, which runs in the background.",
        {
            "start": Command("broker.control", "start"),
            "stop": Command("broker.control", "stop"),
            "status": Command("broker.control", "status"),
            "serve": Command("broker.control", "serve"),
            "logs": Command("broker.control", "logs"),
            "desks": Command("desks", "list_desks", hidden=True),
            "add-desk": Command("desks", "add", hidden=True),
            "forget-desk": Command("desks", "remove", hidden=True),
            "repair": Command("broker.repair", "repair"),
        },
    ),
    "desk": Noun(
        "Your desks: whose keys the agents of interactive jobs accept.",
        {
            "list": Command("desks", "list_desks"),
            "add": Command("desks", "add"),
            "remove": Command("desks", "remove"),
        },
    ),
    "sample": Noun(
        "Sample jobs that come with the program.",
        {
            "list": Command("sample", "list_samples"),
            "run": Command("sample", "run"),
        },
    ),
    "sim": Noun(
        "The scheduler in virtual time.",
        {
            "replay": Command("simulation.replay", "replay"),
            "policies": Command("simulation.replay", "policies"),
        },
    ),
    "queue": Command("queue", "queue"),
    "slots": Command("sites.slots", "slots"),
    "config": Command("config", "config"),
}
"""First words that belong to the command line; `packaging/run.sh` has the same."""
