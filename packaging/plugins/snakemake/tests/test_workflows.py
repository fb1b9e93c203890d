"""Snakemake's own test base, run with the executor and a real broker."""

from __future__ import annotations

import pytest
from snakemake.common.tests import TestWorkflowsLocalStorageBase
from snakemake_executor_plugin_crossdesk import ExecutorSettings
from snakemake_interface_executor_plugins.registry import ExecutorPluginRegistry
from snakemake_interface_executor_plugins.settings import ExecutorSettingsBase

from broker_core.client.blocking import BlockingClient

pytestmark = pytest.mark.usefixtures("broker")


def test_snakemake_finds_it_by_the_name_of_its_module() -> None:
    registry = ExecutorPluginRegistry()
    registry.collect_plugins()
    assert "crossdesk" in registry.get_registered_plugins()


class TestWorkflows(TestWorkflowsLocalStorageBase):
    """All workflows of the base: single rules, and groups of them."""

    __test__ = True

    def get_executor(self) -> str:
        return "crossdesk"

    def get_executor_settings(self) -> ExecutorSettingsBase:
        return ExecutorSettings(site="local")

    def cleanup_test(self) -> None:
        with BlockingClient() as client:
            assert client.active() == []
